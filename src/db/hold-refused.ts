import type { Refusal } from '../contracts/messages.js';
import type { Book } from '../domain/books.js';
import { insertEvents } from './events.js';
import type { PostResult } from './journal.js';
import type { Tx } from './transaction.js';

/** The wallet does not cover a hold, or its owner owes (R14): the caller's transaction has to roll back. */
export class HoldRefused extends Error {
  constructor(readonly code: 'insufficient_funds' | 'receivable_outstanding') {
    super(`Nothing was set aside: ${code}.`);
    this.name = 'HoldRefused';
  }
}

/** Throws `HoldRefused` when the journal did not set money aside, and a bug's error for what no caller can cause. */
export function requireHeld(result: PostResult | undefined): void {
  if (result?.outcome === 'posted') return;
  if (result?.outcome === 'insufficient') throw new HoldRefused('insufficient_funds');
  if (result?.outcome === 'guarded') throw new HoldRefused('receivable_outstanding');
  throw new Error(
    `The journal did not hold what was asked for: ${result?.outcome ?? 'nothing'} (${result?.detail ?? ''}).`,
  );
}

/** What a client is told whose wallet does not cover a card, and what his key keeps. */
export function holdRefusal({ code }: HoldRefused): Refusal {
  const detail =
    code === 'insufficient_funds'
      ? 'The spendable balance does not cover the load and the fee.'
      : 'Something is owed on this wallet; money out is refused until it is settled.';
  return { code, detail };
}

/** Tells the merchant that a request was refused for money (API.md 5). */
export async function tellRefused(
  tx: Tx,
  of: { readonly book: Book; readonly merchantId: string; readonly request: { id: string }; readonly traceId: string },
  amount: { readonly amount: string; readonly asset: string },
): Promise<void> {
  const { book, merchantId, request, traceId } = of;
  const owner = { type: 'merchant', id: merchantId, ref: null };
  await insertEvents(tx, [
    {
      type: 'wallet.insufficient_funds',
      ...{ book, merchantId, subjectType: 'request', subjectId: request.id, version: 1, traceId },
      data: { object: 'refusal', request_id: request.id, owner, amount },
    },
  ]);
}
