/** Shapes of what crosses into the `balanceSync` workflow, as messages.ts has those of the others. */

/** Which account's balances are mirrored; input of the `balanceSync` workflow. */
export interface BalanceSyncInput {
  book: 'live' | 'test';
  provider: 'pert';
  account: string;
  /** Whether somebody said "look" that nobody has looked for yet; carried into a fresh run. */
  nudged?: boolean;
}

/** What some seconds of a check came to. */
export interface BalanceTurn {
  pages: number;
  items: number;
  moved: number;
  bad: number;
  /** Of the check that ended; null while none did. */
  result: string | null;
  /** Milliseconds until the next check; 0: this one goes on. */
  waitMs: number;
}

/** What webhooks have told, applied. */
export interface BalanceDrain {
  items: number;
  moved: number;
  stale: number;
  more: boolean;
  /** Milliseconds until the next check, which what was told may have brought nearer. */
  checkMs: number;
}
