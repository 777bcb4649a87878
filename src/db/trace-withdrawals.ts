import { withdrawalWorkflowId } from '../contracts/ids.js';
import type { ProviderRef } from './trace-scope.js';
import type { Tx } from './transaction.js';

/** What belongs to the story of some withdrawals. */
export interface WithdrawalsScope {
  readonly subjects: readonly string[];
  readonly refs: readonly ProviderRef[];
  readonly workflowIds: readonly string[];
}

/** How many withdrawals to one destination are followed. */
const NEWEST_MAX = 100;

/** Which: by id, a line of a merchant's book, a proof; `named`: the payout's id, its transaction's hash or address. */
export type WhichWithdrawals =
  | { readonly id: string }
  | { readonly destination: string }
  | { readonly proof: string }
  | { readonly named: string };

/** The withdrawals with the custodian's payouts, of which notifications tell, and the workflows that follow them. */
export async function scopeOfWithdrawals(tx: Tx, which: WhichWithdrawals): Promise<WithdrawalsScope> {
  const [where, param] = conditionOf(which);
  const rows = await tx.query<{ id: string; book: string; payoutRef: string | null }>(
    `select w.id, w.book, w.payout_ref as "payoutRef" from sverka.withdrawal w where ${where}
      order by w.id desc limit ${NEWEST_MAX}`,
    [param],
  );
  // A withdrawal does not name the custodian's account; what has told of its payout does.
  const refs = await tx.query<ProviderRef>(
    `select distinct provider, endpoint as account, subject_ref as ref from sverka.inbox where subject_ref = any ($1)`,
    [rows.flatMap(({ id, payoutRef }) => (payoutRef === null ? [id] : [id, payoutRef]))],
  );
  return { subjects: rows.map(({ id }) => id), refs, workflowIds: rows.map(withdrawalWorkflowId) };
}

function conditionOf(which: WhichWithdrawals): [where: string, param: string] {
  if ('id' in which) return ['w.id = $1', which.id];
  if ('destination' in which) return ['w.destination_id = $1', which.destination];
  if ('proof' in which) {
    return ['w.id = (select p.withdrawal_id from sverka.withdrawal_proof p where p.id = $1)', which.proof];
  }
  return ['(w.payout_ref = $1 or w.transaction_hash in ($1, lower($1)) or w.address = $1)', which.named];
}
