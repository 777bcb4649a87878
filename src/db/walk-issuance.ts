import { type CardRecord, type IssuanceRecord, toCard } from '../contracts/card.js';
import type { IssuerReading } from '../domain/issuance.js';
import { issuanceMovementId } from './book-issuance.js';
import { type CardMove, moveCard } from './cards.js';
import { insertEvents, type NewEvent } from './events.js';
import { moveIssuance } from './issuances.js';
import type { Tx } from './transaction.js';

export interface IssuanceStep {
  readonly to: 'active' | 'pending' | 'failed' | 'found_late';
  readonly reason: string | null;
  readonly actor: string;
  readonly traceId: string;
  /** Of a step to `active`: the card that settles it. */
  readonly card?: IssuerReading | undefined;
}

/**
 * One move of an issuance under its lock, and that of its card: rows, audit (by trigger), event. The money that it
 * means is the caller's, last of all.
 */
export async function walkIssuance(tx: Tx, record: IssuanceRecord, step: IssuanceStep): Promise<IssuanceRecord> {
  const { to, reason, actor, traceId, card } = step;
  const by = { reason, actor, traceId };
  switch (to) {
    case 'active': {
      if (!card?.last4 || !card.expires) throw new Error(`Issuance ${record.id} settles with a card not made yet.`);
      const { providerRef, last4, expires, status } = card;
      const movementId = issuanceMovementId(record, 'settle');
      const moved = await moveIssuance(tx, record, { ...by, to, movementId, providerRef });
      await tellCard(tx, moved, { ...by, to, made: { providerRef, last4, expires, status } });
      return moved;
    }
    case 'failed': {
      const moved = await moveIssuance(tx, record, { ...by, to, movementId: issuanceMovementId(record, 'release') });
      await tellCard(tx, moved, { ...by, to });
      return moved;
    }
    default:
      return moveIssuance(tx, record, { ...by, to });
  }
}

/** The card follows its newest issuance; one that was issued again meanwhile is not touched. */
async function tellCard(tx: Tx, record: IssuanceRecord, move: Omit<CardMove, 'from'>): Promise<void> {
  if (!record.latest) return;
  const card = await moveCard(tx, record.cardId, { ...move, from: ['pending'] });
  if (card) await insertEvents(tx, [cardEvent(card, `card.${card.state}`, move.traceId)]);
}

/** What its merchant is told of a card, as it is now. */
export function cardEvent(card: CardRecord, type: string, traceId: string): NewEvent {
  const { book, merchantId, id: subjectId, version } = card;
  return { type, book, merchantId, subjectType: 'card', subjectId, version, data: toCard(card), traceId };
}
