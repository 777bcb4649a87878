import type { Tx } from './transaction.js';

/** Logins by id, for a page that names who did what; an id that is nobody's is left out. */
export async function readLogins(db: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return readNames(db, 'select id, login as name from sverka."user" where id = any ($1)', ids);
}

/** Names of merchants by id. */
export async function readMerchantNames(db: Tx, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  return readNames(db, 'select id, name from sverka.merchant where id = any ($1)', ids);
}

async function readNames(db: Tx, sql: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const unique = [...new Set(ids)];
  if (unique.length === 0) return new Map();
  const rows = await db.query<{ id: string; name: string }>(sql, [unique]);
  return new Map(rows.map(({ id, name }) => [id, name]));
}
