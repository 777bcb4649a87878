import { createWhere, type Filters, type Where } from './lists.js';
import type { Tx } from './transaction.js';

/** What a list reads from: columns and joins, the table of its rows and its alias there. */
export interface ListSource {
  readonly select: string;
  readonly table: string;
  readonly alias: string;
}

/** One page of a list, in an order that its reader chose. */
export interface SortedPage {
  /** An expression over the alias that is never null; rows of one value follow in the order of their ids. */
  readonly by: string;
  readonly descending: boolean;
  /** Id of the last row of the page before; it is found again where it stands now. */
  readonly after: string | null;
  /** Rows wanted; one more is read, to see whether there is more. */
  readonly limit: number;
}

/** Reads one page; `narrow` adds the conditions. For tools of ours: nothing binds it to a merchant but a condition. */
export async function readSorted<Row extends object>(
  db: Tx,
  from: ListSource,
  of: { readonly page: SortedPage; readonly narrow: (where: Where) => void },
): Promise<Row[]> {
  const { alias, table } = from;
  const { by, descending, after, limit } = of.page;
  const where = createWhere();
  where.add(() => 'true');
  of.narrow(where);
  if (after !== null) {
    where.add((p) => {
      const seen = `(select ${by}, ${alias}.id from ${table} ${alias} where ${alias}.id = ${p(after)})`;
      return `(${by}, ${alias}.id) ${descending ? '<' : '>'} ${seen}`;
    });
  }
  const direction = descending ? 'desc' : 'asc';
  const order = `${by} ${direction}, ${alias}.id ${direction}`;
  return db.query<Row>(
    `${from.select} where ${where.sql()} order by ${order} limit ${where.parameter(limit + 1)}`,
    where.params,
  );
}

/** Adds `column = value` for a value that is set. */
export function narrowTo(where: Where, column: string, value: string | undefined): void {
  if (value !== undefined) where.add((p) => `${column} = ${p(value)}`);
}

/** Adds `column in (values)` for each column that has some. */
export function narrowToEach(where: Where, filters: Filters): void {
  for (const [column, values] of Object.entries(filters)) {
    if (values?.length) where.add((p) => `${column} = any (${p(values)}::text[])`);
  }
}

/** Adds a period of days, both included, in UTC. */
export function narrowToDays(where: Where, column: string, days: { from: string | undefined; to: string | undefined }) {
  if (days.from !== undefined) where.add((p) => `${column} >= ${p(days.from)}::date`);
  if (days.to !== undefined) where.add((p) => `${column} < ${p(days.to)}::date + 1`);
}
