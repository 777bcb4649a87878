import type { CardRecord } from '../contracts/card.js';
import { decimalsOf } from '../domain/assets.js';
import { STATE_SET_BY } from '../domain/card-change.js';
import { type Minor, parseAmount } from '../domain/money.js';
import { raiseAlert, resolveAlert } from './alerts.js';
import { bookCardReturn } from './book-card-return.js';
import {
  type CardChangeName,
  type CardChangeRecord,
  endChange,
  isChangeOpen,
  lockCardChange,
  markNotTold,
  markSubmitted,
  readCardChange,
} from './card-changes.js';
import { nextCardVersion, readCard } from './cards.js';
import { outdateReads } from './issuances.js';
import { mirrorCard } from './mirror-card.js';
import type { Tx } from './transaction.js';

/** The card as the issuer states it after the change was told, or asked for later. */
export interface CardChangeAnswer extends CardChangeName {
  readonly status: string;
  /** What was left on a closed card, as he says; null when he does not. */
  readonly remaining: { readonly amount: string; readonly asset: string } | null;
  readonly traceId: string;
}

/**
 * The one apply function of changes; running it again changes nothing. What the journal has on a card whose close is
 * confirmed goes back to the wallet in the same commit, last of all. Answers the change as it is then.
 */
export async function applyCardChange(tx: Tx, answer: CardChangeAnswer): Promise<CardChangeRecord> {
  const change = await lockCardChange(tx, answer);
  if (change.outcome !== null) return change;
  const { cardId, traceId } = answer;
  await mirrorCard(tx, { cardId, status: answer.status, traceId });
  await outdateReads(tx, cardId);
  if (answer.status !== STATE_SET_BY[change.kind]) return change;
  await endChange(tx, answer, 'confirmed');
  await resolveAlert(tx, changeAlertKey(answer));
  if (change.kind === 'close') await returnLoad(tx, await readCard(tx, cardId), answer);
  return readCardChange(tx, answer);
}

/** Makes it the one that the issuer hears of. `behind`: an older one is not done; `ended`: it is over itself. */
export async function submitCardChange(
  tx: Tx,
  of: CardChangeName,
): Promise<{ readonly change: CardChangeRecord; readonly turn: 'now' | 'behind' | 'ended' }> {
  const change = await lockCardChange(tx, of);
  if (change.outcome !== null) return { change, turn: 'ended' };
  if (change.submittedAt !== null) return { change, turn: 'now' };
  if (await isChangeOpen(tx, of, 'older')) return { change, turn: 'behind' };
  await markSubmitted(tx, of);
  return { change, turn: 'now' };
}

/** The issuer does not take it: a newer one takes its place, or it waits for a person and is told again. */
export async function refuseCardChange(
  tx: Tx,
  of: CardChangeName & { readonly status: string | null; readonly traceId: string },
): Promise<CardChangeRecord> {
  const change = await lockCardChange(tx, of);
  if (change.outcome !== null) return change;
  if (of.status !== null) await mirrorCard(tx, { cardId: of.cardId, status: of.status, traceId: of.traceId });
  await markNotTold(tx, of);
  if (await isChangeOpen(tx, of, 'newer')) {
    await endChange(tx, of, 'superseded');
    await resolveAlert(tx, changeAlertKey(of));
    return readCardChange(tx, of);
  }
  await raiseAlert(tx, {
    key: changeAlertKey(of),
    kind: 'card_change_refused',
    book: change.book,
    subject: { type: 'card', id: of.cardId },
    detail: `The issuer does not ${change.kind} this card, although it is so here; compare the two and ask the issuer.`,
    traceId: of.traceId,
  });
  return readCardChange(tx, of);
}

export function changeAlertKey({ cardId, number }: CardChangeName): string {
  return `card_change:${cardId}:${number}`;
}

/** What both have on the card goes back. More than the issuer gives up stays on it, for a person to settle with him. */
async function returnLoad(tx: Tx, card: CardRecord, { remaining, traceId }: CardChangeAnswer): Promise<void> {
  const { loaded } = card;
  const named = remaining === null ? loaded : restOf(card, remaining);
  const amount = named < loaded ? named : loaded;
  if (remaining === null || named !== loaded) {
    await raiseAlert(tx, {
      key: `remaining:${card.id}`,
      kind: 'remaining_mismatch',
      book: card.book,
      subject: { type: 'card', id: card.id },
      detail:
        remaining === null
          ? 'A card was closed and the issuer did not say what was left on it; ask, and compare with the journal.'
          : 'A card closed with another rest at the issuer than ours; the smaller went to the wallet. Compare them.',
      traceId,
    });
  }
  if (amount === 0n) return;
  await nextCardVersion(tx, card.id);
  await bookCardReturn(tx, { ...card, amount }, traceId);
}

/** What the issuer says was left, in minor units of the card's asset; nothing when it is of another, or no amount. */
function restOf({ asset }: CardRecord, remaining: { readonly amount: string; readonly asset: string }): Minor {
  const rest = parseAmount(remaining.amount, decimalsOf(asset));
  return remaining.asset === asset && typeof rest === 'bigint' ? rest : 0n;
}
