import { randomBytes } from 'node:crypto';
import { type Author, authorArguments } from './author.js';
import { hashToken, type SessionAudience } from './sessions.js';
import type { Tx } from './transaction.js';

/** A person as an identity provider knows one. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
}

/** What a browser is sent away with, and must come back for. */
export interface SignInAttempt {
  readonly nonce: string;
  readonly verifier: string;
  /** The path of ours that the sign-in leads to. */
  readonly next: string;
}

/** Who asks: `state` travels through the identity provider, `browser` is a cookie; only hashes of them are kept. */
interface Asking {
  readonly state: string;
  readonly browser: string;
  readonly audience: SessionAudience;
}

/** Keeps a sign-in that is under way, for ten minutes. */
export async function beginSignIn(db: Tx, { state, browser, audience, ...of }: Asking & SignInAttempt): Promise<void> {
  await db.query('select sverka.begin_sign_in($1, $2, $3, $4, $5, $6)', [
    ...[hashToken(state), hashToken(browser), audience],
    ...[of.nonce, of.verifier, of.next],
  ]);
}

/** Takes it, once; null where there is none, it is too old, or it was begun in another browser or for other pages. */
export async function takeSignIn(db: Tx, { state, browser, audience }: Asking): Promise<SignInAttempt | null> {
  const rows = await db.query<SignInAttempt>('select nonce, verifier, next from sverka.take_sign_in($1, $2, $3)', [
    ...[hashToken(state), hashToken(browser), audience],
  ]);
  return rows[0] ?? null;
}

/** Opens a session as `openSession` does, for the person that an admin linked; null where there is none here. */
export async function openIdentitySession(
  db: Tx,
  { issuer, subject, audience }: Identity & { readonly audience: SessionAudience },
): Promise<{ token: string; userId: string } | null> {
  const token = randomBytes(32).toString('base64url');
  const rows = await db.query<{ user: string | null }>(
    'select sverka.open_identity_session($1, $2, $3, $4, $5) as user',
    [issuer, subject, hashToken(token), randomBytes(32), audience],
  );
  const userId = rows[0]?.user ?? null;
  return userId === null ? null : { token, userId };
}

/**
 * Lets an identity sign in as this person, and makes one person of all who ever had it. Throws `UniqueViolation` where
 * it signs in as another there, `ConstraintViolation` for what is no identity.
 */
export async function linkIdentity(
  db: Tx,
  { userId, issuer, subject }: Identity & { readonly userId: string },
  by: Author,
): Promise<void> {
  await db.query('select sverka.link_identity($1, $2, $3, $4, $5)', [userId, issuer, subject, ...authorArguments(by)]);
}

/** Lets it sign in as this person no more, and ends the person's sessions. */
export async function unlinkIdentity(
  db: Tx,
  { userId, issuer, subject }: Identity & { readonly userId: string },
  by: Author,
): Promise<void> {
  await db.query('select sverka.unlink_identity($1, $2, $3, $4, $5)', [
    userId,
    issuer,
    subject,
    ...authorArguments(by),
  ]);
}

/** An identity as an admin sees it. */
export interface IdentityListing extends Identity {
  readonly linkedAt: Date;
}

/** The identities that sign in as this person. */
export async function listIdentities(db: Tx, userId: string): Promise<IdentityListing[]> {
  return db.query<IdentityListing>(
    `select issuer, subject, linked_at as "linkedAt" from sverka.user_identity
     where user_id = $1 and unlinked_at is null order by linked_at`,
    [userId],
  );
}
