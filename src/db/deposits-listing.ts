import type { DepositRecord } from '../contracts/deposit.js';
import { DEPOSIT_LIST, type DepositRow, toDepositRecord } from './deposits.js';
import type { Filters } from './lists.js';
import { narrowToEach, readSorted, type SortedPage } from './sorted-list.js';
import type { Tx } from './transaction.js';

/**
 * Deposits of all merchants, newest first: for the operator's own tools. Filters are by column of `d` (deposit) or `c`
 * (customer), several values are OR. One row more than `limit` when there is more.
 */
export async function listAllDeposits(
  db: Tx,
  filters: Filters,
  page: Pick<SortedPage, 'limit' | 'after'>,
): Promise<DepositRecord[]> {
  const rows = await readSorted<DepositRow>(db, DEPOSIT_LIST, {
    page: { ...page, by: 'd.created_at', descending: true },
    narrow: (where) => narrowToEach(where, filters),
  });
  return rows.map(toDepositRecord);
}
