import { randomBytes } from 'node:crypto';
import { type ChangeFeed, createChangeFeed } from '../simulator-kit/changes.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, membersOf, notFound, objectsOf } from '../simulator-kit/requests.js';
import { timedSigner } from '../simulator-kit/signing.js';
import { type AddressBook, type CustodyAccount, createAddressBook } from './simulator-addresses.js';
import { changedDeposit, type DepositRecord, isSameDeposit, newDeposit, restoredDeposit } from './simulator-deposit.js';

type Members = Readonly<Record<string, unknown>>;

export interface OwnedDeposit {
  readonly account: CustodyAccount;
  readonly record: DepositRecord;
}

export interface CustodyTruth {
  accountOfKey(apiKey: string | null): CustodyAccount | undefined;
  readonly addresses: AddressBook;
  /** A transfer arrives: stores the deposit, sends the webhook, puts it into the changes. */
  arrive(body: Members): DepositRecord;
  /** Changes members of a deposit; the webhook goes out and it appears again when one of them differs. */
  change(id: string, body: Members): DepositRecord;
  depositOf(account: CustodyAccount, id: string): DepositRecord;
  changesOf(
    account: CustodyAccount,
    page: { after: string | undefined; limit: number },
  ): { items: DepositRecord[]; next_cursor: string; has_more: boolean };
  /** Sends a webhook of the account. */
  notify(account: CustodyAccount, event: { type: string; objectId: string; references?: readonly string[] }): void;
  deposits(): readonly OwnedDeposit[];
  /** What must outlive a restart, as JSON. */
  snapshot(): Members;
  /** Takes a snapshot back; nobody is told. */
  restore(snapshot: Members): void;
  reset(): void;
}

/** What the simulated custodian knows of addresses and deposits. */
export function createCustodyTruth(accounts: readonly CustodyAccount[], kit: SimulatorKit): CustodyTruth {
  const addresses = createAddressBook(kit);
  const deposits = new Map<string, OwnedDeposit>();
  const feeds = new Map<CustodyAccount, ChangeFeed>(accounts.map((account) => [account, createChangeFeed()]));
  const notify = createNotify(kit);

  function store(account: CustodyAccount, record: DepositRecord): DepositRecord {
    deposits.set(record.id, { account, record });
    feeds.get(account)?.touch(record.id);
    notify(account, { type: 'deposit.changed', objectId: record.id, references: [String(record.address)] });
    return record;
  }
  function owned(id: string): OwnedDeposit {
    const found = deposits.get(id);
    if (!found) throw notFound(`there is no deposit ${id}`);
    return found;
  }
  return {
    accountOfKey: (apiKey) => accounts.find((account) => account.apiKey === apiKey),
    addresses,
    arrive(body) {
      const address = addresses.find(body.address);
      const account = address?.account ?? accounts.find(({ book }) => book === body.book) ?? accounts[0];
      if (!account) throw badRequest('the simulator has no account');
      return store(account, newDeposit(body, address?.record));
    },
    change(id, body) {
      const { account, record } = owned(id);
      const settleIn = addresses.find(record.address)?.record.settle_in ?? null;
      const next = changedDeposit(record, { body, settleIn });
      return isSameDeposit(record, next) ? record : store(account, next);
    },
    depositOf(account, id) {
      const found = owned(id);
      if (found.account !== account) throw notFound(`there is no deposit ${id}`);
      return found.record;
    },
    changesOf(account, page) {
      const feed = feeds.get(account) ?? createChangeFeed();
      const { ids, nextCursor, hasMore } = feed.page(page);
      const items = ids.flatMap((id) => deposits.get(id)?.record ?? []);
      return { items, next_cursor: nextCursor, has_more: hasMore };
    },
    notify,
    deposits: () => [...deposits.values()],
    snapshot: () => ({
      addresses: addresses.objects(),
      deposits: [...deposits.values()].map(({ account, record }) => ({ ...record, book: account.book })),
      positions: Object.fromEntries([...feeds].map(([account, feed]) => [account.book, feed.positions()])),
    }),
    restore: (snapshot) => restore(snapshot, { addresses, deposits, feeds }),
    reset() {
      addresses.clear();
      deposits.clear();
      for (const feed of feeds.values()) feed.clear();
    },
  };
}

function createNotify(kit: SimulatorKit): CustodyTruth['notify'] {
  return (account, { type, objectId, references = [] }) => {
    const eventId = `cev_${randomBytes(12).toString('hex')}`;
    kit.webhooks.send({
      eventId,
      type,
      references: [objectId, ...references],
      body: { event_id: eventId, type, object_id: objectId, occurred_at: new Date().toISOString() },
      target: { url: account.hookUrl, sign: timedSigner('x-custody-signature', account.webhookSecret) },
    });
  };
}

// By book, for keys and secrets are made anew at each start of the product.
function restore(
  snapshot: Members,
  into: { addresses: AddressBook; deposits: Map<string, OwnedDeposit>; feeds: Map<CustodyAccount, ChangeFeed> },
): void {
  const positions = membersOf(snapshot.positions ?? {}, 'positions');
  for (const [account, feed] of into.feeds) {
    const own = (kind: string) => objectsOf(snapshot[kind]).filter(({ book }) => book === account.book);
    for (const { reference, network, asset, settle_in } of own('addresses')) {
      into.addresses.make(account, { reference, network, asset, settle_in });
    }
    for (const record of own('deposits').map(restoredDeposit)) into.deposits.set(record.id, { account, record });
    feed.restore(positions[account.book]);
  }
}
