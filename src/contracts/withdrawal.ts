import { z } from 'zod';
import { decimalsOf } from '../domain/assets.js';
import type { Book } from '../domain/books.js';
import { holdsCardNumber } from '../domain/card-numbers.js';
import { type Minor, parseAmount } from '../domain/money.js';
import {
  WITHDRAWAL_ROUTES,
  WITHDRAWAL_STATES,
  type WithdrawalRoute,
  type WithdrawalState,
} from '../domain/withdrawal.js';
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

/** What a person entered as an amount of that asset, in minor units and above zero; null for anything else. */
export function readEnteredAmount(text: string, asset: string): Minor | null {
  const minor = parseAmount(text, decimalsOf(asset));
  return typeof minor === 'bigint' && minor > 0n ? minor : null;
}

/** The same of a fee, which may be nothing. */
export function readEnteredFee(text: string, asset: string): Minor | null {
  const minor = parseAmount(text, decimalsOf(asset));
  return typeof minor === 'bigint' && minor >= 0n ? minor : null;
}

/** A merchant's own words of up to 140 characters, without what may be a card number. */
export function isOwnWords(text: string): boolean {
  return [...text].length <= OWN_WORDS_MAX && !holdsCardNumber(text);
}

const OWN_WORDS_MAX = 140;

/** The way to pay of that name; null where there is none. */
export function readRoute(text: string): WithdrawalRoute | null {
  return WITHDRAWAL_ROUTES.find((route) => route === text) ?? null;
}
