import type { Book } from '../domain/books.js';
import { createWhere } from './lists.js';
import type { ApiKeyListing } from './merchants.js';
import type { Tx } from './transaction.js';

const SELECT = `select k.id, k.merchant_id as "merchantId", k.book, k.access, k.created_at as "createdAt",
    k.revoked_at as "revokedAt" from sverka.api_key k`;

/** Keys of all merchants, or of one, newest first, revoked ones too; one row more than `limit` when there is more. */
export async function listAllApiKeys(
  db: Tx,
  filters: { readonly merchantId: string | null; readonly book: Book | null },
  page: { readonly limit: number; readonly after: string | null },
): Promise<ApiKeyListing[]> {
  const where = createWhere();
  where.add(() => 'true');
  if (filters.merchantId !== null) where.add((p) => `k.merchant_id = ${p(filters.merchantId)}`);
  if (filters.book !== null) where.add((p) => `k.book = ${p(filters.book)}`);
  if (page.after !== null) {
    where.add((p) => `(k.created_at, k.id) < (select created_at, id from sverka.api_key where id = ${p(page.after)})`);
  }
  return db.query<ApiKeyListing>(
    `${SELECT} where ${where.sql()} order by k.created_at desc, k.id desc limit ${where.parameter(page.limit + 1)}`,
    where.params,
  );
}

/** The key of that id, also a revoked one; never the key itself. */
export async function findApiKeyListing(db: Tx, id: string): Promise<ApiKeyListing | null> {
  const rows = await db.query<ApiKeyListing>(`${SELECT} where k.id = $1`, [id]);
  return rows[0] ?? null;
}
