import { cardChangeWorkflowId } from '../contracts/ids.js';
import type { CardChangeInput } from '../contracts/messages.js';
import type { cardChange } from '../workflows/index.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

/** A change is true without Temporal: a caller is not kept waiting for it, and the sweep starts what was not. */
const DEADLINE_MS = 2_000;

/**
 * Begins the run that tells the issuer one change of a card; an open one is left alone, and another run of one that has
 * ended does no harm, for its row knows how. Throws when Temporal does not take it.
 */
export async function startCardChange(temporal: Temporal, input: CardChangeInput): Promise<void> {
  const { book, merchantId, cardId, number } = input;
  await temporal.connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    temporal.client.workflow.start<typeof cardChange>('cardChange', {
      workflowId: cardChangeWorkflowId({ book, cardId, number }),
      taskQueue: temporal.taskQueue,
      args: [input],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      workflowIdConflictPolicy: 'USE_EXISTING',
      staticSummary: `Change ${number} of a card`,
      typedSearchAttributes: searchAttributesOf({ kind: 'card_change', ref: cardId, book, merchantId }),
    }),
  );
}
