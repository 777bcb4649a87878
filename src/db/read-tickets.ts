import type { Tx } from './transaction.js';

/**
 * A ticket taken before a read of a provider. Each apply draws a fresh number and keeps it on its subject; an answer
 * counts only if its ticket is greater, that is, if its read began after the last apply (DESIGN 2).
 */
export async function takeReadTicket(db: Tx): Promise<bigint> {
  const rows = await db.query<{ ticket: bigint }>(`select nextval('sverka.read_ticket') as ticket`, []);
  const ticket = rows[0]?.ticket;
  if (ticket === undefined) throw new Error('sverka.read_ticket gave no number; is the schema migrated?');
  return ticket;
}
