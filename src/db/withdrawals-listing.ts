import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import type { Filters } from './lists.js';
import { narrowToEach, readSorted, type SortedPage } from './sorted-list.js';
import type { Tx } from './transaction.js';
import { toWithdrawalRecord, WITHDRAWAL_LIST, type WithdrawalRow } from './withdrawals.js';

/**
 * Withdrawals of all merchants, newest first: for the operator's own tools. Filters are by column of `w`, several
 * values are OR. One row more than `limit` when there is more.
 */
export async function listAllWithdrawals(
  db: Tx,
  filters: Filters,
  page: Pick<SortedPage, 'limit' | 'after'>,
): Promise<WithdrawalRecord[]> {
  const rows = await readSorted<WithdrawalRow>(db, WITHDRAWAL_LIST, {
    page: { ...page, by: 'w.created_at', descending: true },
    narrow: (where) => narrowToEach(where, filters),
  });
  return rows.map(toWithdrawalRecord);
}
