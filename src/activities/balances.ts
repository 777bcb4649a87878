import type { BalanceDrain, BalanceSyncInput, BalanceTurn } from '../contracts/messages.js';
import { askBalanceCheck, lockBalanceSource, mirrorTransactions } from '../db/balance-mirror.js';
import { selectTold } from '../db/balance-told.js';
import { lockWaiting, markDone, type WaitingRow } from '../db/inbox.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import { ProviderError } from '../providers/errors.js';
import { readPertNotification } from '../providers/pert/webhook.js';
import { newTraceId } from '../telemetry/trace.js';
import { failBalanceCheck, takeBalanceStep } from './balance-checks.js';
import type { ActivityDeps } from './deps.js';
import { countRowFault } from './row-faults.js';

export type BalanceActivities = ReturnType<typeof createBalanceActivities>;

/** Notifications applied in one transaction. */
const TOLD_AT_ONCE = 500;

/** The mirror of the balances that a provider keeps. */
export function createBalanceActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Goes on with a check, or begins one that is due or asked for, for some seconds; pages towards its snapshot. */
    async pageBalances(input: BalanceSyncInput): Promise<BalanceTurn> {
      const turn = { pages: 0, items: 0, moved: 0, bad: 0, result: null as BalanceTurn['result'] };
      for (const until = Date.now() + deps.config.SVERKA_PAGE_TURN; Date.now() < until; ) {
        const step = await takeBalanceStep(deps, input);
        if (step === null) return { ...turn, waitMs: await untilNext(input) };
        if (step.kind === 'ended') return { ...turn, result: step.result, waitMs: await untilNext(input) };
        if (step.kind !== 'page') continue;
        turn.pages += 1;
        turn.items += step.page.items;
        turn.moved += step.page.moved;
        turn.bad += step.page.bad;
      }
      return { ...turn, waitMs: 0 };
    },

    /** Applies what webhooks have told, many to one transaction, until nothing waits or some seconds are over. */
    async databaseDrainBalances(input: BalanceSyncInput): Promise<BalanceDrain> {
      const drained = { items: 0, moved: 0, stale: 0 };
      for (const until = Date.now() + deps.config.SVERKA_PAGE_TURN; Date.now() < until; ) {
        const rows = await selectTold(db, input, TOLD_AT_ONCE);
        if (rows.length === 0) return { ...drained, more: false, checkMs: await untilNext(input) };
        const read = rows.map((row) => ({ row, notification: readPertNotification(row.body) }));
        const good = read.flatMap(({ row, notification }) => (notification.ok ? [{ row, ...notification }] : []));
        const bad = read.flatMap(({ row, notification }) => (notification.ok ? [] : [row]));
        if (good.length > 0) {
          const mirrored = await apply(
            input,
            good.map(({ row }) => row),
            good.map(({ transaction }) => transaction),
          );
          drained.moved += mirrored.moved;
          drained.stale += mirrored.stale;
        }
        await bury(bad);
        drained.items += rows.length;
        if (rows.length < TOLD_AT_ONCE) return { ...drained, more: false, checkMs: await untilNext(input) };
      }
      return { ...drained, more: true, checkMs: await untilNext(input) };
    },

    /** The check could not be ended: its provider is away or misconfigured. Answers when the next one is. */
    async databaseFailBalanceCheck(input: BalanceSyncInput): Promise<{ waitMs: number }> {
      await failBalanceCheck(deps, input);
      return { waitMs: await untilNext(input) };
    },
  };

  async function untilNext(input: BalanceSyncInput): Promise<number> {
    const source = await inTransaction(deps.pool, (tx) => lockBalanceSource(tx, input));
    return Math.max(source.nextCheckAt.getTime() - Date.now(), 1);
  }

  function apply(input: BalanceSyncInput, rows: readonly WaitingRow[], told: Parameters<typeof mirrorTransactions>[2]) {
    return retrying(() =>
      inTransaction(deps.pool, async (tx) => {
        await lockWaiting(tx, rows);
        const source = await lockBalanceSource(tx, input);
        const mirrored = await mirrorTransactions(tx, { sourceId: source.id, fromJournal: false }, told);
        // Another webhook is late or lost: the next check, which the sums need anyway, comes sooner.
        const withinMs = deps.config.SVERKA_BALANCE_RECHECK_INTERVAL;
        if (mirrored.gaps > 0) await askBalanceCheck(tx, { sourceId: source.id, why: 'webhook_gap', withinMs });
        await markDone(tx, rows);
        return mirrored;
      }),
    );
  }

  /** Signed, and outside the contract: counted against itself until it is a dead letter. */
  async function bury(rows: readonly WaitingRow[]): Promise<void> {
    const error = new ProviderError({
      ...{ kind: 'garbage', provider: 'pert', operation: 'readNotification', reason: 'transaction' },
      countsForBreaker: false,
    });
    await countRowFault(deps, rows, { error, traceId: newTraceId() });
  }
}
