import { resolveAlert } from '../db/alerts.js';
import {
  type BalanceSourceKey,
  type KeptBadItem,
  lockBalanceSource,
  mirrorTransactions,
  noteBadItemApplied,
  selectBadItems,
} from '../db/balance-mirror.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import type { BalanceTransaction } from '../domain/balance.js';
import { parsePertTransaction } from '../providers/pert/schema.js';
import { readStrictJson } from '../providers/strict-json.js';
import { makeTraceparent, newTraceId } from '../telemetry/trace.js';
import { badItemsKey } from './balance-pages.js';
import type { ActivityDeps } from './deps.js';

/** Tried at the beginning of a check. */
const ITEMS_PER_CHECK = 10;

/** Tries again what could not be read: after a fix of ours from what was kept, after one of theirs from its page. */
export async function retryBadItems(deps: ActivityDeps, key: BalanceSourceKey, sourceId: number): Promise<void> {
  const items = await selectBadItems(queriesOf(deps.pool), sourceId, ITEMS_PER_CHECK);
  for (const item of items) {
    const transaction = readKept(item.raw) ?? (await readFromPage(deps, key, item));
    if (transaction !== null) await applyLate(deps, key, { item, transaction });
  }
}

function readKept(raw: string): BalanceTransaction | null {
  const read = readStrictJson(Buffer.from(raw));
  if (!read.ok) return null;
  const parsed = parsePertTransaction(read.value);
  return parsed.ok ? parsed.record : null;
}

/** The same page once more; null where it does not reach back so far, or the item is as it was. */
async function readFromPage(
  deps: ActivityDeps,
  key: BalanceSourceKey,
  { sinceCursor, limit, itemId }: KeptBadItem,
): Promise<BalanceTransaction | null> {
  if (itemId === null) return null;
  const by = { traceparent: makeTraceparent(newTraceId()) };
  const page = await deps.pert(key).readChanges({ sinceCursor, limit }, by);
  if (page.tooOld) return null;
  const found = page.items.find((each) => each.ok && each.transaction.id === itemId);
  return found?.ok ? found.transaction : null;
}

async function applyLate(
  deps: ActivityDeps,
  key: BalanceSourceKey,
  { item, transaction }: { item: KeptBadItem; transaction: BalanceTransaction },
): Promise<void> {
  await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      const source = await lockBalanceSource(tx, key);
      // Behind a newer base it is in that base already.
      const fromJournal = item.baseNumber === source.baseNumber;
      await mirrorTransactions(tx, { sourceId: source.id, fromJournal }, [transaction]);
      const left = await noteBadItemApplied(tx, { sourceId: source.id, id: item.id });
      if (left === 0) await resolveAlert(tx, badItemsKey(key));
    }),
  );
}
