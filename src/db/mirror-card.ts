import { raiseAlert, resolveAlert } from './alerts.js';
import { noteCardStatus, readCard } from './cards.js';
import type { Tx } from './transaction.js';

/**
 * Keeps what the issuer says of a card, under its lock. It never moves our own state (R19); a card that is closed there
 * and not here is for a person.
 */
export async function mirrorCard(
  tx: Tx,
  { cardId, status, traceId }: { cardId: string; status: string; traceId: string },
): Promise<void> {
  await noteCardStatus(tx, cardId, status);
  const card = await readCard(tx, cardId);
  const key = `closed_at_issuer:${cardId}`;
  if (status !== 'closed' || card.state === 'closed') return resolveAlert(tx, key);
  await raiseAlert(tx, {
    key,
    kind: 'closed_at_issuer',
    book: card.book,
    subject: { type: 'card', id: cardId },
    detail: 'The issuer has closed this card and we have not; ask why, then have its merchant close it here.',
    traceId,
  });
}
