import type { Amount } from '../contracts/values.js';
import { toAmount, toTime } from '../contracts/values.js';
import { toWithdrawal, type WithdrawalRecord, type WithdrawalResource } from '../contracts/withdrawal.js';
import { utc } from './output.js';

/** A withdrawal as the command line shows it: as in the events, with what stands beside it. */
export interface WithdrawalListing extends WithdrawalResource {
  readonly book: string;
  readonly merchant_id: string;
  readonly destination_id: string;
  readonly tag: string | null;
  /** The merchant's own words. */
  readonly reference: string | null;
  /** Counts what was asked for: an edit is the next. */
  readonly terms: number;
  readonly requested_by: string;
  readonly expires_at: string;
  /** How it is paid, and by how many it was approved; null until it is. */
  readonly route: string | null;
  readonly approvals_needed: number | null;
  /** What the custodian says of it; null where he has shown none. */
  readonly payout: { readonly id: string; readonly status: string | null; readonly fee: Amount | null } | null;
  readonly proof_id: string | null;
  readonly flag: string | null;
  readonly needs_operator: boolean;
  readonly submitted_by: string | null;
  readonly submitted_at: string | null;
  readonly settled_at: string | null;
}

export function toWithdrawalListing(record: WithdrawalRecord): WithdrawalListing {
  return {
    ...toWithdrawal(record),
    book: record.book,
    merchant_id: record.merchantId,
    destination_id: record.destinationId,
    tag: record.tag,
    reference: record.reference,
    terms: record.terms,
    requested_by: record.requestedBy,
    expires_at: toTime(record.expiresAt),
    route: record.route,
    approvals_needed: record.approvalsNeeded,
    payout: payoutOf(record),
    proof_id: record.proofId,
    flag: record.flag,
    needs_operator: record.needsOperator,
    submitted_by: record.submittedBy,
    submitted_at: toTime(record.submittedAt),
    settled_at: toTime(record.settledAt),
  };
}

export function withdrawalFacts(withdrawal: WithdrawalListing): (readonly [string, string | null])[] {
  const { amount, fee, payout, tag } = withdrawal;
  const paidFor = payout?.fee ? `, fee ${payout.fee.amount} ${payout.fee.asset}` : '';
  return [
    ['id', withdrawal.id],
    ['book', withdrawal.book],
    ['state', withdrawal.state],
    ['reason', withdrawal.reason],
    ['merchant', withdrawal.merchant_id],
    ['amount', `${amount.amount} ${amount.asset}`],
    ['network fee', `${fee.amount} ${fee.asset}`],
    ['network', withdrawal.network],
    ['destination', `${withdrawal.destination}${tag === null ? '' : ` (tag ${tag})`}, ${withdrawal.destination_id}`],
    ['reference', withdrawal.reference],
    ['asked by', `${withdrawal.requested_by}, terms ${withdrawal.terms}`],
    ['route', withdrawal.route],
    ['approvals', withdrawal.approvals_needed === null ? null : String(withdrawal.approvals_needed)],
    ['payout', payout === null ? null : `${payout.id}: ${payout.status ?? '–'}${paidFor}`],
    ['transaction', withdrawal.transaction_hash],
    ['proof', withdrawal.proof_id],
    ['flag', withdrawal.flag],
    ['needs a person', withdrawal.needs_operator ? 'yes' : 'no'],
    ['movements', withdrawal.movement_ids.join(', ')],
    ['version', String(withdrawal.version)],
    ['created', utc(withdrawal.created_at)],
    ['expires', utc(withdrawal.expires_at)],
    [
      'submitted',
      withdrawal.submitted_by === null ? null : `${utc(withdrawal.submitted_at)} by ${withdrawal.submitted_by}`,
    ],
    ['settled', utc(withdrawal.settled_at)],
  ];
}

function payoutOf(record: WithdrawalRecord): WithdrawalListing['payout'] {
  const { payoutRef: id, payoutStatus: status, payoutFeeAmount: fee, payoutFeeAsset: asset } = record;
  if (id === null) return null;
  return { id, status, fee: fee === null || asset === null ? null : toAmount(fee, asset) };
}
