import { createHash } from 'node:crypto';
import { findApiKey } from '../../db/api-keys.js';
import type { Tx } from '../../db/transaction.js';
import { Problem } from '../problem.js';
import type { Caller } from './call.js';

const KEY = /^sk_(live|test)_[0-9A-Za-z]{43}$/;

/**
 * Whose key an `Authorization` header holds. Nothing is kept between calls, so a revoked key ends at once.
 * Throws `authentication`, always in the same words: absent, malformed, unknown, revoked and of the other book look
 * alike.
 */
export async function authenticate(db: Tx, authorization: string | undefined): Promise<Caller> {
  const key = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const book = KEY.exec(key)?.[1];
  if (book === undefined) throw unauthenticated();
  const found = await findApiKey(db, createHash('sha256').update(key).digest());
  if (!found || found.revoked || found.book !== book) throw unauthenticated();
  return { keyId: found.id, merchantId: found.merchantId, book: found.book, access: found.access };
}

function unauthenticated(): Problem {
  return new Problem('authentication', { headers: { 'www-authenticate': 'Bearer' } });
}
