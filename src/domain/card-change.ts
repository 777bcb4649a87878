import type { CardState } from './card.js';

/** What a merchant decides on a card that is there; the database knows the same words (migrations/000048). */
export const CARD_CHANGES = ['freeze', 'unfreeze', 'close'] as const;
export type CardChangeKind = (typeof CARD_CHANGES)[number];

/** The state that each sets, ours and the issuer's alike. */
export const STATE_SET_BY = { freeze: 'frozen', unfreeze: 'active', close: 'closed' } as const satisfies Record<
  CardChangeKind,
  CardState
>;
