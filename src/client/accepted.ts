import {
  isGrpcServiceError,
  type WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import type { Accepted } from '../contracts/messages.js';
import type { Temporal } from './temporal.js';

/**
 * What is known after asking: `accepted` with what the key leads to; `closed`, the run has ended without this update
 * and the database answers; `unknown`, perhaps taken; `not_sent`, proven that nothing was.
 */
export type AcceptedResult =
  | { readonly kind: 'accepted'; readonly accepted: Accepted }
  | { readonly kind: 'closed' | 'unknown' | 'not_sent' };

/** Runs an update-with-start under a deadline and says what its failure proves. */
export async function requestAccepted<W extends Workflow>(
  temporal: Temporal,
  deadlineMs: number,
  call: { readonly operation: WithStartWorkflowOperation<W>; readonly execute: () => Promise<Accepted> },
): Promise<AcceptedResult> {
  const { operation, execute } = call;
  // Rejected together with the update; nobody else listens to it.
  operation.workflowHandle().catch(() => undefined);
  try {
    return { kind: 'accepted', accepted: await temporal.connection.withDeadline(Date.now() + deadlineMs, execute) };
  } catch (error) {
    if (isClosed(error)) return { kind: 'closed' };
    return { kind: provesNothingSent(error) ? 'not_sent' : 'unknown' };
  }
}

function isClosed(error: unknown): boolean {
  if (error instanceof WorkflowExecutionAlreadyStartedError) return true;
  const cause = error instanceof Error ? error.cause : undefined;
  const type = typeof cause === 'object' && cause !== null && 'type' in cause ? cause.type : undefined;
  return type === 'AcceptedUpdateCompletedWorkflow' || cause instanceof WorkflowExecutionAlreadyStartedError;
}

/** gRPC's own word that no connection was made; a dropped one, or a deadline, proves nothing. */
function provesNothingSent(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at) && at.code === 14 && /No connection established|ECONNREFUSED/.test(at.message))
      return true;
  }
  return false;
}
