import { ActivityFailure, allHandlersFinished, condition, continueAsNew, log, sleep } from '@temporalio/workflow';
import type { DepositActivities } from '../activities/deposits.js';
import type { InboxActivities } from '../activities/inbox.js';
import type { DepositInput } from '../contracts/messages.js';
import { activitiesOf } from './options.js';

/** Turns in one run: well above one a second, which continue-as-new would have to wait for. */
const TURNS_PER_RUN = 200;

/** For ever: finds notifications that nobody came for and subjects whose workflow is lost, and numbers what is new. */
export async function inboxSweep(): Promise<never> {
  const { databaseSweepInbox } = activitiesOf<InboxActivities>('none');
  for (let turns = 0; turns < TURNS_PER_RUN; turns += 1) {
    const { closed, waitMs } = await databaseSweepInbox();
    await Promise.all(closed.map(readClosed));
    if (waitMs > 0) await sleep(waitMs, { summary: 'until the next sweep' });
  }
  await condition(allHandlersFinished);
  return continueAsNew<typeof inboxSweep>();
}

/** Applied through the same function; never a second run of a payment's id (R13). */
async function readClosed(input: DepositInput): Promise<void> {
  const { providerReadDeposit } = activitiesOf<DepositActivities>(input.provider, { once: true });
  try {
    await providerReadDeposit({ ...input, absentMs: 0 });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // The row comes again when its lease is over.
    log.warn('a swept deposit could not be read', { code: 'sweep_read_failed', trace_id: input.traceId });
  }
}
