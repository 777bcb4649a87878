import type { Temporal } from '../../src/client/temporal.js';

/** Events that a workflow has left in Temporal, over all its runs (continue-as-new begins another). */
export async function countEvents({ client }: Temporal, workflowId: string, firstRunId?: string): Promise<number> {
  let total = 0;
  for (let runId: string | undefined = firstRunId; ; ) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    total += events?.length ?? 0;
    const next = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    if (!next) return total;
    runId = next;
  }
}
