import type { Tx } from './transaction.js';

/** Age of the oldest notification that nobody has come for, in seconds; 0 when there is none. */
export async function oldestPendingSeconds(db: Tx): Promise<number> {
  const rows = await db.query<{ age: number | null }>('select sverka.relay_health() as age');
  return rows[0]?.age ?? 0;
}

/** Tells that this relay lives, and what it refused since its start. */
export async function relayHeartbeat(
  db: Tx,
  relay: string,
  totals: { readonly rejected: number; readonly failed: number },
): Promise<void> {
  await db.query('select sverka.relay_heartbeat($1, $2, $3)', [relay, totals.rejected, totals.failed]);
}
