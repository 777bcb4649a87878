import type { Context } from './command.js';
import { CliFailure } from './failure.js';

/** A run of a workflow, as Temporal shows it. */
export interface WorkflowItem {
  readonly kind: 'workflow';
  readonly at: Date;
  readonly id: string;
  readonly runId: string;
  readonly type: string;
  readonly status: string;
  readonly closedAt: Date | null;
}

const WORKFLOWS_MAX = 20;
const DEADLINE_MS = 5_000;

/**
 * The last run of each of these workflows that Temporal still knows. `note` says why it could not be asked, or was
 * asked about some only: the trace goes on without it, for the database alone is the truth.
 */
export async function workflowsOf(
  context: Context,
  ids: readonly string[],
): Promise<{ items: WorkflowItem[]; note: string | null }> {
  if (ids.length === 0) return { items: [], note: null };
  try {
    const { WorkflowNotFoundError } = await import('@temporalio/client');
    const { client, connection } = await context.temporal();
    const asked = ids.slice(0, WORKFLOWS_MAX);
    const found = await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      Promise.all(
        asked.map(async (id): Promise<WorkflowItem | null> => {
          try {
            const { runId, type, status, startTime, closeTime } = await client.workflow.getHandle(id).describe();
            const closedAt = closeTime ?? null;
            return { kind: 'workflow', at: startTime, id, runId, type, status: status.name.toLowerCase(), closedAt };
          } catch (error) {
            if (error instanceof WorkflowNotFoundError) return null;
            throw error;
          }
        }),
      ),
    );
    const note = ids.length > asked.length ? `Of ${ids.length} workflows only ${asked.length} are shown.` : null;
    return { items: found.filter((item) => item !== null), note };
  } catch (error) {
    const why = error instanceof CliFailure ? error.message : 'it did not answer in time';
    return { items: [], note: `Workflows are not shown, for Temporal could not be asked: ${why}` };
  }
}
