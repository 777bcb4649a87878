import { availableOf, type HeldAccount } from './simulator-accounts.js';
import { cursorOf } from './simulator-cursor.js';
import type { JournalEntry } from './simulator-journal.js';
import { idOfTransaction, type Ledger, STATUSES } from './simulator-ledger.js';
import { textOfUnits } from './simulator-units.js';

/** No version can be kept in a double. */
const VERSION_BASE = 2n ** 53n;

/** The version of the entry at a position. */
export function versionOf(position: number): string {
  return (VERSION_BASE + BigInt(position)).toString();
}

/**
 * The entry at a position as JSON text, for no object of JavaScript holds its numbers. The side `from` has strings,
 * the side `to` and the version are bare numbers. `spoil` leaves out the balance of the first side that there is.
 */
export function textOfEntry(ledger: Ledger, position: number, { spoil = false } = {}): string {
  const entry = ledger.journal.at(position);
  const { accounts } = ledger;
  const from = entry.from === 0 ? null : accounts.byNumber(entry.from);
  const to = entry.to === 0 ? null : accounts.byNumber(entry.to);
  const amount = textOfUnits(entry.amount);
  const balanceFrom = spoil ? null : `"${textOfUnits(entry.fromBalance)}"`;
  const balanceTo = spoil && !from ? null : textOfUnits(entry.toBalance);
  const sides = `"from":${textOfSide(from, `"${amount}"`, balanceFrom)},"to":${textOfSide(to, amount, balanceTo)}`;
  const currency = JSON.stringify((from ?? to)?.currency.currency);
  const head = `{"id":"${idOfTransaction(ledger, entry.transaction)}","status":"${statusOf(entry)}"`;
  const version = `"currency":${currency},"balance_version":${versionOf(position)}`;
  return `${head},${version},${sides},"created_at":"${new Date(entry.createdAt).toISOString()}"}`;
}

/** The balances of all currencies, with the cursor that they stand at. */
export function textOfSnapshot({ accounts, journal }: Ledger): string {
  const currencies = accounts.totals().map((total) => {
    const [balance, frozen, held] = [total.balance, total.frozen, total.held].map(textOfUnits);
    const parts = `"frozen":"${frozen}","held":"${held}","available":"${textOfUnits(availableOf(total))}"`;
    return `{"currency":${JSON.stringify(total.currency)},"balance":${balance},${parts}}`;
  });
  const cursors = `"cursor":"${cursorOf(journal.last())}","min_cursor":"${cursorOf(journal.min())}"`;
  return `{${cursors},"currency_balances":[${currencies.join(',')}]}`;
}

function textOfSide(account: HeldAccount | null, amount: string, balance: string | null): string {
  if (!account) return 'null';
  const rest = balance === null ? '' : `,"balance":${balance}`;
  return `{"address":${JSON.stringify(account.address)},"amount":${amount}${rest}}`;
}

function statusOf({ status }: JournalEntry): string {
  return STATUSES[status] ?? 'completed';
}
