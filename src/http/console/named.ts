import { readMerchantNames } from '../../db/names.js';
import type { Tx } from '../../db/transaction.js';

/** A row with the name of the merchant that it is about. */
export type Named<Row> = Row & { readonly merchant: string };

/** Adds the merchants' names to a page of rows. */
export async function withMerchants<Row extends { readonly merchantId: string }>(
  db: Tx,
  rows: readonly Row[],
): Promise<Named<Row>[]> {
  const names = await readMerchantNames(
    db,
    rows.map(({ merchantId }) => merchantId),
  );
  return rows.map((row) => ({ ...row, merchant: names.get(row.merchantId) ?? row.merchantId }));
}
