import { setTimeout as pause } from 'node:timers/promises';
import { type BalanceCheckResource, balanceCheckResult, toBalance, toBalanceCheck } from '../../contracts/balance.js';
import { balanceSyncWorkflowId } from '../../contracts/ids.js';
import { NUDGE_SIGNAL } from '../../contracts/messages.js';
import { findBalanceSources, listBalanceChecks, listBalances } from '../../db/balance-listing.js';
import { askBalanceCheck } from '../../db/balance-mirror.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type CommandInput, type Context, textOption } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { type Cell, utc } from '../output.js';
import { answerDryRun } from '../resources.js';

const WAIT_SECONDS_DEFAULT = 120;
const LOOK_MS = 200;

export const listBalancesCommand: Command = {
  path: ['balances', 'list'],
  summary: 'what providers hold, by currency or by address, beside what they state',
  options: [
    { flags: '--by <what>', description: 'currency (default) or address', choices: ['currency', 'address'] },
    { flags: '--source <name>', description: 'of this account' },
    { flags: '--currency <code>', description: 'in this currency' },
    { flags: '--address <address>', description: 'of this address, with --by address' },
  ],
  examples: ['balances list', 'balances list --by address --source pert-main --json'],
  run: (context, input) => {
    const by = textOption(input, 'by') === 'address' ? 'address' : 'currency';
    const filters = filtersOf(input, { source: 's.account', currency: 'b.currency', address: 'b.address' });
    return answerList(context, {
      scope: ['balances', 'list', by, JSON.stringify(filters)],
      find: (page) =>
        listBalances(context.db(), {
          ...page,
          book: context.flags.book,
          merchantId: null,
          by,
          filters,
          stale: undefined,
        }),
      show: toBalance,
      position: (record) => record.position,
      columns: [
        { title: 'SOURCE' },
        { title: by === 'address' ? 'ADDRESS' : 'CURRENCY' },
        { title: 'BALANCE', align: 'right' },
        { title: 'CONFIRMED', align: 'right' },
        { title: 'AVAILABLE', align: 'right' },
        { title: 'DIFFERENCE', align: 'right' },
        { title: 'READ (UTC)' },
      ],
      cells: (row) => [
        row.source,
        row.address === null ? row.currency : `${row.address} ${row.currency}${row.stale ? ' (stale)' : ''}`,
        row.balance,
        row.confirmed ?? '–',
        row.available ?? '–',
        differenceCell(context, row.difference),
        utc(row.last_read_at),
      ],
    });
  },
};

export const checkBalancesCommand: Command = {
  path: ['balances', 'check'],
  summary: 'compare with the provider now; exit 1 on a difference that stayed',
  args: [{ name: '<source>', description: 'as `balances list` shows it' }],
  options: [
    { flags: '--wait <seconds>', description: `how long to wait for its end, default ${WAIT_SECONDS_DEFAULT}` },
  ],
  examples: ['balances check pert-main', 'balances check pert-main --json'],
  async run(context, input) {
    const source = await requireSource(context, argument(input, 0));
    if (context.flags.dryRun) return answerDryRun(context, `compare the balances of ${source.account} now`, null);
    const db = context.db();
    const { client } = await context.temporal();
    const began = new Date();
    await askBalanceCheck(db, { sourceId: source.id, why: 'operator', withinMs: 0 });
    await client.workflow.getHandle(balanceSyncWorkflowId(source)).signal(NUDGE_SIGNAL);
    const check = await untilEnded(context, source, { began, waitMs: waitOf(input) * 1_000 });
    context.out.result(check, () => {
      const { out } = context;
      out.line(
        `${check.result === 'differs' ? out.mark.bad('Differs') : out.mark.good(check.result ?? '')}: ${check.id}`,
      );
      for (const { currency, ours, theirs, difference } of check.currencies) {
        out.line(`  ${currency}: ours ${ours}, theirs ${theirs}, difference ${difference}`);
      }
    });
    return check.result === 'differs' || check.result === 'failed' ? EXIT.found : EXIT.done;
  },
};

export const showBalanceHistoryCommand: Command = {
  path: ['balances', 'history'],
  summary: 'comparisons with providers, newest first',
  options: [
    { flags: '--source <name>', description: 'of this account' },
    { flags: '--result <result>', description: 'that ended so', choices: balanceCheckResult.options },
  ],
  examples: ['balances history', 'balances history --source pert-main --result differs'],
  run: (context, input) => {
    const filters = filtersOf(input, { source: 's.account', result: 'c.result' });
    return answerList(context, {
      scope: ['balances', 'history', JSON.stringify(filters)],
      find: (page) =>
        listBalanceChecks(context.db(), {
          ...{ ...page, book: context.flags.book, merchantId: null, filters },
          ...{ createdFrom: undefined, createdTo: undefined },
        }),
      show: toBalanceCheck,
      position: (record) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'SOURCE' },
        { title: 'TRIGGER' },
        { title: 'RESULT' },
        { title: 'DONE' },
        { title: 'CHANGES', align: 'right' },
        { title: 'STARTED (UTC)' },
      ],
      cells: (check) => [
        check.id,
        check.source,
        check.trigger,
        resultCell(context, check),
        check.actions.join(', '),
        String(check.changes_read),
        utc(check.started_at),
      ],
    });
  },
};

/** The source of that name; `notFound` without one, `usage` where both books have one and none was named. */
export async function requireSource(context: Context, account: string) {
  const { book } = context.flags;
  const found = (await findBalanceSources(context.db(), account)).filter((each) => book === null || each.book === book);
  const [source, other] = found;
  if (source === undefined)
    throw new CliFailure('notFound', 'There is no such source. `sverka balances list` shows all.');
  if (other !== undefined) throw new CliFailure('usage', 'Both books have a source of this name: say which, --book.');
  return source;
}

async function untilEnded(
  context: Context,
  source: Awaited<ReturnType<typeof requireSource>>,
  { began, waitMs }: { began: Date; waitMs: number },
): Promise<BalanceCheckResource> {
  for (const end = Date.now() + waitMs; Date.now() < end; await pause(LOOK_MS)) {
    const [last] = await listBalanceChecks(context.db(), {
      ...{ book: source.book, merchantId: null, filters: { 's.account': [source.account] }, after: null, limit: 1 },
      ...{ createdFrom: began.toISOString(), createdTo: undefined },
    });
    if (last?.result != null) return toBalanceCheck(last);
  }
  throw new CliFailure('unavailable', 'The check has not ended in time; it goes on. `sverka balances history` has it.');
}

function waitOf(input: CommandInput): number {
  const text = textOption(input, 'wait');
  if (text === null) return WAIT_SECONDS_DEFAULT;
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new CliFailure('usage', '--wait is a whole number of seconds, 1 or more.');
  return Number(text);
}

function filtersOf(input: CommandInput, columns: Readonly<Record<string, string>>): Record<string, readonly string[]> {
  return Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) => {
      const value = textOption(input, name);
      return value === null ? [] : [[column, [value]]];
    }),
  );
}

function differenceCell({ out }: Context, difference: string | null): Cell {
  if (difference === null) return '–';
  return difference === '0' ? difference : { text: difference, mark: out.mark.bad };
}

function resultCell({ out }: Context, { result }: BalanceCheckResource): Cell {
  if (result === null) return 'running';
  return result === 'differs' || result === 'failed' ? { text: result, mark: out.mark.bad } : result;
}
