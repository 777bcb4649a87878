import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { createWhere, type Filters } from './lists.js';
import type { Tx } from './transaction.js';
import { toWithdrawalRecord, WITHDRAWAL_COLUMNS, type WithdrawalRow } from './withdrawals.js';

/**
 * Withdrawals of all merchants, newest first: for the operator's own tools. Filters are by column of `w`, several
 * values are OR. One row more than `limit` when there is more.
 */
export async function listAllWithdrawals(
  db: Tx,
  filters: Filters,
  page: { readonly limit: number; readonly after: string | null },
): Promise<WithdrawalRecord[]> {
  const where = createWhere();
  where.add(() => 'true');
  for (const [column, values] of Object.entries(filters)) {
    if (values?.length) where.add((p) => `${column} = any (${p(values)}::text[])`);
  }
  if (page.after !== null) {
    where.add(
      (p) => `(w.created_at, w.id) < (select created_at, id from sverka.withdrawal where id = ${p(page.after)})`,
    );
  }
  const rows = await db.query<WithdrawalRow>(
    `select ${WITHDRAWAL_COLUMNS} from sverka.withdrawal w where ${where.sql()}
      order by w.created_at desc, w.id desc limit ${where.parameter(page.limit + 1)}`,
    where.params,
  );
  return rows.map(toWithdrawalRecord);
}
