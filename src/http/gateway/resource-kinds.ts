import { cardRefusal, toCard } from '../../contracts/card.js';
import { toCardholder } from '../../contracts/cardholder.js';
import { toDepositAddress } from '../../contracts/deposit-address.js';
import { toLoad } from '../../contracts/load.js';
import type { Refusal } from '../../contracts/messages.js';
import { findCardholder } from '../../db/cardholders.js';
import { findCard } from '../../db/cards.js';
import { findDepositAddress } from '../../db/deposit-addresses.js';
import type { Scope } from '../../db/lists.js';
import { findLoad } from '../../db/loads.js';
import type { Tx } from '../../db/transaction.js';

/** An object as it is now, and whether its outcome is known. */
export interface LoadedResource {
  readonly body: { readonly id: string; readonly updated_at?: string } & Record<string, unknown>;
  /** 201 when true, 202 while not. */
  readonly definite: boolean;
  /** What was decided on it is not confirmed by its provider: 202 for whoever did not make it, but changes it. */
  readonly changing?: boolean;
  /** Why the object that a key made came to nothing: answered as this problem, with the object's `Location`. */
  readonly refusal?: Refusal | null;
}

/** A kind of object that a key may lead to; `type` is that of the request row. */
export interface ResourceKind {
  readonly type: string;
  readonly url: (id: string) => string;
  readonly load: (db: Tx, of: Scope, id: string) => Promise<LoadedResource | null>;
}

export const DEPOSIT_ADDRESS_KIND: ResourceKind = {
  type: 'deposit_address',
  url: (id) => `/v1/deposit-addresses/${id}`,
  load: async (db, of, id) => {
    const record = await findDepositAddress(db, { id, book: of.book, merchantId: of.merchantId });
    if (!record) return null;
    return { body: toDepositAddress(record), definite: record.state === 'active' || record.state === 'failed' };
  },
};

export const CARDHOLDER_KIND: ResourceKind = {
  type: 'cardholder',
  url: (id) => `/v1/cardholders/${id}`,
  load: async (db, of, id) => {
    const record = await findCardholder(db, { id, book: of.book, merchantId: of.merchantId });
    return record && { body: toCardholder(record), definite: true };
  },
};

export const CARD_KIND: ResourceKind = {
  type: 'card',
  url: (id) => `/v1/cards/${id}`,
  load: async (db, of, id) => {
    const record = await findCard(db, { id, book: of.book, merchantId: of.merchantId });
    if (!record) return null;
    const { changing, state } = record;
    return { body: toCard(record), definite: state !== 'pending', changing, refusal: cardRefusal(record) };
  },
};

export const LOAD_KIND: ResourceKind = {
  type: 'load',
  url: (id) => `/v1/loads/${id}`,
  load: async (db, of, id) => {
    const record = await findLoad(db, { id, book: of.book, merchantId: of.merchantId });
    if (!record) return null;
    const { state, declineReason } = record;
    const why = declineReason === null ? '' : ` (${declineReason})`;
    const detail = `The issuer declined the load${why}; what was reserved is released.`;
    const refusal = state === 'failed' ? { code: 'issuer_declined', detail } : null;
    return { body: toLoad(record), definite: state === 'completed' || state === 'failed', refusal };
  },
};

const KINDS: ReadonlyMap<string, ResourceKind> = new Map(
  [DEPOSIT_ADDRESS_KIND, CARDHOLDER_KIND, CARD_KIND, LOAD_KIND].map((kind) => [kind.type, kind]),
);

/** The kind that a request row names; throws for one that this version does not know, which is a bug. */
export function kindOf(type: string): ResourceKind {
  const kind = KINDS.get(type);
  if (!kind) throw new Error(`A request leads to a ${type}, which http/gateway/resource-kinds.ts does not list.`);
  return kind;
}
