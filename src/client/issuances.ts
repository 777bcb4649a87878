import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { issuanceWorkflowId } from '../contracts/ids.js';
import { type IssuanceInput, NUDGE_SIGNAL, type Nudge } from '../contracts/messages.js';
import type { issuance } from '../workflows/index.js';
import { type AcceptedResult, requestWithStart } from './accepted.js';
import { requestMemo } from './request-progress.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/**
 * Starts the workflow that makes a card, or joins the one that runs, and waits for what the key leads to, at most
 * `deadlineMs`: the money is reserved then, or the request refused.
 */
export async function requestIssuance(
  temporal: Temporal,
  input: IssuanceInput,
  deadlineMs: number,
): Promise<AcceptedResult> {
  const options = optionsOf(temporal, input);
  return requestWithStart<typeof issuance>(temporal, { workflow: 'issuance', options }, deadlineMs);
}

/**
 * Begins the run of an issuance that has none: issued again by a person, or Temporal's store was lost. An open one is
 * left alone; `closed` for one that has ended, which the sweep reads for.
 */
export async function startIssuance(temporal: Temporal, input: IssuanceInput): Promise<'started' | 'closed'> {
  try {
    await temporal.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      temporal.client.workflow.start<typeof issuance>('issuance', {
        ...optionsOf(temporal, input),
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    );
    return 'started';
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return 'closed';
    throw error;
  }
}

/** Asks the run that follows an issuance to look; `closed` when it has ended. Throws when Temporal does not take it. */
export async function nudgeIssuance(
  { client, connection }: Temporal,
  of: { readonly workflowId: string; readonly traceId: string },
): Promise<'nudged' | 'closed'> {
  const by: Nudge = { traceId: of.traceId };
  try {
    await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      client.workflow.getHandle(of.workflowId).signal<[Nudge]>(NUDGE_SIGNAL, by),
    );
    return 'nudged';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return 'closed';
    throw error;
  }
}

function optionsOf({ taskQueue }: Temporal, input: IssuanceInput) {
  const { book, merchantId, product, asset, generation, request } = input;
  return {
    workflowId: issuanceWorkflowId({ book, merchantId, requestId: request.id, generation }),
    taskQueue,
    args: [input] as [IssuanceInput],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    memo: requestMemo(request),
    staticSummary: `Issuance of an ${product} card in ${asset}`,
    typedSearchAttributes: searchAttributesOf({ kind: 'issuance', ref: request.id, book, merchantId }),
  };
}
