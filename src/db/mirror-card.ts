import { raiseAlert, resolveAlert } from './alerts.js';
import { noteCardStatus } from './cards.js';
import type { Tx } from './transaction.js';

/**
 * Keeps what the issuer says of a card, under its lock. It never moves our own state (R19); a card that is closed there
 * and not here is for a person.
 */
export async function mirrorCard(
  tx: Tx,
  { cardId, status, traceId }: { cardId: string; status: string; traceId: string },
): Promise<void> {
  const { said, state, book } = await noteCardStatus(tx, cardId, status);
  const key = `closed_at_issuer:${cardId}`;
  if (status !== 'closed' || state === 'closed') {
    // Only what he has called closed before can have its alert.
    return said === 'closed' ? resolveAlert(tx, key) : undefined;
  }
  await raiseAlert(tx, {
    key,
    kind: 'closed_at_issuer',
    book,
    subject: { type: 'card', id: cardId },
    detail: 'The issuer has closed this card and we have not; ask why, then have its merchant close it here.',
    traceId,
  });
}
