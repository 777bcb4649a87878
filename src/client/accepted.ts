import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { Workflow } from '@temporalio/common';
import { ACCEPTED_UPDATE, type Accepted } from '../contracts/messages.js';
import type { Log } from '../telemetry/log.js';
import type { Temporal } from './temporal.js';

/**
 * What is known after asking: `accepted` with what the key leads to; `closed`, the run has ended without this update
 * and the database answers; `unknown`, perhaps taken; `not_sent`, proven that nothing was.
 */
export type AcceptedResult =
  | { readonly kind: 'accepted'; readonly accepted: Accepted }
  | { readonly kind: 'closed' }
  /** `needsPerson`: Temporal refuses us as we are configured; `error` is for the log. */
  | { readonly kind: 'unknown' | 'not_sent'; readonly error?: unknown; readonly needsPerson?: boolean };

/**
 * Starts the workflow of a request, or joins the one that runs, and waits for what its key leads to, at most
 * `deadlineMs`.
 */
export async function requestWithStart<W extends Workflow>(
  temporal: Temporal,
  { workflow, options }: { readonly workflow: string; readonly options: WorkflowStartOptions<W> },
  deadlineMs: number,
): Promise<AcceptedResult> {
  const operation = new WithStartWorkflowOperation<W>(workflow, {
    ...options,
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  const execute = () =>
    temporal.client.workflow.executeUpdateWithStart<W, Accepted, []>(ACCEPTED_UPDATE, {
      updateId: ACCEPTED_UPDATE,
      args: [],
      startWorkflowOperation: operation,
    });
  return requestAccepted(temporal, deadlineMs, { operation, execute });
}

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
    return { kind: provesNothingSent(error) ? 'not_sent' : 'unknown', error, needsPerson: isMisconfigured(error) };
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

/** gRPC's own numbers: NOT_FOUND (the namespace), PERMISSION_DENIED, UNAUTHENTICATED. */
const MISCONFIGURED: readonly number[] = [5, 7, 16];

function isMisconfigured(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    if (isGrpcServiceError(at)) return MISCONFIGURED.includes(at.code);
  }
  return false;
}

/** Writes why Temporal did not accept: an error where only a person can mend it, else a warning. */
export function logUnaccepted(log: Log, result: AcceptedResult): AcceptedResult {
  if (result.kind !== 'unknown' && result.kind !== 'not_sent') return result;
  const { kind: outcome, error } = result;
  if (result.needsPerson)
    log.error("Temporal refuses us: check its namespace, API key and this process's rights", { outcome, error });
  else log.warn('Temporal did not accept in time; the answer is read from the database', { outcome, error });
  return result;
}
