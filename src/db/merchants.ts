import { createHash, randomBytes } from 'node:crypto';
import type { Book } from '../domain/books.js';
import { type Author, authorArguments } from './author.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

export interface MerchantRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
}

/** A key as the console and the command line show it: never the key itself. */
export interface ApiKeyListing {
  readonly id: string;
  readonly merchantId: string;
  readonly book: Book;
  readonly access: 'full' | 'read_only';
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
}

/** Makes a merchant through the admin's function; answers the id. */
export async function createMerchant(db: Tx, name: string, by: Author | null = null): Promise<string> {
  const id = newId('merchant');
  await db.query('select sverka.create_merchant($1, $2, $3, $4)', [id, name, ...authorArguments(by)]);
  return id;
}

const MERCHANT_SELECT = 'select id, name, created_at as "createdAt" from sverka.merchant';

/** Newest first; `after` is the last id of the page before. */
export async function listMerchants(
  db: Tx,
  page: { readonly limit: number; readonly after: string | null },
): Promise<MerchantRecord[]> {
  return db.query<MerchantRecord>(
    `${MERCHANT_SELECT} where $2::text is null or (created_at, id) <
       (select m.created_at, m.id from sverka.merchant m where m.id = $2)
     order by created_at desc, id desc limit $1`,
    [page.limit, page.after],
  );
}

export async function findMerchant(db: Tx, id: string): Promise<MerchantRecord | null> {
  const rows = await db.query<MerchantRecord>(`${MERCHANT_SELECT} where id = $1`, [id]);
  return rows[0] ?? null;
}

/**
 * Makes a key of one merchant and one book. `secret` is the key itself (`sk_live_…`): it is answered this once, and
 * only its SHA-256 is kept. Throws `ConstraintViolation` for a merchant that does not exist.
 */
export async function createApiKey(
  db: Tx,
  of: { readonly merchantId: string; readonly book: Book; readonly access: 'full' | 'read_only' },
  by: Author | null = null,
): Promise<{ id: string; secret: string }> {
  const id = newId('apiKey');
  const secret = `sk_${of.book}_${base62(randomBytes(32))}`;
  const hash = createHash('sha256').update(secret).digest();
  await db.query('select sverka.create_api_key($1, $2, $3, $4, $5, $6, $7)', [
    ...[id, of.merchantId, of.book, of.access, hash],
    ...authorArguments(by),
  ]);
  return { id, secret };
}

/** From now on the key is refused. False when there is no such key; revoking again changes nothing. */
export async function revokeApiKey(db: Tx, id: string, by: Author | null = null): Promise<boolean> {
  const rows = await db.query<{ found: boolean }>('select sverka.revoke_api_key($1, $2, $3) as found', [
    id,
    ...authorArguments(by),
  ]);
  return rows[0]?.found ?? false;
}

/** The merchant's keys, newest first, revoked ones too. */
export async function listApiKeys(db: Tx, merchantId: string): Promise<ApiKeyListing[]> {
  return db.query<ApiKeyListing>(
    `select id, merchant_id as "merchantId", book, access, created_at as "createdAt", revoked_at as "revokedAt"
     from sverka.api_key where merchant_id = $1 order by created_at desc, id desc`,
    [merchantId],
  );
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 32 bytes as 43 characters. */
function base62(bytes: Buffer): string {
  let value = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let i = 0; i < 43; i += 1) {
    text = (BASE62[Number(value % 62n)] ?? '') + text;
    value /= 62n;
  }
  return text;
}
