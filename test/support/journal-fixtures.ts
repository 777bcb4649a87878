import type pg from 'pg';
import { openAccounts } from '../../src/db/accounts.js';
import { type PostResult, post } from '../../src/db/journal.js';
import { newId } from '../../src/db/new-id.js';
import { inTransaction } from '../../src/db/transaction.js';
import type { Book } from '../../src/domain/books.js';
import { type AccountId, leg, type MovementInstruction, type Owner } from '../../src/domain/journal.js';
import type { OperationKey } from '../../src/domain/operation-key.js';

/** One owner's accounts in one asset, as most tests need them. */
export interface Purse {
  readonly owner: Owner;
  readonly asset: string;
  readonly wallet: AccountId;
  readonly receivable: AccountId;
  readonly card: AccountId;
  readonly hold: AccountId;
  readonly clearing: AccountId;
}

/** Opens the accounts of a new merchant, or of the owner named. */
export async function openPurse(
  pool: pg.Pool,
  options: { asset?: string; book?: Book; merchantId?: string } = {},
): Promise<Purse> {
  const owner = { book: options.book ?? 'live', merchantId: options.merchantId ?? newId('merchant'), customerId: null };
  const asset = options.asset ?? 'EUR';
  const ids = await inTransaction(pool, (tx) =>
    openAccounts(tx, [
      { ...owner, asset, kind: 'wallet' },
      { ...owner, asset, kind: 'receivable' },
      { ...owner, asset, kind: 'card', ref: 'card_1' },
      { ...owner, asset, kind: 'hold', ref: 'iss_1' },
      { ...owner, asset, kind: 'clearing:custody' },
    ]),
  );
  const [wallet, receivable, card, hold, clearing] = ids;
  return { owner, asset, wallet, receivable, card, hold, clearing };
}

let keys = 0;

/** An operation key that no other test has; the same name gives the same key. */
export function keyOf(name = `made-${process.pid}-${(keys += 1)}`, operation = 'credit'): OperationKey {
  const instrument = { book: 'live' as const, provider: 'custody', account: 'main-live', kind: 'deposit', ref: [name] };
  return { instrument, generation: 0, operation };
}

/** A movement of a kind that does not matter, with a key of its own unless one is given. */
export function movement(
  lines: MovementInstruction['lines'],
  rest: Partial<Omit<MovementInstruction, 'lines'>> = {},
): MovementInstruction {
  return { kind: 'transfer', key: keyOf(), subject: { type: 'deposit', id: 'dep_test' }, lines, ...rest };
}

/** One post in a transaction of its own. */
export function postNow(pool: pg.Pool, ...movements: MovementInstruction[]): Promise<PostResult[]> {
  return inTransaction(pool, (tx) => post(tx, movements, { traceId: null }));
}

/** Puts money on accounts of an owner out of his clearing account: `fund(pool, purse, { wallet: 100n })`. */
export async function fund(
  pool: pg.Pool,
  purse: Purse,
  amounts: Partial<Record<'wallet' | 'card' | 'hold', bigint>>,
): Promise<void> {
  for (const [kind, amount] of Object.entries(amounts)) {
    const account = purse[kind as keyof typeof amounts];
    const [result] = await postNow(pool, movement([leg(purse.clearing, -amount), leg(account, amount)]));
    expect(result?.outcome).toBe('posted');
  }
}

/** What the journal shows of an account: its last entry's balance. */
export async function balanceOf(pool: pg.Pool, account: AccountId): Promise<bigint> {
  const { rows } = await pool.query<{ balance: string }>(
    'select balance from ledger.account_balance where account_id = $1',
    [account],
  );
  return BigInt(rows[0]?.balance ?? 0);
}
