import type { StateMove } from './states.js';

export const WITHDRAWAL_STATES = [
  'requested',
  'approved',
  'submitted',
  'completed',
  'rejected',
  'cancelled',
  'failed',
  'unknown',
  'found_late',
] as const;
export type WithdrawalState = (typeof WITHDRAWAL_STATES)[number];

/** Legal moves of a withdrawal; the database holds the same table (migrations/000055). */
export const WITHDRAWAL_MOVES: readonly StateMove<WithdrawalState>[] = [
  { from: null, to: 'requested' },
  { from: 'requested', to: 'approved', byDecision: true },
  { from: 'requested', to: 'rejected', byDecision: true },
  { from: 'requested', to: 'cancelled' },
  { from: 'approved', to: 'submitted' },
  { from: 'approved', to: 'cancelled', byDecision: true },
  { from: 'submitted', to: 'completed' },
  { from: 'submitted', to: 'failed' },
  { from: 'submitted', to: 'unknown' },
  { from: 'unknown', to: 'completed' },
  { from: 'unknown', to: 'failed' },
  { from: 'failed', to: 'found_late' },
];

/** Who pays it out: the custodian, asked by the worker, or a person by hand. Part of what is approved. */
export const WITHDRAWAL_ROUTES = ['custody', 'manual'] as const;
export type WithdrawalRoute = (typeof WITHDRAWAL_ROUTES)[number];

/** What a person of ours may decide on a withdrawal. */
export const WITHDRAWAL_CHOICES = ['approve', 'reject', 'cancel', 'pay', 'complete', 'fail'] as const;
export type WithdrawalChoice = (typeof WITHDRAWAL_CHOICES)[number];

/** What tells whether a person can decide. */
export interface DecidableWithdrawal {
  readonly state: WithdrawalState;
  readonly route: WithdrawalRoute | null;
  readonly flag: string | null;
  /** The custodian's id of the payout, once he has shown one. */
  readonly payoutRef: string | null;
}

/** What can be decided now; whether it still fits is seen where it is applied. */
export function decidableWithdrawal({ state, route, flag, payoutRef }: DecidableWithdrawal): WithdrawalChoice[] {
  const byHand = route === 'manual';
  const proves = state === 'unknown' || (state === 'submitted' && byHand);
  const possible: Readonly<Record<WithdrawalChoice, boolean>> = {
    approve: state === 'requested',
    reject: state === 'requested',
    // Once it may have been paid, nothing takes that back.
    cancel: state === 'approved',
    pay: state === 'approved' && byHand,
    complete: proves,
    fail: proves && flag === null && payoutRef === null,
  };
  return WITHDRAWAL_CHOICES.filter((choice) => possible[choice]);
}

/** True when nothing happens to it any more but a payout that turns up after all. */
export function isWithdrawalDone(state: WithdrawalState): boolean {
  return !['requested', 'approved', 'submitted', 'unknown'].includes(state);
}

/** A person said that it was not paid. */
export const DECLARED_FAILED = 'declared_failed';
