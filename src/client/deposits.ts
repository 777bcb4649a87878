import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { depositWorkflowId } from '../contracts/ids.js';
import { type DepositInput, NUDGE_SIGNAL, type Nudge } from '../contracts/messages.js';
import type { deposit } from '../workflows/index.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/**
 * Asks the workflow of a deposit to look. `start`: begins it when it never was. `closed` when it has ended, or
 * (without `start`) is not there; then the sweep reads for it. Throws when Temporal does not take the signal.
 */
export async function nudgeDeposit(
  temporal: Temporal,
  input: DepositInput,
  options: { start: boolean },
): Promise<'nudged' | 'closed'> {
  const { client, connection, taskQueue } = temporal;
  const workflowId = depositWorkflowId(input);
  const by: Nudge = { traceId: input.traceId };
  try {
    await connection.withDeadline(Date.now() + DEADLINE_MS, async () => {
      if (!options.start) return client.workflow.getHandle(workflowId).signal<[Nudge]>(NUDGE_SIGNAL, by);
      return client.workflow.signalWithStart<typeof deposit, [Nudge]>('deposit', {
        workflowId,
        taskQueue,
        args: [input],
        signal: NUDGE_SIGNAL,
        signalArgs: [by],
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        staticSummary: `Deposit ${input.ref} at ${input.account}`,
        typedSearchAttributes: searchAttributesOf({ kind: 'deposit', ref: input.ref, book: input.book }),
      });
    });
    return 'nudged';
  } catch (error) {
    const ended = error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
    if (ended) return 'closed';
    throw error;
  }
}
