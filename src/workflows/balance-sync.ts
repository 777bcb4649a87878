import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  isCancellation,
  log,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { BalanceActivities } from '../activities/balances.js';
import type { BalanceSyncInput } from '../contracts/balance-messages.js';
import { NUDGE_SIGNAL } from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { isRunLong } from './run-length.js';
import { createShow } from './show.js';

/** Looks in one run: a run younger than a second would make the next one wait for the rest of it. */
const TURNS_PER_RUN = 100;
/** Tries of a part of a check before it is over as failed; the next one begins anew. */
const TRIES = 3;

/**
 * For ever: mirrors the balances of one account. Webhooks nudge it and are drained in pages; checks come by the clock,
 * beside the drain, so that a provider who hangs never keeps back what he has told, and steady webhooks never a check.
 */
export async function balanceSync(input: BalanceSyncInput): Promise<never> {
  const { databaseDrainBalances } = activitiesOf<BalanceActivities>(null);
  const show = createShow();
  // Cleared before the look, never after it: a nudge that comes meanwhile asks for another one.
  let nudged = input.nudged ?? true;
  let checking = false;
  let checkAt = 0;
  setHandler(defineSignal(NUDGE_SIGNAL), () => void (nudged = true));

  const check = async () => {
    checking = true;
    const { result, waitMs } = await checkBalances(input);
    checkAt = Date.now() + waitMs;
    checking = false;
    const facts = [['account', input.account] as const];
    show({ state: result, merchantId: null, needsOperator: false, facts });
  };
  for (let turns = 0; turns < TURNS_PER_RUN && !workflowInfo().continueAsNewSuggested && !isRunLong(); turns += 1) {
    if (!checking && Date.now() >= checkAt) void check();
    if (nudged) {
      nudged = false;
      const { more, checkMs } = await databaseDrainBalances(input);
      if (more) nudged = true;
      if (!checking) checkAt = Math.min(checkAt, Date.now() + checkMs);
      continue;
    }
    if (checking) await condition(() => nudged || !checking);
    else await condition(() => nudged, Math.max(checkAt - Date.now(), 1));
  }
  await condition(() => !checking && allHandlersFinished());
  return continueAsNew<typeof balanceSync>({ ...input, nudged });
}

/** One check from its snapshot to its end; what fails so often is over, and told by its own row. */
async function checkBalances(input: BalanceSyncInput): Promise<{ result: string; waitMs: number }> {
  const { pageBalances } = activitiesOf<BalanceActivities>(input.provider, {
    tries: TRIES,
    summary: `check the balances of ${input.account}`,
  });
  try {
    for (;;) {
      const { result, waitMs } = await pageBalances(input);
      if (waitMs > 0) return { result: result ?? 'waits', waitMs };
    }
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    log.warn('a check of balances failed', { code: 'balance_check_failed', account: input.account });
    const { databaseFailBalanceCheck } = activitiesOf<BalanceActivities>(null);
    return { result: 'failed', waitMs: (await databaseFailBalanceCheck(input)).waitMs };
  }
}
