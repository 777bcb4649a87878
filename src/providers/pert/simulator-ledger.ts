import { randomBytes } from 'node:crypto';
import { badRequest, notFound, SimulatorRefusal } from '../simulator-kit/requests.js';
import {
  type AccountBook,
  availableOf,
  type CurrencyTotal,
  createAccountBook,
  type HeldAccount,
  refuseUncovered,
} from './simulator-accounts.js';
import { createJournal, type Journal } from './simulator-journal.js';
import { type Move, needsOf } from './simulator-moves.js';

export const STATUSES = ['completed', 'pending', 'failed'] as const;
const [COMPLETED, PENDING, FAILED] = [0, 1, 2] as const;

/** A transaction that is in flight. */
export interface Hold {
  readonly transaction: number;
  readonly from: number;
  readonly to: number;
  readonly amount: bigint;
  readonly createdAt: number;
}

/** What one account at Pert has: addresses, totals, and the journal of how they came about. */
export interface Ledger {
  readonly accounts: AccountBook;
  readonly journal: Journal;
  readonly holds: Map<number, Hold>;
  /** In every id of a transaction, so that none is given out twice after a reset. */
  readonly salt: string;
  /** How many transactions were made. */
  transactions: number;
}

/** An empty ledger whose journal begins at that position. */
export function createLedger(start: number, salt = inventSalt()): Ledger {
  return { accounts: createAccountBook(), journal: createJournal(start), holds: new Map(), salt, transactions: 0 };
}

/** Makes the transactions of a move, all or none, and answers the position of the first and the last. */
export function moveMoney(ledger: Ledger, move: Move): { first: number; last: number } {
  refuseWhatIsNotThere(ledger, move);
  const { from, to, currency, amount, held } = move;
  const numbersOf = (list: readonly string[] | null) =>
    list?.map((address) => ledger.accounts.of(address, currency).number) ?? [0];
  const [givers, takers] = [numbersOf(from), numbersOf(to)];
  const first = ledger.journal.last() + 1;
  for (let turn = 0; turn < (move.count ?? 1); turn += 1) {
    const hold = {
      transaction: ledger.transactions,
      from: givers[turn % givers.length] ?? 0,
      to: takers[turn % takers.length] ?? 0,
      amount,
      createdAt: Date.now(),
    };
    ledger.transactions += 1;
    if (held) beginHold(ledger, hold);
    else complete(ledger, hold);
  }
  return { first, last: ledger.journal.last() };
}

/** Ends what is in flight: the money goes, or it stays. Answers the position of the new version. */
export function settleHold(ledger: Ledger, id: string, status: unknown): number {
  if (status !== 'completed' && status !== 'failed') throw badRequest('status must be completed or failed');
  const transaction = numberOfId(ledger, id);
  const hold = ledger.holds.get(transaction);
  if (!hold) throw new SimulatorRefusal(409, 'invalid_state', 'only what is held can be settled');
  ledger.holds.delete(transaction);
  ledger.accounts.change(ledger.accounts.byNumber(hold.from), { held: -hold.amount });
  return status === 'completed' ? complete(ledger, hold) : note(ledger, { ...hold, amount: 0n }, FAILED);
}

/** Freezes so much of a currency, in place of what was frozen. */
export function freeze(ledger: Ledger, currency: string, frozen: bigint): CurrencyTotal {
  const total = ledger.accounts.totals().find((each) => each.currency === currency);
  if (!total) throw notFound(`there is nothing in ${currency}`);
  refuseUncovered(currency, { has: total.balance - total.held, wants: frozen });
  total.frozen = frozen;
  return total;
}

/** Puts what is in flight back, as it was before a restart. */
export function restoreHold({ accounts, holds }: Ledger, hold: Hold): void {
  holds.set(hold.transaction, hold);
  accounts.change(accounts.byNumber(hold.from), { held: hold.amount });
}

/** `ptx_`, the salt, and seven letters that do not tell the number. */
export function idOfTransaction({ salt }: Ledger, transaction: number): string {
  let rest = Math.imul(transaction, SPREAD) >>> 0;
  let letters = '';
  for (let place = 0; place < 7; place += 1) {
    letters += LETTERS.charAt(rest % LETTERS.length);
    rest = Math.floor(rest / LETTERS.length);
  }
  return `ptx_${salt}${letters}`;
}

const LETTERS = 'bcdfghjkmnpqrstvwxyzaeiou';
// Odd, so that each number of 32 bits has one image, and the second undoes the first.
const SPREAD = 2_654_435_761;
const GATHER = 244_002_641;

function numberOfId(ledger: Ledger, id: string): number {
  let spread = 0;
  for (const letter of [...id.slice(-7)].reverse()) spread = spread * LETTERS.length + LETTERS.indexOf(letter);
  const transaction = Math.imul(spread, GATHER) >>> 0;
  if (transaction >= ledger.transactions || idOfTransaction(ledger, transaction) !== id) {
    throw notFound(`there is no transaction ${id}`);
  }
  return transaction;
}

function inventSalt(): string {
  return Array.from(randomBytes(8), (byte) => LETTERS.charAt(byte % LETTERS.length)).join('');
}

function refuseWhatIsNotThere(ledger: Ledger, move: Move): void {
  const needs = needsOf(move);
  if (needs.size === 0) return;
  for (const [address, wants] of needs) {
    const { balance = 0n, held = 0n } = ledger.accounts.find(address, move.currency) ?? {};
    refuseUncovered(address, { has: balance - held, wants });
  }
  if (move.to !== null && !move.held) return;
  const wants = [...needs.values()].reduce((sum, each) => sum + each, 0n);
  refuseUncovered(move.currency, { has: availableOf(ledger.accounts.total(move.currency)), wants });
}

function beginHold(ledger: Ledger, hold: Hold): void {
  restoreHold(ledger, hold);
  note(ledger, { ...hold, amount: 0n }, PENDING);
}

function complete(ledger: Ledger, hold: Hold): number {
  const { accounts } = ledger;
  if (hold.from !== 0) accounts.change(accounts.byNumber(hold.from), { balance: -hold.amount });
  if (hold.to !== 0) accounts.change(accounts.byNumber(hold.to), { balance: hold.amount });
  return note(ledger, hold, COMPLETED);
}

function note({ accounts, journal }: Ledger, entry: Hold, status: number): number {
  const from = entry.from === 0 ? null : accounts.byNumber(entry.from);
  const to = entry.to === 0 ? null : accounts.byNumber(entry.to);
  const position = journal.append({
    ...entry,
    status,
    fromBalance: from?.balance ?? 0n,
    toBalance: to?.balance ?? 0n,
  });
  for (const side of [from, to]) stamp(side, position);
  return position;
}

function stamp(account: HeldAccount | null, position: number): void {
  if (account) account.position = position;
}
