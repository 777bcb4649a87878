import type { CardState } from './card.js';
import type { StateMove } from './states.js';

export const LOAD_STATES = ['reserved', 'submitted', 'completed', 'failed', 'unknown'] as const;
export type LoadState = (typeof LOAD_STATES)[number];

/** Legal moves of a load; the database holds the same table (migrations/000047). */
export const LOAD_MOVES: readonly StateMove<LoadState>[] = [
  { from: null, to: 'reserved' },
  { from: 'reserved', to: 'submitted' },
  { from: 'reserved', to: 'failed' },
  { from: 'submitted', to: 'completed' },
  { from: 'submitted', to: 'failed' },
  { from: 'submitted', to: 'unknown' },
  { from: 'unknown', to: 'completed' },
  { from: 'unknown', to: 'failed' },
];

/** A create of a load that left no answer. */
export const LOAD_UNANSWERED = 'load_unanswered';

/** Why a card in that state takes no load, as a code of the API; null for one that does. */
export function loadRefusal(state: CardState): 'card_frozen' | 'card_closed' | 'invalid_state' | null {
  if (state === 'active') return null;
  if (state === 'frozen') return 'card_frozen';
  return state === 'closed' ? 'card_closed' : 'invalid_state';
}

/**
 * True when the issuer's refusal says that no load stands under our reference. A known reference is answered with the
 * card; after a call whose answer was lost, a 409 of an unknown code may still speak of what that call made.
 */
export function isDefiniteRefusal(state: LoadState, answer: { status: number | null; code: string | null }): boolean {
  if (state !== 'unknown' || answer.status !== 409) return true;
  return answer.code !== null && ABOUT_THE_CARD.includes(answer.code);
}

const ABOUT_THE_CARD: readonly string[] = ['card_frozen', 'card_closed', 'invalid_state'];
