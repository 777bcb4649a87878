import type { Book } from '../domain/books.js';
import type { Tx } from './transaction.js';

/** A merchant's API key as the database keeps it: never the key itself. */
export interface ApiKeyRecord {
  readonly id: string;
  readonly merchantId: string;
  readonly book: Book;
  readonly access: 'full' | 'read_only';
  readonly revoked: boolean;
}

/** The key of that SHA-256, also a revoked one; null when there is none. */
export async function findApiKey(db: Tx, hash: Uint8Array): Promise<ApiKeyRecord | null> {
  const rows = await db.query<ApiKeyRecord>(
    `select id, merchant_id as "merchantId", book, access, revoked_at is not null as revoked
       from sverka.api_key where hash = $1`,
    [hash],
  );
  return rows[0] ?? null;
}
