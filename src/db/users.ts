import { type Author, authorArguments } from './author.js';
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

/**
 * Makes a person through the admin's function, of ours or a merchant's requester; answers the id. Throws
 * `UniqueViolation` for a login taken, `ConstraintViolation` for roles that do not fit.
 */
export async function createUser(
  db: Tx,
  of: { readonly login: string; readonly roles: readonly string[]; readonly merchantId?: string | null },
  by: Author | null = null,
): Promise<string> {
  const id = newId('user');
  await db.query('select sverka.create_user($1, $2, $3, $4, $5, $6)', [
    ...[id, of.login, of.merchantId ?? null, of.roles],
    ...authorArguments(by),
  ]);
  return id;
}

/** What a person may do, from the next request on. Throws `ConstraintViolation` for roles that do not fit. */
export async function setUserRoles(
  db: Tx,
  { id, roles }: { readonly id: string; readonly roles: readonly string[] },
  by: Author | null = null,
): Promise<void> {
  await db.query('select sverka.set_user_roles($1, $2, $3, $4)', [id, roles, ...authorArguments(by)]);
}

/** Shuts a person out, or lets a person in again, from the next request on. */
export async function setUserDisabled(
  db: Tx,
  { id, isDisabled }: { readonly id: string; readonly isDisabled: boolean },
  by: Author | null = null,
): Promise<void> {
  await db.query('select sverka.set_user_disabled($1, $2, $3, $4)', [id, isDisabled, ...authorArguments(by)]);
}
