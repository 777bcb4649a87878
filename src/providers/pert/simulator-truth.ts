import type { SimulatedAccount } from '../simulator-kit/account.js';
import type { OwnFault } from '../simulator-kit/faults.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, membersOf, notFound } from '../simulator-kit/requests.js';
import { availableOf } from './simulator-accounts.js';
import { cursorOf } from './simulator-cursor.js';
import { keptLedger, restoredLedger } from './simulator-kept.js';
import { createLedger, freeze, idOfTransaction, type Ledger, moveMoney, settleHold } from './simulator-ledger.js';
import { readMove } from './simulator-moves.js';
import { boundsOfPage, type PageBounds, textOfPage } from './simulator-pages.js';
import { textOfEntry, textOfSnapshot, versionOf } from './simulator-texts.js';
import { textOfUnits, unitsOf } from './simulator-units.js';
import { sendEntryWebhook, type ToldEntry } from './simulator-webhooks.js';

type Members = Readonly<Record<string, unknown>>;

/** What the product sees. Answers are JSON text, for their numbers are larger than JavaScript's. */
interface ProductSide {
  snapshotOf(account: SimulatedAccount): string;
  changesOf(
    account: SimulatedAccount,
    page: { since: string | undefined; limit: number },
    fault: OwnFault | null,
  ): string;
}

/** What whoever drives the simulator makes happen. */
interface DriverSide {
  /** Moves money: journal, balances, webhook. Answers the transaction, or the first and the last of many, as text. */
  move(body: Members): string;
  /** Settles what is in flight. */
  settle(id: string, body: Members): string;
  freeze(body: Members): Members;
  /** Forgets old entries of the journal. */
  retain(body: Members): Members;
  objects(): Members;
}

export interface PertTruth extends ProductSide, DriverSide {
  accountOfKey(apiKey: string | null): SimulatedAccount | undefined;
  /** What must outlive a restart, as JSON. */
  snapshot(): Members;
  /** Takes a snapshot back; nobody is told. */
  restore(snapshot: Members): void;
  reset(): void;
}

interface Owned {
  readonly account: SimulatedAccount;
  ledger: Ledger;
  /** The page that was answered last. */
  page: PageBounds | null;
}

interface World {
  readonly owned: readonly Owned[];
  readonly kit: SimulatorKit;
}

/**
 * What the simulated Pert knows. Positions start at the clock, unless told otherwise, and go on after a reset: a cursor
 * or a version that was given out before never comes back as another.
 */
export function createPertTruth(
  accounts: readonly SimulatedAccount[],
  { kit, firstPosition }: { kit: SimulatorKit; firstPosition?: number | undefined },
): PertTruth {
  const start = firstPosition ?? Date.now() * 1_000;
  const owned: Owned[] = accounts.map((account) => ({ account, ledger: createLedger(start), page: null }));
  const world: World = { owned, kit };
  return {
    accountOfKey: (apiKey) => accounts.find((account) => account.apiKey === apiKey),
    ...productSide(world),
    ...driverSide(world),
    snapshot: () => ({
      ledgers: Object.fromEntries(owned.map(({ account, ledger }) => [account.book, keptLedger(ledger)])),
    }),
    restore(snapshot) {
      const ledgers = membersOf(snapshot.ledgers ?? {}, 'ledgers');
      for (const each of owned) {
        const kept = ledgers[each.account.book];
        each.ledger = (kept === undefined ? null : restoredLedger(membersOf(kept, 'a ledger'))) ?? each.ledger;
      }
    },
    reset() {
      for (const each of owned) {
        each.ledger = createLedger(each.ledger.journal.last());
        each.page = null;
      }
    },
  };
}

function productSide(world: World): ProductSide {
  const find = (account: SimulatedAccount) => ownedOf(world, (each) => each.account === account);
  return {
    snapshotOf: (account) => textOfSnapshot(find(account).ledger),
    changesOf(account, asked, fault) {
      const each = find(account);
      const { ledger, page } = each;
      const again = fault?.fault === 'repeated_page' && page !== null && page.after >= ledger.journal.min();
      const bounds = again ? page : boundsOfPage(ledger, asked, { silent: fault?.fault === 'silently_fewer' });
      each.page = bounds;
      if (fault?.fault !== 'growing') return textOfPage(ledger, bounds, fault);
      grow(world, each);
      return textOfPage(ledger, bounds, fault);
    },
  };
}

function driverSide(world: World): DriverSide {
  return {
    move(body) {
      const move = readMove(body);
      const { account, ledger } = ownedByBook(world, body.book);
      const { first, last } = moveMoney(ledger, move);
      for (let position = first; move.webhooks && position <= last; position += 1) {
        tell(world, { account, ledger, position, type: 'transaction.created' });
      }
      if (move.count === null) return textOfEntry(ledger, first);
      const ends = `"first":${textOfEntry(ledger, first)},"last":${textOfEntry(ledger, last)}`;
      return `{"count":${move.count},${ends},"cursor":"${cursorOf(last)}"}`;
    },
    settle(id, { status }) {
      const { account, ledger } = ownedOf(world, (each) => id.startsWith(`ptx_${each.ledger.salt}`));
      const position = settleHold(ledger, id, status);
      tell(world, { account, ledger, position, type: 'transaction.updated' });
      return textOfEntry(ledger, position);
    },
    freeze({ book, currency, frozen }) {
      const total = freeze(ownedByBook(world, book).ledger, String(currency), unitsOf(frozen, 'frozen'));
      return {
        currency: total.currency,
        frozen: textOfUnits(total.frozen),
        available: textOfUnits(availableOf(total)),
      };
    },
    retain({ book, keep }) {
      if (typeof keep !== 'number' || !Number.isInteger(keep) || keep < 0)
        throw badRequest('keep must be a whole number');
      const { account, ledger } = ownedByBook(world, book);
      ledger.journal.retain(keep);
      return shownJournal(account, ledger);
    },
    objects: () => shownObjects(world),
  };
}

function ownedOf({ owned }: World, fits: (each: Owned) => boolean): Owned {
  const found = owned.find(fits);
  if (!found) throw notFound('no account of the simulator has it');
  return found;
}

/** The account of a book, or the first. */
function ownedByBook(world: World, book: unknown): Owned {
  return ownedOf(world, ({ account }) => book === undefined || account.book === book);
}

function tell({ kit }: World, entry: ToldEntry): void {
  sendEntryWebhook(kit, entry);
}

/** One more transaction, to an address that moved last: it comes in while a page is being read. */
function grow(world: World, { account, ledger }: Owned): void {
  const { journal, accounts } = ledger;
  if (journal.last() === journal.min()) return;
  const { from, to } = journal.at(journal.last());
  const { address, currency } = accounts.byNumber(to === 0 ? from : to);
  const move = { from: null, to: [address], currency: currency.currency, amount: unitsOf('1', 'amount'), count: null };
  const { last } = moveMoney(ledger, { ...move, held: false, webhooks: true });
  tell(world, { account, ledger, position: last, type: 'transaction.created' });
}

function shownObjects({ owned }: World): Members {
  return {
    addresses: owned.flatMap(({ account: { book }, ledger }) =>
      ledger.accounts.all().map(({ address, currency, balance, held, position }) => ({
        book,
        address,
        currency: currency.currency,
        balance: textOfUnits(balance),
        held: textOfUnits(held),
        balance_version: position === 0 ? null : versionOf(position),
      })),
    ),
    currencies: owned.flatMap(({ account: { book }, ledger }) =>
      ledger.accounts.totals().map((total) => ({
        book,
        currency: total.currency,
        balance: textOfUnits(total.balance),
        frozen: textOfUnits(total.frozen),
        held: textOfUnits(total.held),
        available: textOfUnits(availableOf(total)),
      })),
    ),
    holds: owned.flatMap(({ account: { book }, ledger }) =>
      [...ledger.holds.values()].map(({ transaction, amount }) => {
        return { book, id: idOfTransaction(ledger, transaction), amount: textOfUnits(amount) };
      }),
    ),
    journals: owned.map(({ account, ledger }) => shownJournal(account, ledger)),
  };
}

function shownJournal({ book }: SimulatedAccount, { journal }: Ledger): Members {
  const [cursor, min] = [cursorOf(journal.last()), cursorOf(journal.min())];
  return { book, cursor, min_cursor: min, entries: journal.last() - journal.min() };
}
