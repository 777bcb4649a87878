/** An account at a provider in one word: what decisions, alerts and the audit call it. */
export function balanceSourceKey(of: { readonly book: string; readonly provider: string; readonly account: string }) {
  return `${of.book}:${of.provider}:${of.account}`;
}

/** One side of a transaction at a provider of balances; decimal texts as he wrote them. */
export interface BalanceSide {
  readonly address: string;
  /** What this version changed here, without a sign: 0 for a mere change of status. */
  readonly amount: string;
  /** Absolute, right after this version. */
  readonly balance: string;
}

/** A transaction as one version of it states it. */
export interface BalanceTransaction {
  readonly id: string;
  readonly status: string;
  readonly currency: string;
  /** Grows with every snapshot of an address: the key of order. */
  readonly balanceVersion: bigint;
  readonly from: BalanceSide | null;
  readonly to: BalanceSide | null;
  readonly createdAt: string;
}

/** What a provider states of a currency, in decimal text. */
export interface StatedBalance {
  readonly currency: string;
  /** Confirmed. */
  readonly balance: string;
  readonly frozen: string;
  readonly held: string;
  readonly available: string;
}

/** One consistent moment of all currencies; cursors are opaque, in one space with the journal's. */
export interface BalanceSnapshot {
  readonly cursor: string;
  /** The oldest position from which the journal can be read. */
  readonly minCursor: string;
  readonly currencies: readonly StatedBalance[];
}

export type BalanceCheckTrigger = 'timer' | 'webhook_gap' | 'operator' | 'first_load';
export type BalanceCheckResult = 'equal' | 'healed' | 'differs' | 'rebased' | 'failed';
/** What a check did, in order. */
export type BalanceCheckAction = 'compared' | 'backfilled' | 'accepted' | 'rebased';
