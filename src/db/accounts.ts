import type { AccountId, AccountKind, AccountName, Owner } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import { movementId } from './new-id.js';
import type { Tx } from './transaction.js';

/** An account with what stands on it, in minor units of its asset. */
export interface AccountBalance extends Owner {
  readonly account: AccountId;
  readonly kind: AccountKind;
  readonly ref: string | null;
  readonly asset: string;
  readonly decimals: number;
  /** How many entries it has. */
  readonly seq: bigint;
  readonly balance: Minor;
  /** `mov_…` of its last entry, null when it never moved. */
  readonly lastMovementId: string | null;
}

/** One id for each name. */
type AccountIds<Names extends readonly AccountName[]> = { -readonly [At in keyof Names]: AccountId };

/**
 * The ids of accounts, opened where they are missing, in the order asked for. A wallet always comes with its
 * receivable. Safe for any number of callers at once; call it before `post`, in the same transaction or an earlier one.
 * Throws `BadValue` for an asset that is not listed and `ConstraintViolation` for an account that cannot be.
 */
export async function openAccounts<const Names extends readonly AccountName[]>(
  tx: Tx,
  wanted: Names,
): Promise<AccountIds<Names>> {
  if (wanted.length === 0) return [] as AccountIds<Names>;
  const [row] = await tx.query<{ ids: AccountId[] }>(
    'select ledger.open_accounts($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as ids',
    [
      wanted.map((account) => account.book),
      wanted.map((account) => account.merchantId),
      wanted.map((account) => account.customerId),
      wanted.map((account) => account.kind),
      wanted.map((account) => account.ref ?? ''),
      wanted.map((account) => account.asset),
    ],
  );
  if (row === undefined) throw new Error('ledger.open_accounts answered no row: the database is not of this version.');
  if (row.ids.length !== wanted.length) throw new Error('ledger.open_accounts did not answer all accounts.');
  return row.ids as AccountIds<Names>;
}

/** What stands on these accounts now, by id. To show, never to decide from: only `post` decides, under its locks. */
export async function readBalances(tx: Tx, accounts: readonly AccountId[]): Promise<Map<AccountId, AccountBalance>> {
  const rows = await tx.query<BalanceRow>(`${SELECT_BALANCES} where b.account_id = any ($1::bigint[])`, [accounts]);
  return new Map(rows.map((row) => [row.account_id, fromRow(row)]));
}

/** What stands on all accounts of one owner now, in the order of their ids. To show, never to decide from. */
export async function readOwnerBalances(tx: Tx, owner: Owner): Promise<AccountBalance[]> {
  const rows = await tx.query<BalanceRow>(
    `${SELECT_BALANCES}
      where b.book = $1 and b.merchant_id = $2
        and ${owner.customerId === null ? 'b.customer_id is null and $3::text is null' : 'b.customer_id = $3'}
      order by b.account_id`,
    [owner.book, owner.merchantId, owner.customerId],
  );
  return rows.map(fromRow);
}

const SELECT_BALANCES = `
  select b.account_id, b.book, b.merchant_id, b.customer_id, b.kind, nullif(b.ref, '') as ref, b.asset, b.decimals,
         b.seq, b.balance, m.key as last_key
    from ledger.account_balance b left join ledger.movement m on m.id = b.last_movement_id`;

interface BalanceRow {
  readonly account_id: AccountId;
  readonly book: Owner['book'];
  readonly merchant_id: string;
  readonly customer_id: string | null;
  readonly kind: AccountKind;
  readonly ref: string | null;
  readonly asset: string;
  readonly decimals: number;
  readonly seq: bigint;
  readonly balance: string;
  readonly last_key: Buffer | null;
}

function fromRow(row: BalanceRow): AccountBalance {
  return {
    account: row.account_id,
    book: row.book,
    merchantId: row.merchant_id,
    customerId: row.customer_id,
    kind: row.kind,
    ref: row.ref,
    asset: row.asset,
    decimals: row.decimals,
    seq: row.seq,
    balance: BigInt(row.balance),
    lastMovementId: row.last_key === null ? null : movementId(row.last_key),
  };
}
