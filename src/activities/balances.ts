import type { BalanceDrain, BalanceSyncInput, BalanceTurn } from '../contracts/balance-messages.js';
import { holdBalanceChecks, lockBalanceSource, readBalanceSource } from '../db/balance-mirror.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import { ProviderError } from '../providers/errors.js';
import { failBalanceCheck, takeBalanceStep } from './balance-checks.js';
import { drainTold } from './balance-drain.js';
import type { PageTurn } from './balance-pages.js';
import type { ActivityDeps } from './deps.js';

export type BalanceActivities = ReturnType<typeof createBalanceActivities>;

/** The mirror of the balances that a provider keeps. */
export function createBalanceActivities(deps: ActivityDeps) {
  return {
    /** Goes on with a check, or begins one that is due or asked for, for some seconds; pages towards its snapshot. */
    async pageBalances(input: BalanceSyncInput): Promise<BalanceTurn> {
      const turn = { pages: 0, items: 0, moved: 0, bad: 0, result: null as BalanceTurn['result'] };
      const pages: PageTurn = {};
      for (const until = Date.now() + deps.config.SVERKA_PAGE_TURN; Date.now() < until; ) {
        const step = await takeBalanceStep(deps, input, pages).catch((error: unknown) =>
          waitAsTold(deps, input, error),
        );
        if (step === null) return { ...turn, waitMs: await untilNextCheck(deps, input) };
        if (step.kind === 'ended') return { ...turn, result: step.result, waitMs: await untilNextCheck(deps, input) };
        if (step.kind !== 'page') continue;
        turn.pages += 1;
        turn.items += step.page.items;
        turn.moved += step.page.moved;
        turn.bad += step.page.bad;
      }
      return { ...turn, waitMs: 0 };
    },

    /** Applies what webhooks have told, until nothing waits or some seconds are over. */
    async databaseDrainBalances(input: BalanceSyncInput): Promise<BalanceDrain> {
      const drained = { items: 0, moved: 0, stale: 0, more: true };
      for (const until = Date.now() + deps.config.SVERKA_PAGE_TURN; drained.more && Date.now() < until; ) {
        const told = await drainTold(deps, input);
        drained.items += told.items;
        drained.moved += told.moved;
        drained.stale += told.stale;
        drained.more = told.isFull;
      }
      return { ...drained, checkMs: await untilNextCheck(deps, input) };
    },

    /** The check could not be ended: its provider is away or misconfigured. Answers when the next one is. */
    async databaseFailBalanceCheck(input: BalanceSyncInput): Promise<{ waitMs: number }> {
      await failBalanceCheck(deps, input);
      return { waitMs: await untilNextCheck(deps, input) };
    },
  };
}

/** A provider who says when to ask again (429) is not asked before; the check stays open. Null: nothing to do now. */
async function waitAsTold(deps: ActivityDeps, input: BalanceSyncInput, error: unknown): Promise<null> {
  if (!(error instanceof ProviderError) || error.kind !== 'rate_limited' || error.retryAfterMs === null) throw error;
  const waitMs = error.retryAfterMs;
  await inTransaction(deps.pool, async (tx) => {
    const { id: sourceId } = await lockBalanceSource(tx, input);
    await holdBalanceChecks(tx, { sourceId, waitMs });
  });
  return null;
}

async function untilNextCheck({ pool }: ActivityDeps, input: BalanceSyncInput): Promise<number> {
  const source = await readBalanceSource(queriesOf(pool), input);
  // What a person has decided is due at once, and after a failure with the next check.
  const due = source.isDecided && source.lastAction !== 'failed' ? 0 : source.nextCheckAt.getTime();
  return Math.max(due - Date.now(), (source.notBefore?.getTime() ?? 0) - Date.now(), 1);
}
