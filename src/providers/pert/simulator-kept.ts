import { objectsOf } from '../simulator-kit/requests.js';
import { createLedger, type Ledger, restoreHold } from './simulator-ledger.js';

type Members = Readonly<Record<string, unknown>>;

/** A whole journal would take seconds to write; one that outlives a restart is as short as this. */
export const KEPT_ENTRIES_MAX = 20_000;

/** A ledger as JSON, with the end of its journal; numbers of money as text, in units. */
export function keptLedger({ accounts, journal, holds, salt, transactions }: Ledger): Members {
  const first = Math.max(journal.min(), journal.last() - KEPT_ENTRIES_MAX);
  const entries = Array.from({ length: journal.last() - first }, (_, index) => {
    const entry = journal.at(first + 1 + index);
    const money = [entry.amount, entry.fromBalance, entry.toBalance].map(String);
    return [entry.transaction, entry.status, entry.from, entry.to, entry.createdAt, ...money];
  });
  return {
    salt,
    transactions,
    first,
    entries,
    accounts: accounts.all().map(({ address, currency, balance, position }) => {
      return { address, currency: currency.currency, balance: String(balance), position };
    }),
    frozen: accounts.totals().map(({ currency, frozen }) => ({ currency, frozen: String(frozen) })),
    holds: [...holds.values()].map((hold) => ({ ...hold, amount: String(hold.amount) })),
  };
}

/** The ledger out of a state file that we wrote, or null when there is no sense in it. */
export function restoredLedger(kept: Members): Ledger | null {
  if (typeof kept.first !== 'number' || typeof kept.salt !== 'string' || typeof kept.transactions !== 'number') {
    return null;
  }
  const ledger = createLedger(kept.first, kept.salt);
  ledger.transactions = kept.transactions;
  for (const { address, currency, balance, position } of objectsOf(kept.accounts)) {
    const account = ledger.accounts.of(String(address), String(currency));
    ledger.accounts.change(account, { balance: BigInt(String(balance)) });
    account.position = Number(position);
  }
  for (const { currency, frozen } of objectsOf(kept.frozen)) {
    ledger.accounts.total(String(currency)).frozen = BigInt(String(frozen));
  }
  for (const hold of objectsOf(kept.holds)) {
    const [transaction, from, to, createdAt] = [hold.transaction, hold.from, hold.to, hold.createdAt].map(Number);
    if (transaction === undefined || from === undefined || to === undefined || createdAt === undefined) return null;
    restoreHold(ledger, { transaction, from, to, createdAt, amount: BigInt(String(hold.amount)) });
  }
  for (const entry of Array.isArray(kept.entries) ? kept.entries : []) appendKept(ledger, entry);
  return ledger;
}

function appendKept({ journal }: Ledger, entry: unknown): void {
  const row: unknown[] = Array.isArray(entry) ? entry : [];
  const [transaction = 0, status = 0, from = 0, to = 0, createdAt = 0] = row.slice(0, 5).map(Number);
  const [amount = 0n, fromBalance = 0n, toBalance = 0n] = row.slice(5).map((text) => BigInt(String(text)));
  journal.append({ transaction, status, from, to, createdAt, amount, fromBalance, toBalance });
}
