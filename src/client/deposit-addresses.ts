import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { depositAddressWorkflowId } from '../contracts/ids.js';
import type { DepositAddressInput } from '../contracts/messages.js';
import type { depositAddress } from '../workflows/index.js';
import { type AcceptedResult, requestWithStart } from './accepted.js';
import { requestMemo } from './request-progress.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/**
 * Starts the workflow that makes a deposit address, or joins the one that runs, and waits for what the key leads to,
 * at most `deadlineMs`.
 */
export async function requestDepositAddress(
  temporal: Temporal,
  input: DepositAddressInput,
  deadlineMs: number,
): Promise<AcceptedResult> {
  const options = optionsOf(temporal, input);
  return requestWithStart<typeof depositAddress>(temporal, { workflow: 'depositAddress', options }, deadlineMs);
}

/** Begins it again after Temporal's store was lost; one that is there, open or closed, is left alone. */
export async function startDepositAddress(temporal: Temporal, input: DepositAddressInput): Promise<void> {
  try {
    await temporal.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
      temporal.client.workflow.start<typeof depositAddress>('depositAddress', {
        ...optionsOf(temporal, input),
        workflowIdConflictPolicy: 'USE_EXISTING',
      }),
    );
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

function optionsOf({ taskQueue }: Temporal, input: DepositAddressInput) {
  const { book, merchantId, network, asset } = input;
  return {
    workflowId: depositAddressWorkflowId({ book, merchantId, requestId: input.request.id }),
    taskQueue,
    args: [input] as [DepositAddressInput],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    memo: requestMemo(input.request),
    staticSummary: `Deposit address for ${asset} on ${network}`,
    typedSearchAttributes: searchAttributesOf({ kind: 'deposit_address', ref: input.request.id, book, merchantId }),
  };
}
