import type { WithdrawalRecord } from '../../contracts/withdrawal.js';
import { findOpenAlert } from '../../db/alerts-listing.js';
import { findWithdrawal } from '../../db/withdrawals.js';
import { listAllWithdrawals } from '../../db/withdrawals-listing.js';
import { NETWORKS } from '../../domain/assets.js';
import { WITHDRAWAL_ROUTES, WITHDRAWAL_STATES } from '../../domain/withdrawal.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type CommandInput, type Context, textsOption } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { type Cell, utc } from '../output.js';
import { toWithdrawalListing, type WithdrawalListing, withdrawalFacts } from '../withdrawal-resource.js';

const FILTERS = [
  { name: 'merchant', column: 'w.merchant_id', flags: '--merchant <id>', description: 'of this merchant' },
  {
    name: 'state',
    column: 'w.state',
    flags: '--state <state>',
    description: 'in this state',
    choices: WITHDRAWAL_STATES,
  },
  {
    name: 'network',
    column: 'w.network',
    flags: '--network <name>',
    description: 'over this network',
    choices: NETWORKS,
  },
  { name: 'asset', column: 'w.asset', flags: '--asset <code>', description: 'of this asset' },
  {
    name: 'route',
    column: 'w.route',
    flags: '--route <route>',
    description: 'approved to be paid so',
    choices: WITHDRAWAL_ROUTES,
  },
  { name: 'destination', column: 'w.address', flags: '--destination <address>', description: 'to this address' },
  { name: 'hash', column: 'w.transaction_hash', flags: '--hash <hash>', description: 'paid by this transaction' },
] as const;

export const listWithdrawalsCommand: Command = {
  path: ['withdrawals', 'list'],
  summary: 'withdrawals of all merchants, newest first',
  options: FILTERS.map(({ name: _, column: __, ...option }) => ({ ...option, repeatable: true })),
  examples: ['withdrawals list --book live --state requested', 'withdrawals list --merchant mer_01kb… --json'],
  run: (context, input) =>
    answerList(context, {
      scope: ['withdrawals', 'list', ...FILTERS.map(({ name }) => `${name}=${sorted(input, name)}`)],
      find: (page) => listAllWithdrawals(context.db(), filtersOf(context, input), page),
      show: toWithdrawalListing,
      position: (record) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'STATE' },
        { title: 'AMOUNT', align: 'right' },
        { title: 'FEE', align: 'right' },
        { title: 'ASSET' },
        { title: 'ROUTE' },
        { title: 'DESTINATION' },
        { title: 'CREATED (UTC)' },
      ],
      cells: (withdrawal) => [
        withdrawal.id,
        stateCell(context, withdrawal),
        withdrawal.amount.amount,
        withdrawal.fee.amount,
        withdrawal.amount.asset,
        withdrawal.route ?? '–',
        withdrawal.destination,
        utc(withdrawal.created_at),
      ],
    }),
};

export const showWithdrawalCommand: Command = {
  path: ['withdrawals', 'show'],
  summary: 'one withdrawal; `trace` shows how it came to this',
  args: [{ name: '<id>', description: 'wd_…' }],
  examples: ['withdrawals show wd_01kb…', 'withdrawals show wd_01kb… --json'],
  async run(context, input) {
    const { out } = context;
    const record = await requireWithdrawal(context, argument(input, 0));
    const alert = (await findOpenAlert(context.db(), `withdrawal:${record.id}`))?.detail ?? null;
    const withdrawal = toWithdrawalListing(record);
    out.result({ ...withdrawal, alert }, () => {
      out.facts([...withdrawalFacts(withdrawal), ['alert', alert]]);
      out.line(`\nEverything about it: sverka trace ${record.id}`);
    });
    return EXIT.done;
  },
};

async function requireWithdrawal({ db, flags }: Context, id: string): Promise<WithdrawalRecord> {
  const record = await findWithdrawal(db(), id);
  if (record === null || (flags.book !== null && record.book !== flags.book)) {
    const message = 'There is no such withdrawal. `sverka trace <id>` also takes a hash, a payout’s id or an address.';
    throw new CliFailure('notFound', message);
  }
  return record;
}

function filtersOf(context: Context, input: CommandInput): Record<string, readonly string[] | undefined> {
  const { book } = context.flags;
  const filters = FILTERS.map(({ name, column }) => [column, textsOption(input, name)] as const);
  return { ...Object.fromEntries(filters), 'w.book': book === null ? undefined : [book] };
}

function sorted(input: CommandInput, name: string): string {
  return JSON.stringify([...new Set(textsOption(input, name))].sort());
}

function stateCell({ out }: Context, { state, flag, needs_operator }: WithdrawalListing): Cell {
  const bad = flag !== null || needs_operator || state === 'unknown' || state === 'found_late';
  if (bad) return { text: state, mark: out.mark.bad };
  return state === 'completed' ? { text: state, mark: out.mark.good } : state;
}
