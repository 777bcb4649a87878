import { toBalance } from '../../contracts/balance.js';
import { toTime } from '../../contracts/values.js';
import { listBalances } from '../../db/balance-listing.js';
import type { BalanceSourceKey } from '../../db/balance-mirror.js';
import type { BalanceSourceRecord } from '../../db/balance-sources.js';
import { pendingBalances } from '../../db/pending-decisions.js';
import { argument, type Command, type Context } from '../command.js';
import { DECISION_OPTIONS, decide, type Pending, stillThere } from '../decide.js';
import { utc } from '../output.js';
import { requireSource } from './balances.js';

const CURRENCIES_MAX = 500;

export const rebaseBalancesCommand: Command = {
  path: ['balances', 'rebase'],
  summary: 'a person’s decision: a fresh snapshot of the provider is the truth of this source',
  args: [{ name: '<source>', description: 'as `balances list` shows it' }],
  options: DECISION_OPTIONS,
  examples: [
    'balances rebase pert-main --reason "why" --as operator --dry-run',
    'balances rebase pert-main --reason "the provider has corrected a booking of 12 May" --as operator --yes',
  ],
  async run(context, input) {
    const source = await requireSource(context, argument(input, 0));
    return decide(context, input, {
      choice: 'rebase',
      pending: await pendingOf(context, source.key),
      nudge: () => nudge(context, source),
      async after() {
        const { record } = stillThere(await pendingBalances(context.db(), source.key));
        const text = `Our sums rest on the snapshot at ${record.baseCursor}; reset ${record.resets}.`;
        return { document: await documentOf(context, record), text };
      },
    });
  },
};

async function pendingOf(context: Context, key: string): Promise<Pending> {
  const { record, alert, ...found } = stillThere(await pendingBalances(context.db(), key));
  return {
    ...found,
    title: `source ${record.account}`,
    document: { ...(await documentOf(context, record)), alert },
    facts: [
      ['source', key],
      ['merchant', record.merchantId],
      ['differs', record.differing.map(([currency]) => currency).join(', ') || 'nothing'],
      ['checks in a row', String(record.differences)],
      ['resets', String(record.resets)],
      ['base', record.baseCursor === null ? null : `${record.baseCursor} (${utc(record.baseAt)})`],
      ['position', record.position],
      ['last action', record.lastAction],
      ['checked', utc(record.checkedAt)],
      ['alert', alert],
    ],
  };
}

/** The source with its balances by currency. */
async function documentOf(context: Context, record: BalanceSourceRecord) {
  const balances = await listBalances(context.db(), {
    ...{ book: record.book, merchantId: null, by: 'currency', filters: { 's.account': [record.account] } },
    ...{ stale: undefined, after: null, limit: CURRENCIES_MAX },
  });
  return {
    ...{ object: 'balance_source', source: record.account, book: record.book, merchant_id: record.merchantId },
    ...{ base_cursor: record.baseCursor, base_at: record.baseAt && toTime(record.baseAt), position: record.position },
    ...{ resets: record.resets, consecutive_differences: record.differences, last_action: record.lastAction },
    checked_at: record.checkedAt && toTime(record.checkedAt),
    next_check_at: toTime(record.nextCheckAt),
    balances: balances.slice(0, CURRENCIES_MAX).map(toBalance),
  };
}

/** Whoever mirrors the source looks; when Temporal is away, the sweep says so when it is back. */
async function nudge(context: Context, { book, provider, account }: BalanceSourceKey): Promise<void> {
  try {
    const [temporal, { nudgeBalances }] = await Promise.all([context.temporal(), import('../../client/balances.js')]);
    await nudgeBalances({ ...temporal, taskQueue: context.profile().taskQueue }, { book, provider, account });
  } catch {
    context.note('Temporal could not be asked to look at once; the sweep applies the decision when it is back.');
  }
}
