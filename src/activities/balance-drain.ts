import {
  askBalanceCheck,
  type BalanceSourceKey,
  countStaleTold,
  lockBalanceSource,
  type Mirrored,
  mirrorTransactions,
} from '../db/balance-mirror.js';
import { selectTold } from '../db/balance-told.js';
import { lockWaiting, markDone, type WaitingRow } from '../db/inbox.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import type { BalanceTransaction } from '../domain/balance.js';
import { ProviderError } from '../providers/errors.js';
import { readPertNotification } from '../providers/pert/webhook.js';
import { newTraceId } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';
import { countRowFault } from './row-faults.js';

/** Notifications applied in one transaction. */
const TOLD_AT_ONCE = 500;

interface Told {
  readonly row: WaitingRow;
  readonly transaction: BalanceTransaction;
}

/** Applies the oldest of what webhooks have told, many to one transaction. `isFull`: there may be more. */
export async function drainTold(
  deps: ActivityDeps,
  key: BalanceSourceKey,
): Promise<{ items: number; moved: number; stale: number; isFull: boolean }> {
  const rows = await selectTold(queriesOf(deps.pool), key, TOLD_AT_ONCE);
  const read = rows.map((row) => ({ row, notification: readPertNotification(row.body) }));
  const good = read.flatMap(({ row, notification }) =>
    notification.ok ? [{ row, transaction: notification.transaction }] : [],
  );
  const { moved, stale } = good.length === 0 ? { moved: 0, stale: 0 } : await apply(deps, key, good);
  await countUnreadable(
    deps,
    read.flatMap(({ row, notification }) => (notification.ok ? [] : [row])),
  );
  return { items: rows.length, moved, stale, isFull: rows.length === TOLD_AT_ONCE };
}

function apply(deps: ActivityDeps, key: BalanceSourceKey, told: readonly Told[]): Promise<Mirrored> {
  const rows = told.map(({ row }) => row);
  return retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      await lockWaiting(tx, rows);
      const { id: sourceId } = await lockBalanceSource(tx, key);
      const transactions = told.map(({ transaction }) => transaction);
      const mirrored = await mirrorTransactions(tx, { sourceId, fromJournal: false }, transactions);
      // Another webhook is late or lost: the next check, which the sums need anyway, comes sooner.
      const withinMs = deps.config.SVERKA_BALANCE_RECHECK_INTERVAL;
      if (mirrored.stale > 0) await countStaleTold(tx, { sourceId, addresses: mirrored.stale });
      if (mirrored.gaps > 0) await askBalanceCheck(tx, { sourceId, why: 'webhook_gap', withinMs });
      await markDone(tx, rows);
      return mirrored;
    }),
  );
}

/** Signed, and outside the contract: counted against itself until it is a dead letter. */
async function countUnreadable(deps: ActivityDeps, rows: readonly WaitingRow[]): Promise<void> {
  const error = new ProviderError({
    ...{ kind: 'garbage', provider: 'pert', operation: 'readNotification', reason: 'transaction' },
    countsForBreaker: false,
  });
  await countRowFault(deps, rows, { error, traceId: newTraceId() });
}
