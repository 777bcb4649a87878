import { type Author, authorArguments } from './author.js';
import { hashToken } from './sessions.js';
import type { Tx } from './transaction.js';

/** A passkey of a person, as its signatures are checked. */
export interface Passkey {
  /** Of the authenticator, in base64url. */
  readonly id: string;
  readonly publicKey: Buffer;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What a passkey is asked to sign, by whom and for what; `seenHash` is null to register one. */
export interface PasskeyChallenge {
  readonly challenge: Buffer;
  /** Token of the session that asks. */
  readonly token: string;
  readonly seenHash: Buffer | null;
}

/** Keeps a challenge for five minutes. */
export async function beginPasskey(db: Tx, { token, challenge, seenHash }: PasskeyChallenge): Promise<void> {
  await db.query('select sverka.begin_passkey($1, $2, $3)', [hashToken(token), challenge, seenHash]);
}

/** Uses it up; false where it was never asked, or too long ago, was answered, or is of another session or hash. */
export async function takePasskeyChallenge(db: Tx, of: PasskeyChallenge): Promise<boolean> {
  const { token, challenge, seenHash } = of;
  const rows = await db.query<{ taken: boolean }>('select sverka.take_passkey_challenge($1, $2, $3) as taken', [
    ...[hashToken(token), challenge, seenHash],
  ]);
  return rows[0]?.taken ?? false;
}

/** The passkeys of a person, oldest first. */
export async function listPasskeys(db: Tx, userId: string): Promise<Passkey[]> {
  return db.query<Passkey>(
    `select credential_id as id, public_key as "publicKey", counter::float8 as counter, transports,
       created_at as "createdAt", last_used_at as "lastUsedAt"
     from sverka.passkey where user_id = $1 and removed_at is null order by created_at`,
    [userId],
  );
}

/** Adds one to a person. Throws `UniqueViolation` where it is known already. */
export async function addPasskey(
  db: Tx,
  of: Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports'> & { readonly userId: string },
  by: Author | null = null,
): Promise<void> {
  const { userId, id, publicKey, counter, transports } = of;
  await db.query('select sverka.add_passkey($1, $2, $3, $4, $5, $6, $7)', [
    ...[userId, id, publicKey, counter, transports],
    ...authorArguments(by),
  ]);
}

export async function removePasskey(
  db: Tx,
  { userId, id }: { readonly userId: string; readonly id: string },
  by: Author | null = null,
): Promise<void> {
  await db.query('select sverka.remove_passkey($1, $2, $3, $4)', [userId, id, ...authorArguments(by)]);
}

/** Counts a signature that was right; false where its counter did not grow, so that it may be of a copy. */
export async function usePasskey(
  db: Tx,
  { token, id, counter }: { readonly token: string; readonly id: string; readonly counter: number },
): Promise<boolean> {
  const rows = await db.query<{ used: boolean }>('select sverka.use_passkey($1, $2, $3) as used', [
    ...[hashToken(token), id, counter],
  ]);
  return rows[0]?.used ?? false;
}
