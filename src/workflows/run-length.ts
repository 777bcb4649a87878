import { workflowInfo } from '@temporalio/workflow';

/** Of 2 000 events the replay takes well under a second; past five the SDK ends the thread it runs in. */
const EVENTS_PER_RUN = 2_000;

/** True when a run goes on in a fresh one whatever it has done so far: nudges are events, too, and may be a storm. */
export function isRunLong(): boolean {
  return workflowInfo().historyLength >= EVENTS_PER_RUN;
}
