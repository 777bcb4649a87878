import { depositAddressWorkflowId } from '../contracts/ids.js';
import type { Temporal } from './temporal.js';

const DEADLINE_MS = 1_000;

/** Ids of the workflows that a request could have started: one per kind of object that a workflow makes. */
const WORKFLOW_IDS = [depositAddressWorkflowId] as const;

/** True when a workflow of that request runs now. False also when Temporal cannot say: then nothing is known. */
export async function isRequestRunning(
  temporal: Temporal,
  of: { book: string; merchantId: string; requestId: string },
): Promise<boolean> {
  const { client, connection } = temporal;
  const asked = WORKFLOW_IDS.map(async (idOf) => {
    const handle = client.workflow.getHandle(idOf(of));
    const { status } = await connection.withDeadline(Date.now() + DEADLINE_MS, () => handle.describe());
    return status.name === 'RUNNING';
  });
  const answers = await Promise.allSettled(asked);
  return answers.some((answer) => answer.status === 'fulfilled' && answer.value);
}
