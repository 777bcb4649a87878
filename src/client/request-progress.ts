import { cardLoadWorkflowId, depositAddressWorkflowId, issuanceWorkflowId } from '../contracts/ids.js';
import type { RequestInput, RequestMemo } from '../contracts/messages.js';
import type { Temporal } from './temporal.js';

const DEADLINE_MS = 1_000;

/** Ids of the workflows that a request could have started: one per kind of object that a workflow makes. */
const WORKFLOW_IDS = [
  depositAddressWorkflowId,
  (of: { book: string; merchantId: string; requestId: string }) => issuanceWorkflowId({ ...of, generation: 0 }),
  cardLoadWorkflowId,
] as const;

/** What a workflow that answers for a call keeps to be read from outside: every start of one has it as its memo. */
export function requestMemo({ fingerprint, callId }: RequestInput): Record<string, string> {
  return { fingerprint, ...(callId !== undefined && { callId }) };
}

/**
 * The memo of the workflow of that request which runs now. Null when none does, and also when Temporal cannot say:
 * then nothing is known.
 */
export async function findRunningRequest(
  temporal: Temporal,
  of: { book: string; merchantId: string; requestId: string },
): Promise<Partial<RequestMemo> | null> {
  const { client, connection } = temporal;
  const asked = WORKFLOW_IDS.map(async (idOf) => {
    const handle = client.workflow.getHandle(idOf(of));
    const { status, memo } = await connection.withDeadline(Date.now() + DEADLINE_MS, () => handle.describe());
    return status.name === 'RUNNING' ? toMemo(memo) : null;
  });
  const answers = await Promise.allSettled(asked);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : [])).find(isRunning) ?? null;
}

function toMemo(memo: Record<string, unknown> | undefined): Partial<RequestMemo> {
  const { fingerprint, callId } = memo ?? {};
  return {
    ...(typeof fingerprint === 'string' && { fingerprint }),
    ...(typeof callId === 'string' && { callId }),
  };
}

function isRunning(memo: Partial<RequestMemo> | null): memo is Partial<RequestMemo> {
  return memo !== null;
}
