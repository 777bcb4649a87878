import type { BalanceSyncInput } from '../contracts/balance-messages.js';
import { balanceSyncWorkflowId } from '../contracts/ids.js';
import { NUDGE_SIGNAL } from '../contracts/messages.js';
import type { balanceSync } from '../workflows/index.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

const DEADLINE_MS = 5_000;

/** Says "look" to whoever mirrors the balances of an account, and begins it where there is none. */
export async function nudgeBalances({ client, connection, taskQueue }: Temporal, input: BalanceSyncInput) {
  const { book, account } = input;
  await connection.withDeadline(Date.now() + DEADLINE_MS, () =>
    client.workflow.signalWithStart<typeof balanceSync, []>('balanceSync', {
      workflowId: balanceSyncWorkflowId(input),
      taskQueue,
      args: [input],
      signal: NUDGE_SIGNAL,
      signalArgs: [],
      staticSummary: `Mirrors the balances of ${account}`,
      typedSearchAttributes: searchAttributesOf({ kind: 'balance_sync', ref: account, book }),
    }),
  );
}
