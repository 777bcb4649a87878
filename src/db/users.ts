import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** A person with an own login: one of ours, or a merchant's `requester`. */
export interface UserRecord {
  readonly id: string;
  readonly login: string;
  readonly roles: readonly string[];
  readonly disabledAt: Date | null;
}

/** The person of that login, also a disabled one; null when there is none. */
export async function findUser(db: Tx, login: string): Promise<UserRecord | null> {
  const rows = await db.query<UserRecord>(
    'select id, login, roles, disabled_at as "disabledAt" from sverka."user" where login = $1',
    [login],
  );
  return rows[0] ?? null;
}

/** Makes a person of ours through the admin's function; answers the id. Throws `UniqueViolation` for a login taken. */
export async function createUser(
  db: Tx,
  of: { readonly login: string; readonly roles: readonly string[] },
): Promise<string> {
  const id = newId('user');
  await db.query('select sverka.create_user($1, $2, null, $3)', [id, of.login, of.roles]);
  return id;
}
