import {
  ActivityFailure,
  ApplicationFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  defineUpdate,
  setHandler,
  sleep,
  Trigger,
  workflowInfo,
} from '@temporalio/workflow';
import type { IssuanceReadActivities } from '../activities/issuance-reads.js';
import type { IssuanceActivities } from '../activities/issuances.js';
import {
  ACCEPTED_UPDATE,
  type Accepted,
  type IssuanceInput,
  type IssuanceSeen,
  NOTHING_SENT,
  NUDGE_SIGNAL,
  type Nudge,
} from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { createShow } from './show.js';

/** Tries and looks of one run; an issuance that waits for days goes on in a fresh one. */
const STEPS_PER_RUN = 100;

const acceptedUpdate = defineUpdate<Accepted, []>(ACCEPTED_UPDATE);
const nudge = defineSignal<[Nudge]>(NUDGE_SIGNAL);

/**
 * Makes one card: reserve, one create at the issuer, settle. The whole request is the argument, so the run finishes
 * although its caller is gone; `accepted` answers as soon as the money is reserved, or the request refused.
 */
export async function issuance(input: IssuanceInput): Promise<Accepted> {
  const { databaseReserveIssuance } = activitiesOf<IssuanceActivities>(input.provider);
  const reserved = new Trigger<Accepted>();
  setHandler(acceptedUpdate, async () => reserved, {
    description: 'What the request led to: a card, or a refusal.',
  });
  const nudged = createNudged(input.traceId);

  const { accepted: led, issuanceId } = await databaseReserveIssuance(input);
  const accepted: Accepted = { ...led, callId: input.request.callId };
  reserved.resolve(accepted);
  const id = input.issuanceId ?? issuanceId;
  if (id !== null) await follow({ ...input, issuanceId: id }, nudged);
  await condition(allHandlersFinished);
  return accepted;
}

interface Nudged {
  traceId: string;
  since: boolean;
}

/** Set by each nudge; cleared before a read, so that one that arrives during it asks for another. */
function createNudged(traceId: string): Nudged {
  const nudged: Nudged = { traceId, since: false };
  setHandler(
    nudge,
    (by) => {
      nudged.traceId = by.traceId;
      nudged.since = true;
    },
    { description: 'Look again: the issuer notified, or a person decided.' },
  );
  return nudged;
}

/** Create once, then ask until it is certain (DESIGN 6): by the answer, a nudge, or the time. */
async function follow(input: IssuanceInput & { issuanceId: string }, nudged: Nudged): Promise<void> {
  const { issuanceId: id, provider } = input;
  const { databaseSubmitIssuance } = activitiesOf<IssuanceActivities>(provider);
  const { providerReadIssuance } = activitiesOf<IssuanceReadActivities>(provider);
  const show = createShow();
  const { runId } = workflowInfo();
  const { resumed } = input;
  let { tries, looks } = resumed ?? { tries: 0, looks: 0 };
  let seen = resumed?.seen;
  // A run that goes on from another takes its right to send the create over; a reset one has none.
  if (seen === undefined || seen.next === 'create') {
    const after = resumed === undefined ? {} : { after: resumed.runId };
    seen = await databaseSubmitIssuance({ id, runId, traceId: nudged.traceId, ...after });
  }
  for (let steps = 0; ; steps += 1) {
    if (seen.next === 'create' && seen.waitMs === null) {
      seen = await create(seen, { id, runId, tries, nudged, provider });
      tries += 1;
      continue;
    }
    const facts = [
      ['issuance', id],
      ['card', seen.cardId],
      ['reason', seen.reason ?? 'none'],
    ] as const;
    show({ ...seen, facts });
    // What notified meanwhile is read for, though it ends: else it waits for the sweep.
    if (seen.next === 'end' && !nudged.since) return;
    if (steps >= STEPS_PER_RUN) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof issuance>({
        ...input,
        traceId: nudged.traceId,
        resumed: { seen, tries, looks, runId },
      });
    }
    if (seen.next === 'create') {
      await sleep(seen.waitMs ?? 0, { summary: 'until the next try' });
      seen = { ...seen, waitMs: null };
      continue;
    }
    if (seen.waitMs !== null) await condition(() => nudged.since, seen.waitMs);
    nudged.since = false;
    seen = await providerReadIssuance({ id, traceId: nudged.traceId, looks });
    looks += 1;
  }
}

/** One attempt. A worker that dies in it leaves an outcome that nobody knows; what sent nothing is tried later. */
async function create(
  before: IssuanceSeen,
  of: { id: string; runId: string; tries: number; nudged: Nudged; provider: string },
): Promise<IssuanceSeen> {
  const { id, runId, tries, nudged, provider } = of;
  const { providerCreateIssuance, databaseSuspectIssuance } = activitiesOf<IssuanceActivities>(provider);
  const { traceId } = nudged;
  nudged.since = false;
  try {
    return await providerCreateIssuance({ id, runId, tries, traceId });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure && cause.type === NOTHING_SENT) {
      return { ...before, waitMs: Number(cause.details?.[0]) };
    }
    return databaseSuspectIssuance({ id, traceId });
  }
}
