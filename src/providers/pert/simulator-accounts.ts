import { SimulatorRefusal } from '../simulator-kit/requests.js';
import { textOfUnits } from './simulator-units.js';

/** What one address holds in one currency, in units. */
export interface HeldAccount {
  /** 1 and up. */
  readonly number: number;
  readonly address: string;
  readonly currency: CurrencyTotal;
  balance: bigint;
  held: bigint;
  /** Position of the entry that changed it last; 0 for none. */
  position: number;
}

/** What all addresses hold in one currency, in units. */
export interface CurrencyTotal {
  readonly currency: string;
  balance: bigint;
  frozen: bigint;
  held: bigint;
}

export interface AccountBook {
  /** The account of an address in a currency, made when there is none. */
  of(address: string, currency: string): HeldAccount;
  find(address: string, currency: string): HeldAccount | undefined;
  byNumber(number: number): HeldAccount;
  total(currency: string): CurrencyTotal;
  totals(): CurrencyTotal[];
  all(): readonly HeldAccount[];
  /** Adds to balance and held; both may be below zero. */
  change(account: HeldAccount, by: { balance?: bigint; held?: bigint }): void;
}

/** Addresses, currencies and what they hold: sums are kept, never counted. */
export function createAccountBook(): AccountBook {
  const accounts: HeldAccount[] = [];
  const known = new Map<string, HeldAccount>();
  const totals = new Map<string, CurrencyTotal>();
  const total = (currency: string): CurrencyTotal => {
    const found = totals.get(currency) ?? { currency, balance: 0n, frozen: 0n, held: 0n };
    totals.set(currency, found);
    return found;
  };
  const keyOf = (address: string, currency: string) => `${currency}\n${address}`;
  return {
    of(address, currency) {
      const key = keyOf(address, currency);
      const found = known.get(key);
      if (found) return found;
      const number = accounts.length + 1;
      const made = { number, address, currency: total(currency), balance: 0n, held: 0n, position: 0 };
      accounts.push(made);
      known.set(key, made);
      return made;
    },
    find: (address, currency) => known.get(keyOf(address, currency)),
    byNumber(number) {
      const account = accounts[number - 1];
      if (!account) throw new RangeError(`There is no account ${number}.`);
      return account;
    },
    total,
    totals: () => [...totals.values()],
    all: () => accounts,
    change(account, { balance = 0n, held = 0n }) {
      account.balance += balance;
      account.held += held;
      account.currency.balance += balance;
      account.currency.held += held;
    },
  };
}

/** What is neither frozen nor held. */
export function availableOf({ balance, frozen, held }: CurrencyTotal): bigint {
  return balance - frozen - held;
}

/** 422 when something has less than what is wanted of it. */
export function refuseUncovered(what: string, { has, wants }: { has: bigint; wants: bigint }): void {
  if (has >= wants) return;
  const message = `${what} has ${textOfUnits(has)}, which is less than ${textOfUnits(wants)}`;
  throw new SimulatorRefusal(422, 'insufficient_funds', message);
}
