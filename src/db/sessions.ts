import { createHash, randomBytes } from 'node:crypto';
import { type Author, authorArguments } from './author.js';
import type { Tx } from './transaction.js';

/** Who has signed in, as that person is now. */
export interface Session {
  readonly userId: string;
  readonly login: string;
  readonly roles: readonly string[];
  /** Of a merchant's requester. */
  readonly merchantId: string | null;
  readonly merchantName: string | null;
  /** What every form of this session carries. */
  readonly csrf: string;
  readonly openedAt: Date;
  /** When the person last proved to be there by a passkey. */
  readonly stepUpAt: Date | null;
}

export type SessionAudience = 'console' | 'cabinet';

/**
 * Uses up a one-time link and opens a session with a fresh token, of which only the hash is kept; null where the link
 * was used, is too old, or belongs to the other audience (then it is not used up).
 */
export async function openSession(
  db: Tx,
  of: { readonly link: string; readonly audience: SessionAudience },
): Promise<{ token: string; userId: string } | null> {
  const token = randomBytes(32).toString('base64url');
  const rows = await db.query<{ user: string | null }>('select sverka.open_session($1, $2, $3, $4) as user', [
    hashToken(of.link),
    hashToken(token),
    randomBytes(32),
    of.audience,
  ]);
  const userId = rows[0]?.user ?? null;
  return userId === null ? null : { token, userId };
}

/** The session of that token; null when it is idle, over, revoked, of the other audience, or its person disabled. */
export async function readSession(
  db: Tx,
  of: { readonly token: string; readonly audience: SessionAudience },
): Promise<Session | null> {
  const rows = await db.query<Omit<Session, 'csrf'> & { csrf: Buffer }>(
    `select user_id as "userId", login, roles, merchant_id as "merchantId", merchant_name as "merchantName", csrf,
       opened_at as "openedAt", step_up_at as "stepUpAt" from sverka.read_session($1, $2)`,
    [hashToken(of.token), of.audience],
  );
  return rows[0] ? { ...rows[0], csrf: rows[0].csrf.toString('base64url') } : null;
}

/** Ends the session of that token. */
export async function revokeSession(db: Tx, token: string): Promise<void> {
  await db.query('select sverka.revoke_session($1)', [hashToken(token)]);
}

/** Ends every session of a person; answers how many there were. */
export async function revokeSessionsOf(db: Tx, userId: string, by: Author | null = null): Promise<number> {
  const rows = await db.query<{ count: number }>('select sverka.revoke_sessions($1, $2, $3) as count', [
    userId,
    ...authorArguments(by),
  ]);
  return rows[0]?.count ?? 0;
}

/** A session as an admin sees it. */
export interface SessionListing {
  readonly audience: SessionAudience;
  readonly createdAt: Date;
  readonly lastSeenAt: Date;
  /** When it ends if nothing more happens. */
  readonly endsAt: Date;
}

/** The sessions of a person that are open, newest first. */
export async function listSessions(db: Tx, userId: string): Promise<SessionListing[]> {
  return db.query<SessionListing>(
    `select audience, created_at as "createdAt", last_seen_at as "lastSeenAt", ends_at as "endsAt"
     from sverka.sessions_of($1)`,
    [userId],
  );
}

/** All that is kept of a token. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
