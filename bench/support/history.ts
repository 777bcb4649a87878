import type { Temporal } from '../../src/client/temporal.js';

/** What a workflow has left in Temporal. */
export interface Left {
  readonly events: number;
  /** Activities asked for. */
  readonly activities: number;
  readonly timers: number;
}

/** Of all its runs, for continue-as-new begins another. */
export async function countEvents({ client }: Temporal, workflowId: string, firstRunId?: string): Promise<Left> {
  const left = { events: 0, activities: 0, timers: 0 };
  for (let runId: string | undefined = firstRunId; ; ) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    const events = history.events ?? [];
    left.events += events.length;
    left.activities += events.filter((event) => event.activityTaskScheduledEventAttributes).length;
    left.timers += events.filter((event) => event.timerStartedEventAttributes).length;
    const next = events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    if (!next) return left;
    runId = next;
  }
}
