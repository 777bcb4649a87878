import { withdrawalWorkflowId } from '../contracts/ids.js';
import { NUDGE_SIGNAL, type Nudge, type WithdrawalInput } from '../contracts/messages.js';
import type { withdrawal } from '../workflows/index.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/**
 * Says "look" to the run of a withdrawal, and begins it where there is none: the row is the truth, so a second run of
 * the same one changes nothing. It carries an id and no facts: nothing that is sent here approves anything.
 */
export async function nudgeWithdrawal({ client, connection, taskQueue }: Temporal, input: WithdrawalInput) {
  const { book, id, merchantId, traceId } = input;
  const by: Nudge = { traceId };
  await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflow.signalWithStart<typeof withdrawal, [Nudge]>('withdrawal', {
      workflowId: withdrawalWorkflowId({ book, id }),
      taskQueue,
      args: [input],
      signal: NUDGE_SIGNAL,
      signalArgs: [by],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: 'Withdrawal',
      typedSearchAttributes: searchAttributesOf({ kind: 'withdrawal', ref: id, book, merchantId }),
    }),
  );
}
