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

/** What some transactions tell of one address in one currency; decimal texts. */
export interface AddressNews {
  readonly address: string;
  readonly currency: string;
  /** The lowest version, what stood after it, and what it took out and brought in. */
  lowest: bigint;
  lowestBalance: string;
  lowestOut: string;
  lowestIn: string;
  /** The highest, and what stood after it: of two under one version (R1) that of the later transaction. */
  highest: bigint;
  highestBalance: string;
}

/** Each transaction once: the highest version, of equal ones the later. Order is that of first appearance. */
export function newestOfEach(transactions: readonly BalanceTransaction[]): BalanceTransaction[] {
  const newest = new Map<string, BalanceTransaction>();
  for (const each of transactions) {
    const known = newest.get(each.id);
    if (known === undefined || each.balanceVersion >= known.balanceVersion) newest.set(each.id, each);
  }
  return [...newest.values()];
}

/** Each address once, with its lowest and its highest version among the transactions. */
export function newsOfAddresses(transactions: readonly BalanceTransaction[]): AddressNews[] {
  const news: AddressNews[] = [];
  const known = new Map<string, Map<string, AddressNews>>();
  const tell = (address: string, told: Told) => {
    const { currency, version, balance } = told;
    const ofCurrency = known.get(currency) ?? new Map<string, AddressNews>();
    known.set(currency, ofCurrency);
    const before = ofCurrency.get(address);
    if (before !== undefined) return addVersion(before, told);
    const made = {
      address,
      currency,
      lowest: version,
      lowestBalance: balance,
      lowestOut: told.out,
      lowestIn: told.in,
      highest: version,
      highestBalance: balance,
    };
    ofCurrency.set(address, made);
    news.push(made);
  };
  for (const { currency, balanceVersion: version, from, to } of transactions) {
    // Of one address with itself: what stands after both.
    const isSelf = from !== null && to !== null && from.address === to.address;
    if (isSelf) tell(to.address, { currency, version, balance: to.balance, out: from.amount, in: to.amount });
    if (isSelf) continue;
    if (from !== null) tell(from.address, { currency, version, balance: from.balance, out: from.amount, in: '0' });
    if (to !== null) tell(to.address, { currency, version, balance: to.balance, out: '0', in: to.amount });
  }
  return news;
}

interface Told {
  readonly currency: string;
  readonly version: bigint;
  readonly balance: string;
  readonly out: string;
  readonly in: string;
}

function addVersion(known: AddressNews, told: Told): void {
  if (told.version < known.lowest) {
    known.lowest = told.version;
    known.lowestBalance = told.balance;
    known.lowestOut = told.out;
    known.lowestIn = told.in;
  }
  if (told.version >= known.highest) {
    known.highest = told.version;
    known.highestBalance = told.balance;
  }
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
/** How a check ends. */
export const BALANCE_CHECK_RESULTS = ['equal', 'healed', 'differs', 'rebased', 'failed'] as const;
export type BalanceCheckResult = (typeof BALANCE_CHECK_RESULTS)[number];
/** What a check did, in order. */
export type BalanceCheckAction = 'compared' | 'backfilled' | 'accepted' | 'rebased';
