import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import { depositWorkflowId } from '../contracts/ids.js';
import { type DepositInput, NUDGE_SIGNAL, type Nudge } from '../contracts/messages.js';
import type { deposit } from '../workflows/index.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/**
 * Asks the workflow of a deposit to look. `start`: begins it when it never was. `leaveRunning`: one that runs polls by
 * itself and is not signalled, for that would only lengthen its history. `closed` when it has ended, or (without
 * `start`) is not there; then the sweep reads for it. Throws when Temporal does not take it.
 */
export async function nudgeDeposit(
  temporal: Temporal,
  input: DepositInput,
  options: { start: boolean; leaveRunning?: true },
): Promise<'nudged' | 'closed'> {
  const { client, connection, taskQueue } = temporal;
  const workflowId = depositWorkflowId(input);
  const by: Nudge = { traceId: input.traceId };
  const starting = {
    workflowId,
    taskQueue,
    args: [input] as [DepositInput],
    workflowIdReusePolicy: 'REJECT_DUPLICATE' as const,
    staticSummary: `Deposit ${input.ref} at ${input.account}`,
    typedSearchAttributes: searchAttributesOf({ kind: 'deposit', ref: input.ref, book: input.book }),
  };
  const send = (): Promise<unknown> => {
    const { workflow } = client;
    if (!options.start) return workflow.getHandle(workflowId).signal<[Nudge]>(NUDGE_SIGNAL, by);
    if (options.leaveRunning)
      return workflow.start<typeof deposit>('deposit', { ...starting, workflowIdConflictPolicy: 'USE_EXISTING' });
    return workflow.signalWithStart<typeof deposit, [Nudge]>('deposit', {
      ...starting,
      signal: NUDGE_SIGNAL,
      signalArgs: [by],
    });
  };
  try {
    await connection.withDeadline(Date.now() + DEADLINE_MS, send);
    return 'nudged';
  } catch (error) {
    const ended = error instanceof WorkflowExecutionAlreadyStartedError || error instanceof WorkflowNotFoundError;
    if (ended) return 'closed';
    throw error;
  }
}
