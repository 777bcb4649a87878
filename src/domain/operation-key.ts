import type { Book } from './books.js';

/**
 * What a provider knows (a deposit, an invoice, a card, a coupon …), told apart from everything else for ever. It
 * begins with book, provider, our account there and kind, so that a test coupon never shadows a live one. What no
 * provider knows (a transfer, an opening balance) has provider `sverka` and the merchant's id as account.
 */
export interface Instrument {
  readonly book: Book;
  readonly provider: string;
  readonly account: string;
  readonly kind: string;
  /** The provider's own name of it, in as many parts as it takes: `['cd-77']`, `[network, hash, output index]`. */
  readonly ref: readonly string[];
}

/**
 * (instrument, generation, operation): what makes a movement happen once. `generation` counts how many times the
 * instrument was reopened (mined again, settled again); `operation` names the step: `credit`, `orphan`, `stake`.
 */
export interface OperationKey {
  readonly instrument: Instrument;
  readonly generation: number;
  readonly operation: string;
}

/**
 * The parts of an operation key, in the order they are hashed (`hashOperationKey` of db/journal.ts). Different keys
 * give different lists, since four parts stand in front of `ref` and two behind. Throws on an empty part or a
 * generation that is no whole number: such a key would be too coarse.
 */
export function operationKeyParts(key: OperationKey): string[] {
  const { book, provider, account, kind, ref } = key.instrument;
  if (!Number.isSafeInteger(key.generation) || key.generation < 0) {
    throw new Error(`An operation key needs a generation of 0 or more, not ${key.generation}.`);
  }
  const parts = [book, provider, account, kind, ...ref, String(key.generation), key.operation];
  if (ref.length === 0 || parts.includes('')) {
    throw new Error(`An operation key has an empty part: ${JSON.stringify(parts)}. Name the instrument in full.`);
  }
  return parts;
}

/** The key of the `collect` that stands behind a movement which credits a wallet (DESIGN 5). */
export function collectKey(credit: OperationKey): OperationKey {
  return { ...credit, operation: `${credit.operation}:collect` };
}
