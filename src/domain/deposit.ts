import type { StateMove } from './states.js';

export const DEPOSIT_STATES = [
  'noticed',
  'confirming',
  'credited',
  'final',
  'orphaned',
  'rejected',
  'dropped',
  'parked',
] as const;
export type DepositState = (typeof DEPOSIT_STATES)[number];

/** Legal moves of a deposit (DESIGN 9); the database holds the same table (migrations/000015). */
export const DEPOSIT_MOVES: readonly StateMove<DepositState>[] = [
  { from: null, to: 'noticed' },
  { from: 'noticed', to: 'confirming' },
  { from: 'noticed', to: 'rejected' },
  { from: 'noticed', to: 'parked' },
  { from: 'confirming', to: 'credited' },
  { from: 'confirming', to: 'rejected' },
  { from: 'confirming', to: 'dropped' },
  { from: 'confirming', to: 'parked' },
  { from: 'credited', to: 'final' },
  { from: 'credited', to: 'orphaned' },
  { from: 'orphaned', to: 'confirming' },
  { from: 'dropped', to: 'confirming' },
  { from: 'final', to: 'orphaned', byDecision: true },
  { from: 'parked', to: 'noticed', byDecision: true },
  { from: 'parked', to: 'confirming', byDecision: true },
  { from: 'parked', to: 'credited', byDecision: true },
  { from: 'parked', to: 'final', byDecision: true },
  { from: 'parked', to: 'orphaned', byDecision: true },
  { from: 'parked', to: 'rejected', byDecision: true },
  { from: 'parked', to: 'dropped', byDecision: true },
];
