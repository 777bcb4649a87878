import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { PayoutActivities } from '../activities/payouts.js';
import type { WithdrawalActivities } from '../activities/withdrawals.js';
import {
  NOTHING_SENT,
  NUDGE_SIGNAL,
  type Nudge,
  type WithdrawalInput,
  type WithdrawalSeen,
} from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { isRunLong } from './run-length.js';
import { createShow } from './show.js';

/** Steps, or tries to pay, of one run; a withdrawal that waits for long goes on in a fresh one. */
const STEPS_PER_RUN = 100;

const nudge = defineSignal<[Nudge]>(NUDGE_SIGNAL);

/** What a run knows beside the row. */
interface Following {
  readonly id: string;
  readonly runId: string;
  traceId: string;
  /** Looks at the custodian, and times that people were told, so far. */
  looks: number;
  told: number;
}

/**
 * Follows one withdrawal from its request to its end. Nothing that reaches it decides anything: a nudge says "look",
 * a decision is a row of a person, and the database checks it again before money leaves (DESIGN 4).
 */
export async function withdrawal(input: WithdrawalInput): Promise<{ state: string }> {
  const { id, traceId, resumed } = input;
  const { looks = 0, told = 0, unsentOf = null } = resumed ?? {};
  const of: Following = { id, runId: workflowInfo().runId, traceId, looks, told };
  let nudged = false;
  setHandler(
    nudge,
    (by) => {
      of.traceId = by.traceId;
      nudged = true;
    },
    { description: 'Look again: a person decided or edited, or the custodian notified.' },
  );
  const goOn = async (unsent: string | null) => {
    await condition(allHandlersFinished);
    const { looks: looked, told: tells } = of;
    return continueAsNew<typeof withdrawal>({
      ...input,
      traceId: of.traceId,
      resumed: { looks: looked, told: tells, unsentOf: unsent },
    });
  };
  const { databaseDecideWithdrawal } = activitiesOf<WithdrawalActivities>('custody');
  const show = createShow();
  let seen = unsentOf === null ? await databaseDecideWithdrawal(of) : await pay(of, unsentOf);
  for (let steps = 0; ; steps += 1) {
    const facts = [
      ['withdrawal', id],
      ['route', seen.route ?? 'not chosen yet'],
      ['reason', seen.reason ?? 'none'],
    ] as const;
    show({ ...seen, facts });
    if (seen.next === 'end' && !nudged) break;
    // Still not sent after so many tries.
    if (seen.next === 'create') return goOn(of.runId);
    if (steps >= STEPS_PER_RUN || (steps > 0 && isRunLong())) return goOn(null);
    await untilDue(seen, () => nudged);
    if (nudged) {
      // Cleared before the rows are read: a nudge that comes meanwhile asks for another look.
      nudged = false;
      seen = await databaseDecideWithdrawal(of);
      if (seen.next === 'look') seen = await look(of);
    } else {
      seen = await step(seen, of);
    }
  }
  await condition(allHandlersFinished);
  return { state: seen.state };
}

/** Until its time has come, or somebody says "look". */
async function untilDue({ next, waitMs }: WithdrawalSeen, nudged: () => boolean): Promise<void> {
  if (next === 'wait' || next === 'end') await condition(nudged);
  else if (waitMs !== null) await condition(nudged, waitMs);
}

async function step(seen: WithdrawalSeen, of: Following): Promise<WithdrawalSeen> {
  const { databaseDecideWithdrawal, databaseTellWithdrawal, providerReadProof } =
    activitiesOf<WithdrawalActivities>('custody');
  switch (seen.next) {
    case 'tell': {
      const told = await databaseTellWithdrawal(of);
      of.told += 1;
      return told;
    }
    case 'prove':
      return providerReadProof(of);
    case 'submit':
      return pay(of, null);
    case 'look':
      return look(of);
    default:
      return databaseDecideWithdrawal(of);
  }
}

function look(of: Following): Promise<WithdrawalSeen> {
  const { providerReadPayout } = activitiesOf<PayoutActivities>('custody');
  of.looks += 1;
  return providerReadPayout(of);
}

/** Commits the intent, then one create at the custodian; what certainly sent nothing is tried again. */
async function pay(of: Following, after: string | null): Promise<WithdrawalSeen> {
  const { databaseSubmitWithdrawal, databaseSuspectWithdrawal, providerCreatePayout } =
    activitiesOf<PayoutActivities>('custody');
  let seen = await databaseSubmitWithdrawal({ ...of, after });
  for (let tries = 0; seen.next === 'create' && tries < STEPS_PER_RUN; tries += 1) {
    if (seen.waitMs !== null) await sleep(seen.waitMs, { summary: 'until the next try' });
    try {
      seen = await providerCreatePayout({ ...of, tries });
    } catch (error) {
      if (!(error instanceof ActivityFailure)) throw error;
      const { cause } = error;
      if (!(cause instanceof ApplicationFailure) || cause.type !== NOTHING_SENT) return databaseSuspectWithdrawal(of);
      seen = { ...seen, waitMs: Number(cause.details?.[0]) };
    }
  }
  return seen;
}
