import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { WorkerWorld } from './worker-world.js';

/** What one run has left in Temporal. */
export interface RunHistory {
  readonly events: readonly { readonly eventType: string }[];
  /** All of it as JSON text, payloads decoded, for looking for what must not be there. */
  readonly text: string;
  readonly signals: number;
  /** Activities asked for, and timers set. */
  readonly scheduled: number;
  readonly timers: number;
  /** Changes of search attributes. */
  readonly upserts: number;
}

/** The history of the latest run of that id. */
export async function historyOf({ temporal }: WorkerWorld, workflowId: string, runId?: string): Promise<RunHistory> {
  const history = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory();
  const json: { events: { eventType: string }[] } = JSON.parse(historyToJSON(history));
  const { events } = json;
  const count = (type: string) => events.filter((event) => event.eventType === `EVENT_TYPE_${type}`).length;
  return {
    events,
    text: decoded(json),
    signals: count('WORKFLOW_EXECUTION_SIGNALED'),
    scheduled: count('ACTIVITY_TASK_SCHEDULED'),
    timers: count('TIMER_STARTED'),
    upserts: count('UPSERT_WORKFLOW_SEARCH_ATTRIBUTES'),
  };
}

/** What Temporal's UI shows of the latest run. */
export async function shownOf({ temporal }: WorkerWorld, workflowId: string) {
  const { client, connection } = temporal;
  const handle = client.workflow.getHandle(workflowId);
  const description = await handle.describe();
  const details = await connection.withDeadline(Date.now() + 10_000, () =>
    handle.query<string | { currentDetails?: string }>('__temporal_workflow_metadata'),
  );
  const attributes: Record<string, unknown> = {};
  for (const { key, value } of description.typedSearchAttributes.getAll()) {
    if (key.name.startsWith('Sverka')) attributes[key.name] = value;
  }
  return {
    attributes,
    summary: await description.staticSummary(),
    details: typeof details === 'string' ? details : (details.currentDetails ?? ''),
  };
}

// Payloads are base64 in the JSON of a history.
function decoded(json: unknown): string {
  return JSON.stringify(json, (name, value: unknown) =>
    name === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : value,
  );
}
