import { decimalsOf } from '../domain/assets.js';
import type { Book } from '../domain/books.js';
import { collectBehind, guard, leg, type MovementInstruction } from '../domain/journal.js';
import { largestAmount, type Minor } from '../domain/money.js';
import type { OperationKey } from '../domain/operation-key.js';
import { openAccounts } from './accounts.js';
import { HoldRefused, requireHeld } from './hold-refused.js';
import { hashOperationKey, post } from './journal.js';
import { movementId } from './new-id.js';
import { tellCollected } from './tell-receivables.js';
import type { Tx } from './transaction.js';

/** Whose money, and how much of it, in minor units of `asset`. */
export interface IssuanceMoney {
  readonly id: string;
  readonly cardId: string;
  readonly book: Book;
  readonly merchantId: string;
  readonly provider: string;
  readonly providerAccount: string;
  readonly generation: number;
  readonly asset: string;
  readonly loadAmount: Minor;
  readonly feeAmount: Minor;
}

/** `hold` sets load and fee aside, `settle` makes them the card's and ours, `release` gives both back. */
export type IssuanceOperation = 'hold' | 'settle' | 'release';

/** `mov_…` of that operation; null when there is nothing to move, for load and fee are zero. */
export function issuanceMovementId(of: IssuanceMoney, operation: IssuanceOperation): string | null {
  return totalOf(of) === 0n ? null : movementId(hashOperationKey(keyOf(of, operation)));
}

/** What one transaction does with the money of issuances. */
export interface IssuanceBooking {
  /** Turns a hold into the card's load and our fee, or gives it back. Both take all of it: only one can (DESIGN 5). */
  readonly finish: { readonly of: IssuanceMoney; readonly operation: 'settle' | 'release' } | null;
  /** Sets load and fee aside out of the wallet, unless its owner owes (R14). */
  readonly hold: IssuanceMoney | null;
}

/**
 * The money, last of all in the transaction: one `post` for all. Throws `HoldRefused`, and a bug's error when the
 * journal does not finish what the state tables allowed.
 */
export async function bookIssuance(tx: Tx, { finish, hold }: IssuanceBooking, traceId: string): Promise<void> {
  const finished = finish && totalOf(finish.of) > 0n ? await finishing(tx, finish) : null;
  const held = hold && totalOf(hold) > 0n ? await holding(tx, hold) : null;
  const movements = [...(finished?.movements ?? []), ...(held === null ? [] : [held])];
  const results = await post(tx, movements, { traceId });
  if (held !== null) requireHeld(results.at(-1));
  const [result, collected] = results;
  if (finish && finished && result?.outcome !== 'posted') {
    throw new Error(
      `The journal did not ${finish.operation} issuance ${finish.of.id}: ${result?.outcome ?? 'nothing'}.`,
    );
  }
  if (finish && finished?.receivable !== undefined) {
    await tellCollected(tx, finish.of, { receivable: finished.receivable, collected, traceId });
  }
}

async function holding(tx: Tx, of: IssuanceMoney): Promise<MovementInstruction> {
  const total = totalOf(of);
  // The load alone may be as large as any amount; with the fee it is more than a wallet can hold.
  if (total > largestAmount(decimalsOf(of.asset))) throw new HoldRefused('insufficient_funds');
  const [wallet, receivable, hold] = await accountsOf(tx, of);
  return instruct(of, 'hold', [leg(wallet, -total), leg(hold, total), guard(receivable)]);
}

interface Finishing {
  readonly movements: MovementInstruction[];
  /** What a release may pay off. */
  readonly receivable?: bigint;
}

async function finishing(tx: Tx, { of, operation }: NonNullable<IssuanceBooking['finish']>): Promise<Finishing> {
  const [wallet, receivable, hold, card, fees] = await accountsOf(tx, of);
  const total = totalOf(of);
  if (operation === 'settle') {
    const lines = [leg(hold, -total)];
    if (of.loadAmount > 0n) lines.push(leg(card, of.loadAmount));
    if (of.feeAmount > 0n) lines.push(leg(fees, of.feeAmount));
    return { movements: [instruct(of, 'settle', lines)] };
  }
  const release = instruct(of, 'release', [leg(hold, -total), leg(wallet, total)]);
  return { movements: [release, collectBehind(release, { wallet, receivable })], receivable };
}

const KINDS = { hold: 'issuance_hold', settle: 'issuance_settle', release: 'issuance_release' } as const;

function instruct(of: IssuanceMoney, operation: IssuanceOperation, lines: MovementInstruction['lines']) {
  const subject = { type: 'issuance', id: of.id };
  return { kind: KINDS[operation], key: keyOf(of, operation), subject, lines } satisfies MovementInstruction;
}

function totalOf({ loadAmount, feeAmount }: IssuanceMoney): Minor {
  return loadAmount + feeAmount;
}

function keyOf(of: IssuanceMoney, operation: IssuanceOperation): OperationKey {
  const { book, provider, providerAccount: account, generation, id } = of;
  return { instrument: { book, provider, account, kind: 'issuance', ref: [id] }, generation, operation };
}

function accountsOf(tx: Tx, { book, merchantId, asset, id, cardId }: IssuanceMoney) {
  const own = { book, merchantId, customerId: null, asset };
  return openAccounts(tx, [
    { ...own, kind: 'wallet' },
    { ...own, kind: 'receivable' },
    { ...own, kind: 'hold', ref: id },
    { ...own, kind: 'card', ref: cardId },
    { ...own, kind: 'fees' },
  ]);
}
