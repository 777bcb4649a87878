import type { DepositRecord } from '../contracts/deposit.js';
import type { DepositAddressRecord } from '../contracts/deposit-address.js';
import type { Book } from '../domain/books.js';
import { DEPOSIT_ADDRESS_SELECT } from './deposit-addresses.js';
import { DEPOSIT_LIST, type DepositRow, toDepositRecord } from './deposits.js';
import type { Tx } from './transaction.js';

/** Whose rows a caller may see: one merchant's, of one book. */
export interface Scope {
  readonly book: Book;
  readonly merchantId: string;
}

/** Filters by column name; an absent or empty one does not filter, several values are OR. */
export type Filters = Readonly<Record<string, readonly string[] | undefined>>;

/** A part of a list, newest first: what comes after the row of id `after`. */
export interface Page {
  readonly after: string | null;
  /** Rows wanted; one more is read, to see whether there is more. */
  readonly limit: number;
  readonly createdFrom: string | undefined;
  readonly createdTo: string | undefined;
}

/** What a caller asks for. */
export interface Wanted<Narrowed = Filters> {
  readonly filters: Narrowed;
  readonly page: Page;
}

/** Collects conditions and their parameters, so that each value stands beside its column. */
export interface Where {
  add(condition: (parameter: (value: unknown) => string) => string): void;
  parameter(value: unknown): string;
  readonly sql: () => string;
  readonly params: unknown[];
}

export function createWhere(): Where {
  const conditions: string[] = [];
  const params: unknown[] = [];
  const parameter = (value: unknown) => {
    params.push(value);
    return `$${params.length}`;
  };
  return {
    add: (condition) => void conditions.push(condition(parameter)),
    parameter,
    sql: () => conditions.join(' and '),
    params,
  };
}

export async function listDeposits(db: Tx, of: Scope, wanted: Wanted): Promise<DepositRecord[]> {
  const { sql, params } = listQuery(DEPOSIT_LIST, of, wanted);
  return (await db.query<DepositRow>(sql, params)).map(toDepositRecord);
}

export function listDepositAddresses(db: Tx, of: Scope, wanted: Wanted): Promise<DepositAddressRecord[]> {
  const from = { select: DEPOSIT_ADDRESS_SELECT, table: 'sverka.deposit_address', alias: 'a' };
  const { sql, params } = listQuery(from, of, wanted);
  return db.query<DepositAddressRecord>(sql, params);
}

/**
 * One page of a subject's table, newest first. The position is the id of the last row seen: rows are never deleted, so
 * a cursor stays valid for ever, and its time is compared to the microsecond without leaving the database.
 */
export function listQuery(
  from: { select: string; table: string; alias: string },
  of: Scope,
  { filters, page }: Wanted,
): { sql: string; params: unknown[] } {
  const { alias } = from;
  const where = createWhere();
  where.add((p) => `${alias}.book = ${p(of.book)} and ${alias}.merchant_id = ${p(of.merchantId)}`);
  for (const [column, values] of Object.entries(filters)) {
    if (values?.length) where.add((p) => `${column} = any (${p(values)}::text[])`);
  }
  addPeriod(where, `${alias}.created_at`, page);
  if (page.after !== null) {
    where.add((p) => {
      const seen = p(page.after);
      return `(${alias}.created_at, ${alias}.id) < (select created_at, id from ${from.table} where id = ${seen})`;
    });
  }
  const order = `order by ${alias}.created_at desc, ${alias}.id desc`;
  const sql = `${from.select} where ${where.sql()} ${order} limit ${where.parameter(page.limit + 1)}`;
  return { sql, params: where.params };
}

/** `created_from` is inclusive, `created_to` exclusive. */
export function addPeriod(where: Where, column: string, page: Pick<Page, 'createdFrom' | 'createdTo'>): void {
  if (page.createdFrom !== undefined) where.add((p) => `${column} >= ${p(page.createdFrom)}::timestamptz`);
  if (page.createdTo !== undefined) where.add((p) => `${column} < ${p(page.createdTo)}::timestamptz`);
}
