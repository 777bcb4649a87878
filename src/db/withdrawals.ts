import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { listQuery, type Scope, type Wanted } from './lists.js';
import type { Tx } from './transaction.js';

/** Everything of a withdrawal; alias `w`. */
const WITHDRAWAL_COLUMNS = `w.id, w.book, w.merchant_id as "merchantId", w.asset, w.amount::text as "amountText",
    w.fee_amount::text as "feeText", w.network, w.destination_id as "destinationId", w.address, w.tag, w.reference,
    w.terms, w.requested_by as "requestedBy", w.expires_at as "expiresAt", w.route,
    w.approvals_needed as "approvalsNeeded", w.payout_ref as "payoutRef", w.payout_status as "payoutStatus",
    w.payout_fee_asset as "payoutFeeAsset", w.payout_fee_amount::text as "payoutFeeText",
    w.transaction_hash as "transactionHash", w.proof_id as "proofId", w.flag, w.needs_operator as "needsOperator",
    w.applied_ticket as "appliedTicket", w.submitted_by as "submittedBy", w.submitted_at as "submittedAt",
    w.settled_at as "settledAt", w.movement_ids as "movementIds", w.state, w.version, w.reason, w.actor,
    w.created_at as "createdAt", w.updated_at as "updatedAt"`;
const SELECT = `select ${WITHDRAWAL_COLUMNS} from sverka.withdrawal w`;
/** What lists of withdrawals read from. */
export const WITHDRAWAL_LIST = { select: SELECT, table: 'sverka.withdrawal', alias: 'w' } as const;

/** Nothing happens to it without a person: approve, pay by hand, complete, or clear up. */
export const WITHDRAWAL_WAITS_FOR_PERSON = `(w.state in ('requested', 'unknown')
    or w.state in ('approved', 'submitted') and w.route = 'manual' or w.flag is not null or w.needs_operator)`;

/** A row of WITHDRAWAL_COLUMNS: amounts are still text, for the driver has no whole numeric. */
export type WithdrawalRow = Omit<WithdrawalRecord, 'amount' | 'feeAmount' | 'payoutFeeAmount'> & {
  amountText: string;
  feeText: string;
  payoutFeeText: string | null;
};

/** The withdrawal of that id, whoever owns it: for the worker and for people of ours; null when there is none. */
export async function findWithdrawal(db: Tx, id: string): Promise<WithdrawalRecord | null> {
  const [row] = await db.query<WithdrawalRow>(`${SELECT} where w.id = $1`, [id]);
  return row ? toWithdrawalRecord(row) : null;
}

/** The same, with the hash that a decision on it is bound to. */
export async function findSeenWithdrawal(
  db: Tx,
  id: string,
): Promise<{ readonly record: WithdrawalRecord; readonly seenHash: Buffer } | null> {
  const [row] = await db.query<WithdrawalRow & { seen: Buffer }>(
    `select ${WITHDRAWAL_COLUMNS}, sverka.withdrawal_hash(w) as seen from sverka.withdrawal w where w.id = $1`,
    [id],
  );
  if (!row) return null;
  const { seen, ...rest } = row;
  return { record: toWithdrawalRecord(rest), seenHash: seen };
}

/** The same; throws when it is not there, which is a bug. */
export async function readWithdrawal(db: Tx, id: string): Promise<WithdrawalRecord> {
  const found = await findWithdrawal(db, id);
  if (!found) throw new Error(`Withdrawal ${id} does not exist, although its workflow does.`);
  return found;
}

/** The same, with a ticket for a call that begins after it (`read-tickets.ts`). */
export async function readWithdrawalForCall(
  db: Tx,
  id: string,
): Promise<{ readonly record: WithdrawalRecord; readonly ticket: bigint }> {
  const [row] = await db.query<WithdrawalRow & { ticket: bigint }>(
    `select ${WITHDRAWAL_COLUMNS}, nextval('sverka.read_ticket') as ticket from sverka.withdrawal w where w.id = $1`,
    [id],
  );
  if (!row) throw new Error(`Withdrawal ${id} does not exist, although its workflow does.`);
  const { ticket, ...rest } = row;
  return { record: toWithdrawalRecord(rest), ticket };
}

/** The merchant's own withdrawal of that id, in that book. */
export async function findOwnWithdrawal(db: Tx, of: Scope & { id: string }): Promise<WithdrawalRecord | null> {
  const where = 'where w.id = $1 and w.book = $2 and w.merchant_id = $3';
  const [row] = await db.query<WithdrawalRow>(`${SELECT} ${where}`, [of.id, of.book, of.merchantId]);
  return row ? toWithdrawalRecord(row) : null;
}

/** The merchant's withdrawals, newest first. */
export async function listOwnWithdrawals(db: Tx, of: Scope, wanted: Wanted): Promise<WithdrawalRecord[]> {
  const { sql, params } = listQuery(WITHDRAWAL_LIST, of, wanted);
  return (await db.query<WithdrawalRow>(sql, params)).map(toWithdrawalRecord);
}

/** Which withdrawal waits for the custodian's payout of that id; null when none is known to. */
export async function findPayoutFollower(
  db: Tx,
  of: { readonly book: string; readonly ref: string },
): Promise<{ readonly id: string; readonly merchantId: string } | null> {
  const rows = await db.query<{ id: string; merchantId: string }>(
    'select id, merchant_id as "merchantId" from sverka.payout_follower($1, $2)',
    [of.book, of.ref],
  );
  return rows[0] ?? null;
}

/** Withdrawals that the sweep makes sure of now: claimed, so that another sweep leaves them. */
export async function claimWithdrawals(
  db: Tx,
  limits: { readonly most: number; readonly graceMs: number; readonly leaseMs: number; readonly strandedMs: number },
): Promise<{ id: string; book: 'live' | 'test'; merchantId: string }[]> {
  const { most, graceMs, leaseMs, strandedMs } = limits;
  return db.query('select id, book, merchant_id as "merchantId" from sverka.claim_withdrawals($1, $2, $3, $4)', [
    most,
    graceMs,
    leaseMs,
    strandedMs,
  ]);
}

export function toWithdrawalRecord({ amountText, feeText, payoutFeeText, ...row }: WithdrawalRow): WithdrawalRecord {
  const payoutFeeAmount = payoutFeeText === null ? null : BigInt(payoutFeeText);
  return { ...row, amount: BigInt(amountText), feeAmount: BigInt(feeText), payoutFeeAmount };
}
