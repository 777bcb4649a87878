import type { Book } from '../domain/books.js';
import { collectBehind, guard, leg, type MovementInstruction } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import type { OperationKey } from '../domain/operation-key.js';
import { openAccounts } from './accounts.js';
import { requireHeld } from './hold-refused.js';
import { hashOperationKey, post } from './journal.js';
import { movementId } from './new-id.js';
import { tellCollected } from './tell-receivables.js';
import type { Tx } from './transaction.js';

/** Whose money goes onto which card, in minor units of `asset`. */
export interface LoadMoney {
  readonly id: string;
  readonly cardId: string;
  readonly book: Book;
  readonly merchantId: string;
  readonly provider: string;
  readonly providerAccount: string;
  readonly asset: string;
  readonly amount: Minor;
}

/** `hold` sets it aside, `settle` makes it the card's, `release` gives it back. */
export type LoadOperation = 'hold' | 'settle' | 'release';

/** `mov_…` of that operation. */
export function loadMovementId(of: Omit<LoadMoney, 'cardId'>, operation: LoadOperation): string {
  return movementId(hashOperationKey(keyOf(of, operation)));
}

/**
 * Sets it aside out of the wallet, last of all in the transaction. Throws `HoldRefused` when the wallet does not cover
 * it or its owner owes (R14): then nothing of the transaction may stay.
 */
export async function holdLoad(tx: Tx, of: LoadMoney, traceId: string): Promise<void> {
  const { wallet, receivable, hold } = await accountsOf(tx, of);
  const lines = [leg(wallet, -of.amount), leg(hold, of.amount), guard(receivable)];
  const [result] = await post(tx, [instruct(of, 'hold', lines)], { traceId });
  requireHeld(result);
}

/** Turns the hold into the card's, or gives it back; both take all of it, so only one of them can be. Last of all. */
export async function finishLoad(
  tx: Tx,
  of: LoadMoney,
  { operation, traceId }: { operation: 'settle' | 'release'; traceId: string },
): Promise<void> {
  const { wallet, receivable, hold, card } = await accountsOf(tx, of);
  const to = operation === 'settle' ? card : wallet;
  const finish = instruct(of, operation, [leg(hold, -of.amount), leg(to, of.amount)]);
  const behind = operation === 'settle' ? [] : [collectBehind(finish, { wallet, receivable })];
  const [result, collected] = await post(tx, [finish, ...behind], { traceId });
  if (result?.outcome !== 'posted') {
    throw new Error(`The journal did not ${operation} load ${of.id}: ${result?.outcome ?? 'nothing'}.`);
  }
  if (operation === 'release') await tellCollected(tx, of, { receivable, collected, traceId });
}

const KINDS = { hold: 'load_hold', settle: 'load_settle', release: 'load_release' } as const;

function instruct(of: LoadMoney, operation: LoadOperation, lines: MovementInstruction['lines']) {
  const subject = { type: 'load', id: of.id };
  return { kind: KINDS[operation], key: keyOf(of, operation), subject, lines } satisfies MovementInstruction;
}

function keyOf(of: Omit<LoadMoney, 'cardId'>, operation: LoadOperation): OperationKey {
  const { book, provider, providerAccount: account, id } = of;
  return { instrument: { book, provider, account, kind: 'load', ref: [id] }, generation: 0, operation };
}

async function accountsOf(tx: Tx, { book, merchantId, asset, id, cardId }: LoadMoney) {
  const own = { book, merchantId, customerId: null, asset };
  const [wallet, receivable, hold, card] = await openAccounts(tx, [
    { ...own, kind: 'wallet' },
    { ...own, kind: 'receivable' },
    { ...own, kind: 'hold', ref: id },
    { ...own, kind: 'card', ref: cardId },
  ]);
  return { wallet, receivable, hold, card };
}
