import type { Book } from './books.js';
import type { Minor } from './money.js';
import { collectKey, type OperationKey } from './operation-key.js';

/** `wallet` is spendable, a `hold` is set aside for one purpose, `receivable` is what is owed; the rest face them. */
export const ACCOUNT_KINDS = [
  'wallet',
  'hold',
  'opening',
  'card',
  'fees',
  'receivable',
  'clearing:custody',
  'clearing:issuer',
  'clearing:lightning',
  'clearing:sportsbook',
  'clearing:payout',
] as const;
export type AccountKind = (typeof ACCOUNT_KINDS)[number];

/** What a movement was for (API.md 3). The `withdrawal_` ones move through functions of their own, not by `post`. */
export const MOVEMENT_KINDS = [
  'opening',
  'deposit_credit',
  'deposit_hold',
  'deposit_release',
  'deposit_orphaned',
  'airdrop_credit',
  'issuance_hold',
  'issuance_settle',
  'issuance_release',
  'load_hold',
  'load_settle',
  'load_release',
  'card_return',
  'withdrawal_hold',
  'withdrawal_settle',
  'withdrawal_release',
  'withdrawal_fee',
  'transfer',
  'coupon_stake',
  'coupon_final_credit',
  'coupon_redebit',
  'invoice_credit',
  'authorization_hold',
  'authorization_increment',
  'authorization_release',
  'clearing',
  'clearing_forced',
  'refund',
  'refund_reversal',
  'dispute_credit',
  'dispute_credit_reversal',
  'card_fee',
  'collect',
  'write_off',
] as const;
export type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** What `post` answers for one movement. Only `posted` moved money; the last four leave the key free. */
export const POST_OUTCOMES = [
  'posted',
  'duplicate',
  'conflict',
  'guarded',
  'insufficient',
  'nothing',
  'invalid',
] as const;
export type PostOutcome = (typeof POST_OUTCOMES)[number];

/** Who an account belongs to: a merchant, or a customer of his. */
export interface Owner {
  readonly book: Book;
  readonly merchantId: string;
  readonly customerId: string | null;
}

/** What tells an account apart. `ref` is the hold's subject or the card, and is empty for every other kind. */
export interface AccountName extends Owner {
  readonly kind: AccountKind;
  readonly ref?: string;
  readonly asset: string;
}

/** An account's id in the journal; it never leaves the database's side. */
export type AccountId = bigint;

/**
 * One line of a movement. A `leg` moves exactly its signed amount. A `draw` stands below a debit leg or another draw
 * of its asset and takes what those above could not, each down to its floor, the last the rest. A `guard` stands after
 * the legs and must be at zero. Two `collect` lines (from, to) are a movement of their own.
 */
export type Line =
  | { readonly role: 'leg'; readonly account: AccountId; readonly amount: Minor }
  | { readonly role: 'draw' | 'guard' | 'collect'; readonly account: AccountId };

/** One business fact, as a caller wants it posted. */
export interface MovementInstruction {
  readonly kind: MovementKind;
  /** What makes it happen once; its generation is the movement's. */
  readonly key: OperationKey;
  readonly lines: readonly Line[];
  /** What it is about: `{ type: 'deposit', id: 'dep_…' }`. */
  readonly subject: { readonly type: string; readonly id: string };
  /** The key of the movement that this one undoes; it has to be posted already, or stand above in the same call. */
  readonly compensates?: OperationKey;
  /** A merchant's own words, up to 140 characters. */
  readonly reference?: string;
}

/** Moves `amount` (signed, in minor units) on that account. */
export function leg(account: AccountId, amount: Minor): Line {
  return { role: 'leg', account, amount };
}

/** Takes what the lines above could not. */
export function draw(account: AccountId): Line {
  return { role: 'draw', account };
}

/** Refuses the movement as `guarded` unless this account stands at zero. */
export function guard(account: AccountId): Line {
  return { role: 'guard', account };
}

/** The movement that has to stand right behind each one that credits a wallet: it pays what its owner owes. */
export function collectBehind(
  credit: MovementInstruction,
  accounts: { readonly wallet: AccountId; readonly receivable: AccountId },
): MovementInstruction {
  const lines: Line[] = [
    { role: 'collect', account: accounts.wallet },
    { role: 'collect', account: accounts.receivable },
  ];
  return { kind: 'collect', key: collectKey(credit.key), subject: credit.subject, lines };
}

/** What `post` compares when a key comes again: kind and lines as instructed, never the split or the subject. */
export function bodyParts(movement: MovementInstruction): string[] {
  const lines = movement.lines.flatMap((line) => [
    line.account.toString(),
    line.role === 'leg' ? line.amount.toString() : '',
    line.role,
  ]);
  return [movement.kind, ...lines];
}
