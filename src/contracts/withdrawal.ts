import { z } from 'zod';
import type { Book } from '../domain/books.js';
import type { Minor } from '../domain/money.js';
import { WITHDRAWAL_STATES, type WithdrawalRoute, type WithdrawalState } from '../domain/withdrawal.js';
import { amountSchema, toAmount, toTime } from './values.js';

/** A withdrawal as the database keeps it; amount and fee are minor units of `asset`. */
export interface WithdrawalRecord {
  id: string;
  book: Book;
  merchantId: string;
  asset: string;
  amount: Minor;
  /** The network fee as quoted: held with the amount. */
  feeAmount: Minor;
  network: string;
  destinationId: string;
  address: string;
  tag: string | null;
  /** The merchant's own words. */
  reference: string | null;
  /** Counts what was asked for: an edit is the next. */
  terms: number;
  requestedBy: string;
  expiresAt: Date;
  route: WithdrawalRoute | null;
  approvalsNeeded: number | null;
  payoutRef: string | null;
  payoutStatus: string | null;
  payoutFeeAsset: string | null;
  payoutFeeAmount: Minor | null;
  transactionHash: string | null;
  proofId: string | null;
  flag: string | null;
  needsOperator: boolean;
  appliedTicket: bigint;
  submittedBy: string | null;
  submittedAt: Date | null;
  settledAt: Date | null;
  movementIds: string[];
  state: WithdrawalState;
  version: number;
  reason: string | null;
  actor: string;
  createdAt: Date;
  updatedAt: Date;
}

/** What events tell of a withdrawal (API.md 5); `sverka.withdrawal_json` makes the same. */
export const withdrawalSchema = z.object({
  object: z.literal('withdrawal'),
  id: z.string(),
  state: z.enum(WITHDRAWAL_STATES),
  version: z.int(),
  reason: z.string().nullable(),
  amount: amountSchema,
  fee: amountSchema,
  network: z.string(),
  destination: z.string(),
  transaction_hash: z.string().nullable(),
  movement_ids: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type WithdrawalResource = z.infer<typeof withdrawalSchema>;

export function toWithdrawal(record: WithdrawalRecord): WithdrawalResource {
  return {
    object: 'withdrawal',
    id: record.id,
    state: record.state,
    version: record.version,
    reason: record.reason,
    amount: toAmount(record.amount, record.asset),
    fee: toAmount(record.feeAmount, record.asset),
    network: record.network,
    destination: record.address,
    transaction_hash: record.transactionHash,
    movement_ids: record.movementIds,
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}
