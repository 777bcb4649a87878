import type { Tx } from './transaction.js';

/** What the custodian says of a payout; the fee in minor units of its own asset. */
export interface PayoutReading {
  readonly id: string;
  readonly status: string;
  readonly txHash: string | null;
  readonly fee: { readonly asset: string; readonly amount: bigint } | null;
}

/** What the chain or the custodian says of a transaction; `amount` in minor units of `asset`. */
export interface TransferReading {
  readonly network: string;
  readonly asset: string;
  readonly to: string;
  readonly tag: string | null;
  readonly amount: bigint;
  readonly status: string;
}

interface Of {
  readonly id: string;
  readonly traceId: string;
}

/**
 * The worker's doors to withdrawals: each is one database function that checks by itself what makes it right.
 * `applyWithdrawalDecision` applies the oldest decision of a person that waits, with its money; false when none does.
 * `transfer` is what was read of the transaction that its proof names.
 */
export async function applyWithdrawalDecision(
  tx: Tx,
  { id, traceId }: Of,
  transfer: TransferReading | null,
): Promise<boolean> {
  const rows = await tx.query<{ applied: boolean }>(
    'select (sverka.apply_withdrawal_decision($1, $2, $3)).id is not null as applied',
    [id, transfer && JSON.stringify({ ...transfer, amount: transfer.amount.toString() }), traceId],
  );
  return rows[0]?.applied ?? false;
}

/**
 * Commits the intent of a payout by the custodian, before anything is sent; one of another run is `unknown`, but of the
 * run `after`, which hands over what it has not sent.
 */
export async function submitWithdrawal(
  tx: Tx,
  { id, traceId, runId, after = null }: Of & { readonly runId: string; readonly after?: string | null },
): Promise<void> {
  await tx.query('select from sverka.submit_withdrawal($1, $2, $3, $4)', [id, runId, after, traceId]);
}

/** Notes that nobody knows whether it was paid. */
export async function suspectWithdrawal(tx: Tx, { id, traceId }: Of): Promise<void> {
  await tx.query('select from sverka.suspect_withdrawal($1, $2)', [id, traceId]);
}

/** What one call or look at the custodian came to. */
export interface PayoutAnswer extends Of {
  /** Taken before the call began. */
  readonly ticket: bigint;
  /** Null: he shows none under our reference. */
  readonly payout: PayoutReading | null;
  readonly transfer: TransferReading | null;
  /** Why nothing was paid, for good: the custodian refused the create. */
  readonly declined: string | null;
  /** Looked for so often that a person has to ask him. */
  readonly needsPerson: boolean;
}

/** The one apply function of the custodian's answers; running it again changes nothing. */
export async function applyWithdrawalPayout(tx: Tx, answer: PayoutAnswer): Promise<void> {
  const { id, ticket, payout, transfer, declined, needsPerson, traceId } = answer;
  const said = payout && {
    ...{ id: payout.id, status: payout.status, tx_hash: payout.txHash },
    ...{ fee_asset: payout.fee?.asset ?? null, fee_amount: payout.fee?.amount.toString() ?? null },
  };
  await tx.query('select from sverka.apply_withdrawal_payout($1, $2, $3, $4, $5, $6, $7)', [
    id,
    ticket,
    said && JSON.stringify(said),
    transfer && JSON.stringify({ ...transfer, amount: transfer.amount.toString() }),
    declined,
    needsPerson,
    traceId,
  ]);
}

/** Gives the money of a request back that nobody has decided on in time; any other is left as it is. */
export async function expireWithdrawal(tx: Tx, { id, traceId }: Of): Promise<void> {
  await tx.query('select from sverka.expire_withdrawal($1, $2)', [id, traceId]);
}

/** Tells people that a request waits for its approval. */
export async function remindOfWithdrawal(
  tx: Tx,
  { id, traceId, step }: Of & { readonly step: 'reminder' | 'escalation' },
): Promise<void> {
  await tx.query('select sverka.remind_of_withdrawal($1, $2, $3)', [id, step, traceId]);
}

/** The proof that an open decision to complete names: its transaction, when it has one. Null: no such decision. */
export async function openProof(db: Tx, id: string): Promise<{ readonly transactionHash: string | null } | null> {
  const rows = await db.query<{ transactionHash: string | null }>(
    `select p.transaction_hash as "transactionHash" from sverka.decision d
       join sverka.withdrawal_proof p on p.id = d.argument and p.withdrawal_id = d.subject_id
      where d.subject_type = 'withdrawal' and d.subject_id = $1 and d.choice = 'complete'
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)
      order by d.created_at, d.id limit 1`,
    [id],
  );
  return rows[0] ?? null;
}
