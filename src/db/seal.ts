import type { Tx } from './transaction.js';

/**
 * Numbers up to `most` movements, events and audit rows in commit order, and chains the audit's hashes. Answers how
 * many it numbered; 0 when another sealer is at work.
 */
export async function seal(db: Tx, most: number): Promise<number> {
  const rows = await db.query<{ sealed: number }>('select sverka.seal($1) as sealed', [most]);
  return rows[0]?.sealed ?? 0;
}
