import type { DepositRecord } from '../contracts/deposit.js';
import { DEPOSIT_SELECT, type DepositRow, toDepositRecord } from './deposits.js';
import { createWhere, type Filters } from './lists.js';
import type { Tx } from './transaction.js';

/**
 * Deposits of all merchants, newest first: for the operator's own tools. Filters are by column of `d` (deposit) or `c`
 * (customer), several values are OR. One row more than `limit` when there is more.
 */
export async function listAllDeposits(
  db: Tx,
  filters: Filters,
  page: { readonly limit: number; readonly after: string | null },
): Promise<DepositRecord[]> {
  const where = createWhere();
  where.add(() => 'true');
  for (const [column, values] of Object.entries(filters)) {
    if (values?.length) where.add((p) => `${column} = any (${p(values)}::text[])`);
  }
  if (page.after !== null) {
    where.add((p) => `(d.created_at, d.id) < (select created_at, id from sverka.deposit where id = ${p(page.after)})`);
  }
  const rows = await db.query<DepositRow>(
    `${DEPOSIT_SELECT} where ${where.sql()}
      order by d.created_at desc, d.id desc limit ${where.parameter(page.limit + 1)}`,
    where.params,
  );
  return rows.map(toDepositRecord);
}
