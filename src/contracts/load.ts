import { z } from 'zod';
import { decimalsOf } from '../domain/assets.js';
import type { Book } from '../domain/books.js';
import { LOAD_STATES, type LoadState } from '../domain/load.js';
import { type Minor, parseAmount } from '../domain/money.js';
import { amountSchema, toAmount, toTime } from './values.js';

/** A load of a card as the database keeps it; the amount is minor units of `asset`. */
export interface LoadRecord {
  id: string;
  book: Book;
  merchantId: string;
  cardId: string;
  asset: string;
  amount: Minor;
  provider: string;
  providerAccount: string;
  workflowId: string;
  /** The issuer's code of a refusal. */
  declineReason: string | null;
  movementIds: string[];
  needsOperator: boolean;
  appliedTicket: bigint;
  submittedBy: string | null;
  submittedAt: Date | null;
  settledAt: Date | null;
  state: LoadState;
  version: number;
  reason: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What the API shows of a load (API.md 3). */
export const loadSchema = z.object({
  object: z.literal('load'),
  id: z.string(),
  state: z.enum(LOAD_STATES),
  version: z.int(),
  reason: z.string().nullable(),
  card_id: z.string(),
  amount: amountSchema,
  fee: amountSchema,
  movement_ids: z.array(z.string()),
  created_at: z.string(),
  updated_at: z.string(),
});
export type LoadResource = z.infer<typeof loadSchema>;

export function toLoad(record: LoadRecord): LoadResource {
  const { asset } = record;
  return {
    object: 'load',
    id: record.id,
    state: record.state,
    version: record.version,
    reason: record.reason,
    card_id: record.cardId,
    amount: toAmount(record.amount, asset),
    // Loading costs nothing.
    fee: toAmount(0n, asset),
    movement_ids: record.movementIds,
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}

/** The body of a request for a load: its asset is the card's. */
export const loadInputSchema = z.strictObject({
  amount: z
    .strictObject({ amount: z.string().max(64), asset: z.string().max(20) })
    .describe('What is loaded from the wallet, above zero, in the card’s asset.'),
});
export type LoadBody = z.infer<typeof loadInputSchema>;

/** Minor units as text, or why the amount is none of this card's. `pointer` is a JSON Pointer into the body. */
export function understandLoad(
  { amount }: LoadBody,
  asset: string,
): string | { readonly pointer: string; readonly detail: string } {
  if (amount.asset !== asset) return { pointer: '/amount/asset', detail: "must be the card's asset" };
  const decimals = decimalsOf(asset);
  const minor = parseAmount(amount.amount, decimals);
  if (minor === 0n) return { pointer: '/amount/amount', detail: 'must be above zero' };
  if (typeof minor === 'bigint') return minor.toString();
  const detail =
    minor === 'out_of_range' ? 'is too large' : `must be a decimal string with at most ${decimals} decimals`;
  return { pointer: '/amount/amount', detail };
}
