import { cardSchema } from '../../../contracts/card.js';
import type { CardChangeKind } from '../../../domain/card-change.js';
import { cardChangeHandler } from '../card-change.js';
import { defineRoute } from '../route.js';

const ANSWERS = {
  200: { description: 'So here and at the issuer; also when it was so before.', schema: cardSchema },
  202: { description: 'So here at once; the issuer has not confirmed it yet.', schema: cardSchema, location: true },
} as const;

export const freezeCard = changeRoute('freeze', 'Freeze a card: nothing is spent with it or loaded on it');
export const unfreezeCard = changeRoute('unfreeze', 'Make a frozen card active again');
export const closeCard = changeRoute('close', 'Close a card for ever; what is left on it returns to the wallet');

function changeRoute(kind: CardChangeKind, summary: string) {
  return defineRoute({
    method: 'POST',
    path: `/v1/cards/{id}/${kind}`,
    operationId: `${kind}Card`,
    summary,
    tag: 'Cards',
    needsKey: true,
    query: {},
    answers: ANSWERS,
    problems: ['card_closed', 'invalid_state', 'outcome_unknown'],
    handler: cardChangeHandler(kind),
  });
}
