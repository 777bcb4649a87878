import type { StateMove } from './states.js';

export const DEPOSIT_ADDRESS_STATES = ['preparing', 'active', 'unknown', 'failed'] as const;
export type DepositAddressState = (typeof DEPOSIT_ADDRESS_STATES)[number];

/** Legal moves of a deposit address; the database holds the same table (migrations/000015). */
export const DEPOSIT_ADDRESS_MOVES: readonly StateMove<DepositAddressState>[] = [
  { from: null, to: 'preparing' },
  { from: 'preparing', to: 'active' },
  { from: 'preparing', to: 'unknown' },
  { from: 'preparing', to: 'failed' },
  { from: 'unknown', to: 'active' },
  { from: 'unknown', to: 'failed' },
];
