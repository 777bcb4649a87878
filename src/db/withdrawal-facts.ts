import type { Minor } from '../domain/money.js';
import type { WithdrawalRoute } from '../domain/withdrawal.js';
import type { Tx } from './transaction.js';

/** What was asked for once, and by whom; amounts in minor units. */
export interface WithdrawalTermsRow {
  readonly terms: number;
  readonly amount: Minor;
  readonly fee: Minor;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
  readonly requestedBy: string;
  readonly createdAt: Date;
}

export interface WithdrawalProof {
  readonly id: string;
  readonly transactionHash: string | null;
  readonly fileName: string | null;
  readonly fileType: string | null;
  readonly fileHash: string | null;
  readonly addedBy: string;
  readonly createdAt: Date;
}

/** What a person of ours is shown beside the row: all terms, the approvals that stand, and what was handed in. */
export interface WithdrawalFacts {
  /** The newest first. */
  readonly terms: readonly WithdrawalTermsRow[];
  /** People whose approval of these terms was applied. */
  readonly approvedBy: readonly string[];
  readonly approvalsNeeded: number | null;
  /** Ways in which it can be paid; the first approver's choice alone once there is one. */
  readonly routes: readonly WithdrawalRoute[];
  readonly proofs: readonly WithdrawalProof[];
}

export async function readWithdrawalFacts(db: Tx, id: string): Promise<WithdrawalFacts> {
  const [terms, [stands], proofs] = await Promise.all([
    db.query<Omit<WithdrawalTermsRow, 'amount' | 'fee'> & { amount: string; fee: string }>(
      `select terms, amount::text, fee_amount::text as fee, network, address, tag, requested_by as "requestedBy",
         created_at as "createdAt" from sverka.withdrawal_terms where withdrawal_id = $1 order by terms desc`,
      [id],
    ),
    db.query<Pick<WithdrawalFacts, 'approvedBy' | 'approvalsNeeded' | 'routes'>>(
      `select coalesce(w.approvals_needed, case when w.amount >= o.two_approvals_from then 2 else 1 end)
           as "approvalsNeeded",
         case when w.route is null then coalesce(o.routes, '{}') else array[w.route] end as routes,
         array(select d.user_id from sverka.decision d
           join sverka.decision_outcome c on c.decision_id = d.id and c.outcome = 'applied'
           where d.subject_type = 'withdrawal' and d.subject_id = w.id and d.choice = 'approve'
             and d.seen_hash = sverka.withdrawal_approved_hash(w) order by d.created_at) as "approvedBy"
       from sverka.withdrawal w
       left join sverka.withdrawal_offer o on o.book = w.book and o.network = w.network and o.asset = w.asset
       where w.id = $1`,
      [id],
    ),
    db.query<WithdrawalProof>(
      `select id, transaction_hash as "transactionHash", file_name as "fileName", file_type as "fileType",
         encode(file_hash, 'hex') as "fileHash", added_by as "addedBy", created_at as "createdAt"
       from sverka.withdrawal_proof where withdrawal_id = $1 order by created_at desc limit 20`,
      [id],
    ),
  ]);
  return {
    terms: terms.map((row) => ({ ...row, amount: BigInt(row.amount), fee: BigInt(row.fee) })),
    approvedBy: stands?.approvedBy ?? [],
    approvalsNeeded: stands?.approvalsNeeded ?? null,
    routes: stands?.routes ?? [],
    proofs,
  };
}

/** What is handed in as proof of a payout; at least one of the two. */
export interface NewProof {
  readonly transactionHash: string | null;
  readonly file: { readonly name: string; readonly type: string; readonly bytes: Uint8Array } | null;
}

/** Keeps it with the hash of its file (the console's door); answers its id, which the decision names. */
export async function addWithdrawalProof(
  db: Tx,
  of: { readonly withdrawalId: string; readonly userId: string } & NewProof,
): Promise<string> {
  const { withdrawalId, userId, transactionHash, file } = of;
  const rows = await db.query<{ id: string }>('select sverka.add_withdrawal_proof($1, $2, $3, $4, $5, $6) as id', [
    withdrawalId,
    userId,
    transactionHash,
    file?.name ?? null,
    file?.type ?? null,
    file === null ? null : Buffer.from(file.bytes),
  ]);
  const [row] = rows;
  if (!row) throw new Error('The door of proofs answered no row: the database is not of this version.');
  return row.id;
}

/** The file of a proof; null when there is none. */
export async function readProofFile(
  db: Tx,
  of: { readonly withdrawalId: string; readonly id: string },
): Promise<{ readonly name: string; readonly type: string; readonly bytes: Buffer } | null> {
  const rows = await db.query<{ name: string; type: string; bytes: Buffer }>(
    `select file_name as name, file_type as type, file as bytes from sverka.withdrawal_proof
      where withdrawal_id = $1 and id = $2 and file is not null`,
    [of.withdrawalId, of.id],
  );
  return rows[0] ?? null;
}

/** An attempt that was refused leaves its row in the audit, too. */
export async function noteRefusedDecision(
  db: Tx,
  of: { readonly withdrawalId: string; readonly userId: string; readonly why: string; readonly traceId: string },
): Promise<void> {
  const { withdrawalId, userId, why, traceId } = of;
  await db.query('select sverka.note_refused_decision($1, $2, $3, $4)', [withdrawalId, userId, why, traceId]);
}
