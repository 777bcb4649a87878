import { cardLoadWorkflowId } from '../contracts/ids.js';
import type { CardLoadInput } from '../contracts/messages.js';
import type { cardLoad } from '../workflows/index.js';
import { type AcceptedResult, requestWithStart } from './accepted.js';
import { requestMemo } from './request-progress.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/**
 * Starts the workflow that loads a card, or joins the one that runs, and waits for what the key leads to, at most
 * `deadlineMs`: the money is reserved then, or the request refused.
 */
export async function requestCardLoad(
  temporal: Temporal,
  input: CardLoadInput,
  deadlineMs: number,
): Promise<AcceptedResult> {
  const options = { ...optionsOf(temporal, input), workflowIdReusePolicy: 'REJECT_DUPLICATE' as const };
  return requestWithStart<typeof cardLoad>(temporal, { workflow: 'cardLoad', options }, deadlineMs);
}

/**
 * Begins the run of a load that has none, for Temporal's store was lost or somebody ended it: its row answers and the
 * issuer knows the reference, so another run is safe. An open one is left alone.
 */
export async function startCardLoad(temporal: Temporal, input: CardLoadInput): Promise<void> {
  await temporal.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    temporal.client.workflow.start<typeof cardLoad>('cardLoad', {
      ...optionsOf(temporal, input),
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  );
}

function optionsOf({ taskQueue }: Temporal, input: CardLoadInput) {
  const { book, merchantId, asset, request } = input;
  return {
    workflowId: cardLoadWorkflowId({ book, merchantId, requestId: request.id }),
    taskQueue,
    args: [input] as [CardLoadInput],
    memo: requestMemo(request),
    staticSummary: `Load of a card in ${asset}`,
    typedSearchAttributes: searchAttributesOf({ kind: 'load', ref: request.id, book, merchantId }),
  };
}
