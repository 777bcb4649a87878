import type { SimulatedAccount } from '../simulator-kit/account.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { notFound, objectsOf } from '../simulator-kit/requests.js';
import {
  type CardRecord,
  changedCard,
  loadOf,
  newCard,
  outcomeOf,
  readCardRequest,
  restoredCard,
  shownCard,
  wrongState,
} from './simulator-card.js';
import { createIssuerEvents, type IssuerEvents, readSpend } from './simulator-events.js';
import { createLoadBook, type LoadBook } from './simulator-loads.js';
import { type Step, sumOf } from './simulator-steps.js';
import type { IssuerTimes } from './simulator-times.js';

type Members = Readonly<Record<string, unknown>>;

/** What the product asks to be done to a card. */
export type CardChange = 'freeze' | 'unfreeze' | 'close';

/** What the product asks of the issuer. */
interface ProductSide {
  /** Makes a card, each time it is called: an issuer's create is not idempotent. */
  make(account: SimulatedAccount, body: Members): Members;
  cardOf(account: SimulatedAccount, id: string): Members;
  cardsOf(account: SimulatedAccount, reference: string): Members[];
  /** Once for each reference; the same again answers the card as it stands. */
  load(account: SimulatedAccount, id: string, body: Members): Members;
  apply(account: SimulatedAccount, id: string, change: CardChange): Members;
  balancesOf(account: SimulatedAccount): Members[];
}

/** What whoever drives the simulator asks of it. */
interface DriverSide {
  /** States members of a card and takes it over: from now on it moves only when told to. What differs is an event. */
  state(id: string, body: Members): Members;
  /** A step of spending happens on a card. */
  spend(id: string, body: Members): Members;
  objects(): Members;
}

export interface IssuerTruth extends ProductSide, DriverSide {
  accountOfKey(apiKey: string | null): SimulatedAccount | undefined;
  readonly events: IssuerEvents;
  /** What must outlive a restart, as JSON: without numbers, codes and holders. */
  snapshot(): Members;
  /** Takes a snapshot back; nobody is told. */
  restore(snapshot: Members): void;
  reset(): void;
}

/** What the simulated issuer knows of cards, their loads and their events. */
export function createIssuerTruth(
  accounts: readonly SimulatedAccount[],
  { kit, times }: { kit: SimulatorKit; times: IssuerTimes },
): IssuerTruth {
  const events = createIssuerEvents(accounts, kit);
  const world: World = { cards: new Map(), loads: createLoadBook(kit), events, kit, times };
  return {
    accountOfKey: (apiKey) => accounts.find((account) => account.apiKey === apiKey),
    events,
    ...productSide(world),
    ...driverSide(world),
    snapshot: () => ({ cards: keptCards(world), loads: world.loads.objects(), ...events.snapshot() }),
    restore(snapshot) {
      for (const members of objectsOf(snapshot.cards)) {
        const account = accounts.find(({ book }) => book === members.book);
        if (account) keep(world, restoredOwned(account, members));
      }
      world.loads.restore(snapshot.loads);
      events.restore(snapshot);
    },
    reset() {
      world.cards.clear();
      world.loads.clear();
      events.reset();
    },
  };
}

interface Owned {
  readonly account: SimulatedAccount;
  record: CardRecord;
  readonly shownFrom: number;
  takenOver: boolean;
  /** Why a pending card will be declined; null: it becomes active. */
  readonly decline: string | null;
  /** As the product sent it; forgotten at a restart. */
  readonly holder: Members | null;
}

interface World {
  readonly cards: Map<string, Owned>;
  readonly loads: LoadBook;
  readonly events: IssuerEvents;
  readonly kit: SimulatorKit;
  readonly times: IssuerTimes;
}

const CHANGES: Readonly<Record<CardChange, { readonly from: readonly unknown[]; readonly to: string }>> = {
  freeze: { from: ['active', 'frozen'], to: 'frozen' },
  unfreeze: { from: ['frozen', 'active'], to: 'active' },
  close: { from: ['active', 'frozen', 'closed'], to: 'closed' },
};

function productSide(world: World): ProductSide {
  return {
    make(account, body) {
      const request = readCardRequest(body);
      const { decline, holder } = request;
      const shownFrom = performance.now() + world.times.lagMs;
      const owned = { account, record: newCard(request), shownFrom, takenOver: false, decline, holder };
      keep(world, owned);
      if (owned.record.status !== 'pending') tell(world, owned, eventOfMove('pending', owned.record.status));
      return shownCard(owned.record);
    },
    cardOf: (account, id) => shownCard(find(world, id, account).record),
    cardsOf: (account, reference) =>
      [...world.cards.values()]
        .filter((owned) => isShownTo(owned, account) && owned.record.reference === reference)
        .map(({ record }) => shownCard(record)),
    load(account, id, body) {
      const owned = find(world, id, account);
      if (world.loads.add(account, owned.record, body)) tell(world, owned, 'card.changed');
      return shownCard(owned.record);
    },
    apply(account, id, change) {
      const owned = find(world, id, account);
      const { from, to } = CHANGES[change];
      if (!from.includes(owned.record.status)) throw wrongState(owned.record.status);
      if (owned.record.status !== to) move(world, owned, { status: to });
      const card = shownCard(owned.record);
      if (change !== 'close') return card;
      const { paidIn, spent } = moneyOn(world, owned);
      return {
        ...card,
        remaining: { amount: sumOf([...paidIn, ...spent]), asset: loadOf(owned.record).asset ?? null },
      };
    },
    balancesOf: (account) => balances(world, account),
  };
}

function driverSide(world: World): DriverSide {
  return {
    state(id, body) {
      const owned = find(world, id);
      const next = changedCard(owned.record, body);
      owned.takenOver = true;
      if (JSON.stringify(next) !== JSON.stringify(owned.record)) move(world, owned, next);
      return shownCard(owned.record);
    },
    spend(id, body) {
      const { account, record } = find(world, id);
      const event = readSpend(body, record);
      return world.events.emit(account, event, [record.id, String(record.reference), String(event.authorization_id)]);
    },
    objects: () => ({
      cards: [...world.cards.values()].map(({ account, record, holder }) => ({
        ...shownCard(record),
        holder,
        book: account.book,
      })),
      loads: world.loads.objects(),
      events: world.events.snapshot().events,
    }),
  };
}

function keep(world: World, owned: Owned): void {
  const { record, decline } = owned;
  world.cards.set(record.id, owned);
  if (record.status !== 'declined') {
    world.kit.effect({ kind: 'card', reference: String(record.reference), id: record.id });
  }
  if (record.status !== 'pending') return;
  setTimeout(() => {
    if (world.cards.get(record.id) === owned && !owned.takenOver) move(world, owned, outcomeOf(decline));
  }, world.times.asyncMs).unref();
}

function move(world: World, owned: Owned, members: Partial<CardRecord>): void {
  const type = eventOfMove(owned.record.status, members.status);
  owned.record = { ...owned.record, ...members };
  tell(world, owned, type);
}

function tell({ events }: World, { account, record }: Owned, type: string): void {
  const { id, reference } = record;
  events.emit(account, { type, card_id: id, reference }, [id, String(reference)]);
}

/** What a card that was pending has become is told by name; all else has changed. */
function eventOfMove(from: unknown, to: unknown): string {
  if (from === 'pending' && to === 'active') return 'card.issued';
  return to === 'declined' && from !== 'declined' ? 'card.declined' : 'card.changed';
}

/** The product sees its own cards, once the lag is over; whoever drives sees all. */
function find({ cards }: World, id: string, account?: SimulatedAccount): Owned {
  const owned = cards.get(id);
  if (!owned || (account !== undefined && !isShownTo(owned, account))) throw notFound('no such card');
  return owned;
}

function isShownTo(owned: Owned, account: SimulatedAccount): boolean {
  return owned.account === account && owned.shownFrom <= performance.now();
}

function keptCards({ cards }: World): Members[] {
  return [...cards.values()].map(({ account, record, decline, takenOver }) => {
    const { stated: _stated, ...kept } = record;
    return { ...kept, decline, taken_over: takenOver, book: account.book };
  });
}

function restoredOwned(account: SimulatedAccount, members: Members): Owned {
  const decline = typeof members.decline === 'string' ? members.decline : null;
  const takenOver = members.taken_over === true;
  return { account, record: restoredCard(members), shownFrom: 0, takenOver, decline, holder: null };
}

function moneyOn({ loads, events }: World, { record }: Owned): { paidIn: Step[]; spent: Step[] } {
  const amounts = [loadOf(record).amount, ...loads.onCard(record.id).map(({ amount }) => amount)];
  return { paidIn: amounts.map((amount) => ({ sign: 1n, amount })), spent: events.spentOn(record.id) };
}

/** What went onto cards is gone from our account with the issuer; what is left on a closed one comes back. */
function balances(world: World, account: SimulatedAccount): Members[] {
  const steps = new Map<unknown, Step[]>();
  for (const owned of world.cards.values()) {
    const { status } = owned.record;
    if (owned.account !== account || status === 'pending' || status === 'declined') continue;
    const { asset } = loadOf(owned.record);
    const { paidIn, spent } = moneyOn(world, owned);
    const back = status === 'closed' ? [...paidIn, ...spent] : [];
    const out = paidIn.map(({ amount }) => ({ sign: -1n, amount }));
    steps.set(asset, [...(steps.get(asset) ?? []), ...out, ...back]);
  }
  return [...steps].map(([asset, each]) => ({ asset, available: sumOf(each) }));
}
