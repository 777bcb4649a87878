import type { StateMove } from './states.js';

export const CARD_STATES = ['pending', 'failed', 'active', 'frozen', 'closed'] as const;
export type CardState = (typeof CARD_STATES)[number];

export const CARD_PRODUCTS = ['instant', 'async'] as const;
export type CardProduct = (typeof CARD_PRODUCTS)[number];

/** Legal moves of a card (DESIGN 9); the database holds the same table (migrations/000045). */
export const CARD_MOVES: readonly StateMove<CardState>[] = [
  { from: null, to: 'pending' },
  { from: 'pending', to: 'active' },
  { from: 'pending', to: 'failed' },
  { from: 'failed', to: 'pending' },
  { from: 'active', to: 'frozen' },
  { from: 'frozen', to: 'active' },
  { from: 'active', to: 'closed' },
  { from: 'frozen', to: 'closed' },
];
