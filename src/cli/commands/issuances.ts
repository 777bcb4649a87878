import type { IssuanceRecord } from '../../contracts/card.js';
import { isId } from '../../contracts/ids.js';
import { findOpenAlert } from '../../db/alerts-listing.js';
import { issuanceAlertKey } from '../../db/issuance-alert.js';
import { findIssuance, latestIssuance } from '../../db/issuances.js';
import { listAllIssuances } from '../../db/issuances-listing.js';
import { CARD_PRODUCTS } from '../../domain/card.js';
import { ISSUANCE_STATES } from '../../domain/issuance.js';
import { decidableIssuance } from '../../domain/issuance-decision.js';
import { answerList } from '../answer-list.js';
import { argument, type Command, type CommandInput, type Context, textsOption } from '../command.js';
import { flagOf } from '../decide.js';
import { CliFailure, EXIT } from '../failure.js';
import { issuanceFacts, type Pressing, spanOf, toIssuanceResource } from '../issuance-resource.js';
import { type Cell, utc } from '../output.js';

const OF_MERCHANT = {
  name: 'merchant',
  column: 'i.merchant_id',
  flags: '--merchant <id>',
  description: 'of this merchant',
};
const FILTERS = [
  OF_MERCHANT,
  {
    name: 'state',
    column: 'i.state',
    flags: '--state <state>',
    description: 'in this state',
    choices: ISSUANCE_STATES,
  },
  {
    name: 'product',
    column: 'i.product',
    flags: '--product <name>',
    description: 'of this product',
    choices: CARD_PRODUCTS,
  },
  { name: 'asset', column: 'i.asset', flags: '--asset <code>', description: 'in this asset' },
  {
    name: 'cardholder',
    column: 'i.cardholder_id',
    flags: '--cardholder <id>',
    description: 'of this cardholder (chd_…)',
  },
  {
    name: 'card',
    column: 'i.card_id',
    flags: '--card <id>',
    description: 'of this card (card_…): all its generations',
  },
] as const;

export const listIssuancesCommand: Command = {
  path: ['issuances', 'list'],
  summary: 'issuances of all merchants, newest first',
  options: optionsOf(FILTERS),
  examples: ['issuances list --book live --state pending', 'issuances list --card card_01kb… --json'],
  run: (context, input) =>
    answerList(context, {
      scope: ['issuances', 'list', ...scopeOf(input, FILTERS)],
      find: (page) =>
        listAllIssuances(context.db(), { filters: filtersOf(context, input, FILTERS), waiting: false }, page),
      show: (record) => toIssuanceResource(record),
      position: (record) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'STATE' },
        { title: 'LOAD', align: 'right' },
        { title: 'FEE', align: 'right' },
        { title: 'ASSET' },
        { title: 'PRODUCT' },
        { title: 'CARD' },
        { title: 'CREATED (UTC)' },
      ],
      cells: (issuance) => [
        issuance.id,
        stateCell(context, issuance),
        issuance.load.amount,
        issuance.fee.amount,
        issuance.load.asset,
        issuance.product,
        issuance.card_id,
        utc(issuance.created_at),
      ],
    }),
};

export const unknownIssuancesCommand: Command = {
  path: ['issuances', 'unknown'],
  summary: 'what waits for a person: perhaps made, or contradicted by the issuer; the longest wait first',
  options: optionsOf([OF_MERCHANT]),
  examples: ['issuances unknown', 'issuances unknown --book live --json'],
  run: (context, input) =>
    answerList(context, {
      scope: ['issuances', 'unknown', ...scopeOf(input, [OF_MERCHANT])],
      find: async (page) => {
        const of = { filters: filtersOf(context, input, [OF_MERCHANT]), waiting: true };
        const records = await listAllIssuances(context.db(), of, page);
        return Promise.all(records.map(async (record) => ({ record, pressing: await pressingOf(context, record) })));
      },
      show: ({ record, pressing }) => ({ ...toIssuanceResource(record), ...pressing }),
      position: ({ record }) => record.id,
      columns: [
        { title: 'ID' },
        { title: 'STATE' },
        { title: 'WHY' },
        { title: 'AGE', align: 'right' },
        { title: 'LOOKS', align: 'right' },
        { title: 'LOAD', align: 'right' },
        { title: 'ASSET' },
        { title: 'AT THE ISSUER' },
        { title: 'DECIDE' },
      ],
      cells: (issuance) => [
        issuance.id,
        stateCell(context, issuance),
        issuance.contradiction ?? issuance.reason ?? '–',
        spanOf(issuance.age_ms),
        String(issuance.looks),
        issuance.load.amount,
        issuance.load.asset,
        issuance.provider_ref === null ? 'no card' : `${issuance.provider_ref}: ${issuance.provider_status ?? '–'}`,
        issuance.choices.map(flagOf).join(' '),
      ],
    }),
};

export const showIssuanceCommand: Command = {
  path: ['issuances', 'show'],
  summary: 'one issuance; `trace` shows how it came to this',
  args: [{ name: '<id>', description: 'iss_…, or card_… for the newest of that card' }],
  examples: ['issuances show iss_01kb…', 'issuances show card_01kb… --json'],
  async run(context, input) {
    const { out } = context;
    const record = await requireIssuance(context, argument(input, 0));
    const pressing = await pressingOf(context, record);
    out.result({ ...toIssuanceResource(record), ...pressing }, () => {
      out.facts([...issuanceFacts(record), ['alert', pressing.alert]]);
      out.line(`\nEverything about it: sverka trace ${record.id}`);
    });
    return EXIT.done;
  },
};

/** The issuance of that id, or the newest of that card, in the book asked for; throws `not_found`. */
export async function requireIssuance({ db, flags }: Context, id: string): Promise<IssuanceRecord> {
  const record = isId('card', id) ? await latestIssuance(db(), id) : await findIssuance(db(), id);
  if (record === null || (flags.book !== null && record.book !== flags.book)) {
    const message = 'There is no such issuance. `sverka trace <id>` also takes the issuer’s id of the card.';
    throw new CliFailure('notFound', message);
  }
  return record;
}

/** What stands beside the issuance for whoever decides. */
export async function pressingOf(context: Context, record: IssuanceRecord): Promise<Pressing> {
  const alert = await findOpenAlert(context.db(), issuanceAlertKey(record));
  return { alert: alert?.detail ?? null, choices: decidableIssuance(record) };
}

interface Filter {
  readonly name: string;
  readonly column: string;
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
}

function optionsOf(filters: readonly Filter[]) {
  return filters.map(({ name: _, column: __, ...option }) => ({ ...option, repeatable: true }));
}

/** What a cursor is bound to. */
function scopeOf(input: CommandInput, filters: readonly Filter[]): string[] {
  return filters.map(({ name }) => `${name}=${JSON.stringify([...new Set(textsOption(input, name))].sort())}`);
}

function filtersOf(context: Context, input: CommandInput, filters: readonly Filter[]) {
  const { book } = context.flags;
  const named = filters.map(({ name, column }) => [column, textsOption(input, name)] as const);
  return { ...Object.fromEntries(named), 'i.book': book === null ? undefined : [book] };
}

function stateCell({ out }: Context, { state, flag }: { state: string; flag: string | null }): Cell {
  const bad = flag !== null || state === 'unknown' || state === 'found_late';
  if (bad) return { text: state, mark: out.mark.bad };
  return state === 'active' ? { text: state, mark: out.mark.good } : state;
}
