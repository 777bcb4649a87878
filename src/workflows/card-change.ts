import { ActivityFailure, continueAsNew, sleep } from '@temporalio/workflow';
import type { CardChangeActivities, OfCardChange } from '../activities/card-changes.js';
import type { CardChangeInput, CardChangeSeen } from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { createShow } from './show.js';

/** Turns of one run; a change that waits for days goes on in a fresh one. */
const TURNS_PER_RUN = 100;

/** Tells the issuer one change of a card until he confirms it, or a newer one has taken its place. */
export async function cardChange(input: CardChangeInput): Promise<void> {
  const { provider, cardId, number, traceId, merchantId } = input;
  const { databaseSubmitCardChange } = activitiesOf<CardChangeActivities>(provider);
  const show = createShow();
  let tries = input.tries ?? 0;
  for (let turns = 0; turns < TURNS_PER_RUN; turns += 1) {
    let seen = await databaseSubmitCardChange({ cardId, number, traceId, tries });
    if (seen.next === 'tell') {
      seen = await tell(provider, { cardId, number, traceId, tries });
    }
    tries += 1;
    const { state, needsOperator, kind } = seen;
    const facts = [
      ['card', cardId],
      ['change', `${number}: ${kind}`],
    ] as const;
    show({ state, merchantId, needsOperator, facts });
    if (seen.next === 'end') return;
    await sleep(seen.waitMs, { summary: 'until the next try' });
  }
  return continueAsNew<typeof cardChange>({ ...input, tries });
}

/** One attempt. A worker that dies in it leaves an outcome that nobody knows; to tell it again does no harm. */
async function tell(provider: string, of: OfCardChange): Promise<CardChangeSeen> {
  const { providerCreateCardChange, databaseSuspectCardChange } = activitiesOf<CardChangeActivities>(provider);
  try {
    return await providerCreateCardChange(of);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return databaseSuspectCardChange(of);
  }
}
