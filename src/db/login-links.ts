import { createHash, randomBytes } from 'node:crypto';
import { type Author, authorArguments } from './author.js';
import type { Tx } from './transaction.js';

const VALID_FOR = '12 hours';

/** Makes a one-time link for that login; answers its token, of which only the hash is kept. Null: no such person. */
export async function createLoginLink(db: Tx, login: string, by: Author | null = null): Promise<string | null> {
  const token = randomBytes(32).toString('base64url');
  const rows = await db.query<{ made: boolean }>('select sverka.create_login_link($1, $2, $3, $4, $5) as made', [
    login,
    hashOf(token),
    VALID_FOR,
    ...authorArguments(by),
  ]);
  return rows[0]?.made ? token : null;
}

/** Whose link it is; null when it was used, is too old, or never was. Using it uses it up. */
export async function takeLoginLink(db: Tx, token: string): Promise<string | null> {
  const rows = await db.query<{ user: string | null }>('select sverka.use_login_link($1) as user', [hashOf(token)]);
  return rows[0]?.user ?? null;
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
