import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  log,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { DepositActivities } from '../activities/deposits.js';
import type { InboxActivities } from '../activities/inbox.js';
import { depositWorkflowId } from '../contracts/ids.js';
import type { DepositInput } from '../contracts/messages.js';
import { activitiesOf } from './options.js';

/** Turns in one run: well above one a second, which continue-as-new would have to wait for. */
const TURNS_PER_RUN = 200;
/** Closed deposits read at the same time; what is over comes again. */
const READS_MAX = 200;

/** For ever: finds notifications that nobody came for and subjects whose workflow is lost, and numbers what is new. */
export async function inboxSweep(): Promise<never> {
  const { databaseSweepInbox } = activitiesOf<InboxActivities>(null);
  const reading = new Map<string, Promise<void>>();
  for (let turns = 0; turns < TURNS_PER_RUN && !workflowInfo().continueAsNewSuggested; turns += 1) {
    const { closed, waitMs } = await databaseSweepInbox();
    for (const input of closed) {
      const id = depositWorkflowId(input);
      if (reading.has(id) || reading.size >= READS_MAX) continue;
      // Not waited for: a hanging provider must not stop the sweep of the others.
      const read = readClosed(input).finally(() => reading.delete(id));
      reading.set(id, read);
    }
    if (waitMs > 0) await sleep(waitMs, { summary: 'until the next sweep' });
  }
  await Promise.all(reading.values());
  await condition(allHandlersFinished);
  return continueAsNew<typeof inboxSweep>();
}

/** Applied through the same function; never a second run of a payment's id (R13). */
async function readClosed(input: DepositInput): Promise<void> {
  const { providerReadDeposit } = activitiesOf<DepositActivities>(input.provider, { once: true });
  const absentMs = input.absentSince == null ? 0 : Date.now() - input.absentSince;
  try {
    await providerReadDeposit({ ...input, absentMs });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // The row comes again when its lease is over.
    log.warn('a swept deposit could not be read', { code: 'sweep_read_failed', trace_id: input.traceId });
  }
}
