import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineUpdate,
  setHandler,
  sleep,
  Trigger,
  workflowInfo,
} from '@temporalio/workflow';
import type { LoadActivities } from '../activities/loads.js';
import { ACCEPTED_UPDATE, type Accepted, type CardLoadInput, type CardLoadSeen } from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { createShow } from './show.js';

/** Tries of one run; a load that waits for days goes on in a fresh one. */
const TRIES_PER_RUN = 100;

const acceptedUpdate = defineUpdate<Accepted, []>(ACCEPTED_UPDATE);

/**
 * Loads one card: reserve, create at the issuer under our reference, settle. The whole request is the argument, so the
 * run finishes although its caller is gone; `accepted` answers once the money is reserved, or the request refused.
 */
export async function cardLoad(input: CardLoadInput): Promise<Accepted> {
  const { databaseReserveCardLoad, databaseSubmitCardLoad } = activitiesOf<LoadActivities>(input.provider);
  const reserved = new Trigger<Accepted>();
  setHandler(acceptedUpdate, async () => reserved, {
    description: 'What the request led to: a load, or a refusal.',
  });

  const { accepted: led, loadId } = await databaseReserveCardLoad(input);
  const accepted: Accepted = { ...led, callId: input.request.callId };
  reserved.resolve(accepted);
  if (loadId !== null) {
    const { traceId, resumed } = input;
    const { runId } = workflowInfo();
    const seen = resumed?.seen ?? (await databaseSubmitCardLoad({ id: loadId, runId, traceId }));
    await follow(input, { loadId, seen, tries: resumed?.tries ?? 0 });
  }
  await condition(allHandlersFinished);
  return accepted;
}

/** Creates until the answer is certain: each time under the same reference, so that the issuer loads once. */
async function follow(
  input: CardLoadInput,
  { loadId: id, seen: first, tries: triesBefore }: { loadId: string; seen: CardLoadSeen; tries: number },
): Promise<void> {
  const show = createShow();
  let seen = first;
  for (let tries = triesBefore; ; tries += 1) {
    const facts = [
      ['load', id],
      ['card', input.cardId],
      ['reason', seen.reason ?? 'none'],
    ] as const;
    show({ ...seen, facts });
    if (seen.next === 'end') return;
    if (tries - triesBefore >= TRIES_PER_RUN) {
      await condition(allHandlersFinished);
      return continueAsNew<typeof cardLoad>({ ...input, resumed: { loadId: id, seen, tries } });
    }
    if (seen.waitMs !== null) await sleep(seen.waitMs, { summary: 'until the next try' });
    seen = await create(input.provider, { id, tries, traceId: input.traceId });
  }
}

/** One attempt. A worker that dies in it leaves an outcome that nobody knows. */
async function create(provider: string, of: { id: string; tries: number; traceId: string }): Promise<CardLoadSeen> {
  const { providerCreateCardLoad, databaseSuspectCardLoad } = activitiesOf<LoadActivities>(provider);
  try {
    return await providerCreateCardLoad(of);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return databaseSuspectCardLoad(of);
  }
}
