import { workflowInfo } from '@temporalio/workflow';

/** A short run replays in a moment: only so is there one without a nudge, in which it can go on in a fresh one. */
const EVENTS_PER_RUN = 400;

/** True when a run goes on in a fresh one whatever it has done so far: nudges are events, too, and may be a storm. */
export function isRunLong(): boolean {
  return workflowInfo().historyLength >= EVENTS_PER_RUN;
}
