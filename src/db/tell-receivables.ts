import { toReceivable } from '../contracts/receivable.js';
import { toOwner } from '../contracts/values.js';
import type { Book } from '../domain/books.js';
import type { AccountId, Owner } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import { readBalances } from './accounts.js';
import { raiseAlert, resolveAlert } from './alerts.js';
import { insertEvents } from './events.js';
import type { PostResult } from './journal.js';
import type { Tx } from './transaction.js';

/** What one movement changed on a receivable: below zero, more is owed; above, some of it was paid. */
export interface ReceivableChange {
  readonly account: AccountId;
  readonly owner: Owner & { readonly customerRef: string | null };
  readonly asset: string;
  readonly change: Minor;
  readonly movementId: string;
}

/**
 * What the second line of `result` changed on the receivable `of.account`: that of a collect pays into it, that of an
 * orphan draws on it. Empty when it moved nothing.
 */
export function receivableChange(
  of: Pick<ReceivableChange, 'account' | 'owner' | 'asset'>,
  result: PostResult | undefined,
): ReceivableChange[] {
  const change = result?.moved[1];
  if (change === undefined || !result?.movementId) return [];
  const { account, owner, asset } = of;
  return [{ account, owner, asset, change, movementId: result.movementId }];
}

/** Tells what the `collect` behind a credit of a merchant's wallet paid off. */
export async function tellCollected(
  tx: Tx,
  { book, merchantId, asset }: { readonly book: Book; readonly merchantId: string; readonly asset: string },
  of: { readonly receivable: AccountId; readonly collected: PostResult | undefined; readonly traceId: string },
): Promise<void> {
  const owner = { book, merchantId, customerId: null, customerRef: null };
  await tellReceivables(tx, receivableChange({ account: of.receivable, owner, asset }, of.collected), of.traceId);
}

/**
 * Tells of an owner who owes from now on, or owes nothing any more (R14): an alert for us, an event for the merchant.
 * In the transaction of the `post`, behind it: its locks make sure that no other movement stands in between.
 */
export async function tellReceivables(tx: Tx, changes: readonly ReceivableChange[], traceId: string): Promise<void> {
  const accounts = [...new Set(changes.filter(({ change }) => change !== 0n).map(({ account }) => account))];
  if (accounts.length === 0) return;
  accounts.sort((a, b) => (a < b ? -1 : 1));
  const balances = await readBalances(tx, accounts);
  for (const account of accounts) {
    const ofAccount = changes.filter((change) => change.account === account && change.change !== 0n);
    const balance = balances.get(account)?.balance ?? 0n;
    const before = ofAccount.reduce((sum, { change }) => sum - change, balance);
    const last = ofAccount.at(-1);
    if (last && (before === 0n) !== (balance === 0n)) await tell(tx, last, { owed: -balance, traceId });
  }
}

async function tell(tx: Tx, last: ReceivableChange, { owed, traceId }: { owed: Minor; traceId: string }) {
  const { account, asset, movementId } = last;
  const { book, merchantId } = last.owner;
  const owner = toOwner(last.owner);
  const key = `receivable:${account}`;
  if (owed === 0n) {
    await resolveAlert(tx, key);
  } else {
    const detail = 'An owner owes what could not be taken back. Money out is refused until it is settled; ask for it.';
    const subject = { type: owner.type, id: owner.id };
    await raiseAlert(tx, { key, kind: 'receivable_open', book, subject, detail, traceId });
  }
  await insertEvents(tx, [
    {
      type: owed === 0n ? 'receivable.settled' : 'receivable.opened',
      ...{ book, merchantId, subjectType: 'receivable', subjectId: movementId, version: 1, traceId },
      data: toReceivable({ owner, owed, asset, movementId }),
    },
  ]);
}
