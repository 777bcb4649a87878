import { z } from 'zod';
import { decimalsOf, findAsset } from '../domain/assets.js';
import type { Book } from '../domain/books.js';
import { CARD_PRODUCTS, CARD_STATES, type CardProduct, type CardState } from '../domain/card.js';
import { type CardChangeKind, STATE_SET_BY } from '../domain/card-change.js';
import { CARDHOLDER_ERASED, ISSUANCE_STATES, ISSUER_DECLINED, type IssuanceState } from '../domain/issuance.js';
import { type Minor, parseAmount } from '../domain/money.js';
import type { Refusal } from './messages.js';
import { amountSchema, toAmount, toTime } from './values.js';

/** An issuance as the database keeps it; amounts are minor units of `asset`. */
export interface IssuanceRecord {
  id: string;
  book: Book;
  merchantId: string;
  cardId: string;
  generation: number;
  /** No later generation of its card was begun. */
  latest: boolean;
  cardholderId: string;
  cardholderRevision: number;
  product: CardProduct;
  asset: string;
  loadAmount: Minor;
  feeAmount: Minor;
  provider: string;
  providerAccount: string;
  providerRef: string | null;
  providerStatus: string | null;
  declineReason: string | null;
  movementIds: string[];
  flag: string | null;
  contradiction: string | null;
  acceptedContradiction: string | null;
  needsOperator: boolean;
  appliedTicket: bigint;
  /** Of the run that follows it. */
  workflowId: string;
  submittedBy: string | null;
  submittedAt: Date | null;
  settledAt: Date | null;
  lastReadAt: Date | null;
  /** How often an answer of the issuer about it was applied. */
  looks: number;
  state: IssuanceState;
  version: number;
  reason: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A card as the database keeps it, with its issuance and what is loaded on it (minor units of `asset`). */
export interface CardRecord {
  id: string;
  book: Book;
  merchantId: string;
  cardholderId: string;
  product: CardProduct;
  asset: string;
  provider: string;
  providerAccount: string;
  providerRef: string | null;
  last4: string | null;
  expires: string | null;
  providerStatus: string | null;
  providerReadAt: Date | null;
  loaded: Minor;
  /** A change of it is not confirmed by the issuer yet. */
  changing: boolean;
  state: CardState;
  version: number;
  reason: string | null;
  createdAt: Date;
  updatedAt: Date;
  issuance: IssuanceRecord;
}

const limitsSchema = z.object({
  per_transaction: amountSchema.nullable(),
  per_day: amountSchema.nullable(),
  per_month: amountSchema.nullable(),
  allowed_categories: z.array(z.string()).nullable(),
  blocked_categories: z.array(z.string()).nullable(),
});

/** What the API shows of a card (API.md 3): its masked number and last four digits, nothing else of it, ever. */
export const cardSchema = z.object({
  object: z.literal('card'),
  id: z.string(),
  state: z.enum(CARD_STATES),
  version: z.int(),
  reason: z.string().nullable(),
  cardholder_id: z.string(),
  product: z.enum(CARD_PRODUCTS),
  asset: z.string(),
  masked_number: z.string().nullable(),
  last4: z.string().nullable(),
  expires: z.string().nullable(),
  loaded: amountSchema,
  issuance: z.object({
    id: z.string(),
    state: z.enum(ISSUANCE_STATES),
    version: z.int(),
    reason: z.string().nullable(),
    generation: z.int(),
    load: amountSchema,
    fee: amountSchema,
    movement_ids: z.array(z.string()),
    submitted_at: z.string().nullable(),
    settled_at: z.string().nullable(),
    last_read_at: z.string().nullable(),
  }),
  limits: limitsSchema,
  limits_ceiling: limitsSchema.nullable(),
  provider_status: z.string().nullable(),
  provider_read_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type CardResource = z.infer<typeof cardSchema>;

/** No spending limits are set by anybody yet. */
const NO_LIMITS: z.infer<typeof limitsSchema> = {
  per_transaction: null,
  per_day: null,
  per_month: null,
  allowed_categories: null,
  blocked_categories: null,
};

export function toCard(record: CardRecord): CardResource {
  const { asset, last4 } = record;
  return {
    object: 'card',
    id: record.id,
    state: record.state,
    version: record.version,
    reason: record.reason,
    cardholder_id: record.cardholderId,
    product: record.product,
    asset,
    masked_number: last4 === null ? null : `************${last4}`,
    last4,
    expires: record.expires,
    loaded: toAmount(record.loaded, asset),
    issuance: toIssuance(record.issuance),
    limits: NO_LIMITS,
    limits_ceiling: null,
    provider_status: record.providerStatus,
    provider_read_at: toTime(record.providerReadAt),
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}

/** The card as it is right after that change. */
export function toChangedCard(record: CardRecord, kind: CardChangeKind): CardResource {
  return toCard({ ...record, state: STATE_SET_BY[kind], version: record.version + 1 });
}

export function toIssuance(record: IssuanceRecord): CardResource['issuance'] {
  return {
    id: record.id,
    state: record.state,
    version: record.version,
    reason: record.flag ?? record.reason,
    generation: record.generation,
    load: toAmount(record.loadAmount, record.asset),
    fee: toAmount(record.feeAmount, record.asset),
    movement_ids: record.movementIds,
    submitted_at: toTime(record.submittedAt),
    settled_at: toTime(record.settledAt),
    last_read_at: toTime(record.lastReadAt),
  };
}

/**
 * Why a request for a card came to nothing, as the caller is told; null where the card itself is the answer. What a
 * person decided is no answer of the issuer: then the card, failed, is what the key led to.
 */
export function cardRefusal({ state, reason, issuance }: CardRecord): Refusal | null {
  if (state !== 'failed') return null;
  if (reason === CARDHOLDER_ERASED) {
    return { code: 'cardholder_erased', detail: 'The identity was erased before anything was sent; nothing was made.' };
  }
  if (reason !== ISSUER_DECLINED) return null;
  const why = issuance.declineReason === null ? '' : ` (${issuance.declineReason})`;
  return { code: 'issuer_declined', detail: `The issuer declined the card${why}; what was reserved is released.` };
}

/** The body of a request for a card. */
export const cardInputSchema = z.strictObject({
  cardholder_id: z.string().max(64).describe('Whose card it is: `chd_…`.'),
  load: z
    .strictObject({ amount: z.string().max(64), asset: z.string().max(20) })
    .describe('What is loaded on it from the wallet at once; 0 is allowed. Its asset is the card’s.'),
  product: z.enum(CARD_PRODUCTS).nullish().describe('Default: `instant`.'),
});
export type CardBody = z.infer<typeof cardInputSchema>;

/** What such a body means, defaults filled. */
export interface CardMeaning {
  readonly cardholderId: string;
  readonly asset: string;
  /** Minor units, as text: a fingerprint and a payload hold no bigint. */
  readonly load: string;
  readonly product: CardProduct;
}

/** A member that is refused by what never changes; `pointer` is a JSON Pointer into the body. */
export interface CardRefusal {
  readonly code: 'asset_not_supported' | 'validation';
  readonly pointer: string;
  readonly detail: string;
}

export function understandCard(input: CardBody): CardMeaning | CardRefusal {
  const { cardholder_id: cardholderId, load } = input;
  const product = input.product ?? 'instant';
  if (!findAsset(load.asset)) {
    return { code: 'asset_not_supported', pointer: '/load/asset', detail: 'must be a listed asset such as USD' };
  }
  const decimals = decimalsOf(load.asset);
  const minor = parseAmount(load.amount, decimals);
  if (typeof minor !== 'bigint') {
    const detail =
      minor === 'out_of_range' ? 'is too large' : `must be a decimal string with at most ${decimals} decimals`;
    return { code: 'validation', pointer: '/load/amount', detail };
  }
  return { cardholderId, asset: load.asset, load: minor.toString(), product };
}
