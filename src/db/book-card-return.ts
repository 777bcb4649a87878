import type { Book } from '../domain/books.js';
import { collectBehind, leg, type MovementInstruction } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import { openAccounts } from './accounts.js';
import { Retryable } from './errors.js';
import { post } from './journal.js';
import { tellCollected } from './tell-receivables.js';
import type { Tx } from './transaction.js';

/** The card whose load goes back, and how much, in minor units of `asset`. */
export interface CardReturn {
  readonly id: string;
  readonly book: Book;
  readonly merchantId: string;
  readonly provider: string;
  readonly providerAccount: string;
  readonly asset: string;
  readonly amount: Minor;
}

/**
 * What is left on a closed card goes back to its wallet, once, with a `collect` behind it; last of all in the
 * transaction. Throws `Retryable` when the card's balance is another one meanwhile: read it again.
 */
export async function bookCardReturn(tx: Tx, of: CardReturn, traceId: string): Promise<void> {
  const { id, book, merchantId, provider, providerAccount: account, asset, amount } = of;
  const own = { book, merchantId, customerId: null, asset };
  const [wallet, receivable, card] = await openAccounts(tx, [
    { ...own, kind: 'wallet' },
    { ...own, kind: 'receivable' },
    { ...own, kind: 'card', ref: id },
  ]);
  const back: MovementInstruction = {
    kind: 'card_return',
    key: {
      instrument: { book, provider, account, kind: 'card', ref: [id] },
      generation: 0,
      operation: 'return',
    },
    subject: { type: 'card', id },
    lines: [leg(card, -amount), leg(wallet, amount)],
  };
  const [result, collected] = await post(tx, [back, collectBehind(back, { wallet, receivable })], { traceId });
  if (result?.outcome === 'insufficient') throw new Retryable('The card was spent on meanwhile.', { cause: id });
  if (result?.outcome !== 'posted') {
    throw new Error(`The journal did not return what is on card ${id}: ${result?.outcome ?? 'nothing'}.`);
  }
  await tellCollected(tx, of, { receivable, collected, traceId });
}
