import { type DepositRecord, type DepositResource, toDeposit } from '../../contracts/deposit.js';
import { readDeposit } from '../../db/deposits.js';
import { listAllDeposits } from '../../db/deposits-listing.js';
import { NETWORKS } from '../../domain/assets.js';
import { DEPOSIT_STATES } from '../../domain/deposit.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type CommandInput, type Context, textsOption } from '../command.js';
import { CliFailure, EXIT } from '../failure.js';
import { type Cell, utc } from '../output.js';

const FILTERS = [
  { name: 'merchant', column: 'd.merchant_id', flags: '--merchant <id>', description: 'of this merchant' },
  {
    name: 'customer',
    column: 'c.ref',
    flags: '--customer <ref>',
    description: "of the merchant's customer of this ref",
  },
  { name: 'state', column: 'd.state', flags: '--state <state>', description: 'in this state', choices: DEPOSIT_STATES },
  {
    name: 'network',
    column: 'd.network',
    flags: '--network <name>',
    description: 'over this network',
    choices: NETWORKS,
  },
  { name: 'asset', column: 'd.reported_asset', flags: '--asset <code>', description: 'of this asset' },
  { name: 'address', column: 'd.deposit_address_id', flags: '--address <id>', description: 'at this address (addr_…)' },
  { name: 'hash', column: 'd.tx_hash', flags: '--hash <hash>', description: 'of this transaction' },
] as const;

export const listDepositsCommand: Command = {
  path: ['deposits', 'list'],
  summary: 'deposits of all merchants, newest first',
  options: FILTERS.map(({ name: _, column: __, ...option }) => ({ ...option, repeatable: true })),
  examples: ['deposits list --book live --state parked', 'deposits list --merchant mer_01kb… --limit 100 --json'],
  run: (context, input) =>
    answerList(context, {
      scope: ['deposits', 'list', ...FILTERS.map(({ name }) => `${name}=${sorted(input, name)}`)],
      find: (page) => listAllDeposits(context.db(), filtersOf(context, input), page),
      show: toDeposit,
      position: (record) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'STATE' },
        { title: 'REPORTED', align: 'right' },
        { title: 'CREDITED', align: 'right' },
        { title: 'ASSET' },
        { title: 'OWNER' },
        { title: 'PROVIDER REF' },
        { title: 'CREATED (UTC)' },
      ],
      cells: (deposit) => cellsOf(context, deposit),
    }),
};

export const showDepositCommand: Command = {
  path: ['deposits', 'show'],
  summary: 'one deposit; `trace` shows how it came to this',
  args: [{ name: '<id>', description: 'dep_…' }],
  examples: ['deposits show dep_01kb…', 'deposits show dep_01kb… --json'],
  async run(context, input) {
    const { out } = context;
    const record = await requireDeposit(context, argument(input, 0));
    const deposit = toDeposit(record);
    out.result(deposit, () => {
      out.facts(depositFacts(deposit, record.book));
      out.line(`\nEverything about it: sverka trace ${deposit.id}`);
    });
    return EXIT.done;
  },
};

/** The deposit of that id, in the book asked for; throws `not_found`. */
export async function requireDeposit({ db, flags }: Context, id: string): Promise<DepositRecord> {
  const record = await readDeposit(db(), id);
  if (record === null || (flags.book !== null && record.book !== flags.book)) {
    const message = 'There is no such deposit. `sverka trace <id>` also takes a hash or the provider’s id.';
    throw new CliFailure('notFound', message);
  }
  return record;
}

function filtersOf(context: Context, input: CommandInput): Record<string, readonly string[] | undefined> {
  const { book } = context.flags;
  const filters = FILTERS.map(({ name, column }) => [column, textsOption(input, name)] as const);
  return { ...Object.fromEntries(filters), 'd.book': book === null ? undefined : [book] };
}

function sorted(input: CommandInput, name: string): string {
  return JSON.stringify([...new Set(textsOption(input, name))].sort());
}

function cellsOf({ out }: Context, deposit: DepositResource): readonly Cell[] {
  const marks = {
    parked: out.mark.bad,
    orphaned: out.mark.bad,
    final: out.mark.good,
    credited: out.mark.good,
  } as const;
  const mark = Object.hasOwn(marks, deposit.state)
    ? marks[deposit.state as keyof typeof marks]
    : (text: string) => text;
  return [
    deposit.id,
    { text: deposit.state, mark },
    deposit.reported.amount,
    deposit.credited?.amount ?? '–',
    deposit.credited?.asset ?? deposit.reported.asset,
    deposit.owner.ref ?? deposit.owner.id,
    deposit.provider_ref,
    utc(deposit.created_at),
  ];
}

export function depositFacts(deposit: DepositResource, book: string): (readonly [string, string | null])[] {
  const { owner, transaction, reported, credited } = deposit;
  return [
    ['id', deposit.id],
    ['book', book],
    ['state', deposit.state],
    ['reason', deposit.reason],
    ['owner', owner.ref === null ? owner.id : `${owner.id} (${owner.ref})`],
    ['address', deposit.deposit_address_id],
    ['network', deposit.network],
    ['transaction', transaction.hash === null ? null : `${transaction.hash} #${transaction.position ?? '?'}`],
    ['reported', `${reported.amount} ${reported.asset}`],
    ['credited', credited === null ? null : `${credited.amount} ${credited.asset}`],
    ['spendable', deposit.spendable ? 'yes' : 'no'],
    ['provider', `${deposit.provider} ${deposit.provider_ref}: ${deposit.provider_status}`],
    ['movements', deposit.movement_ids.join(', ') || null],
    ['generation', String(deposit.generation)],
    ['version', String(deposit.version)],
    ['created', utc(deposit.created_at)],
    ['last read', utc(deposit.last_read_at)],
    ['credited at', utc(deposit.credited_at)],
    ['final at', utc(deposit.final_at)],
  ];
}
