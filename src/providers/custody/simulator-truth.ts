import { randomBytes } from 'node:crypto';
import { type ChangeFeed, createChangeFeed } from '../simulator-kit/changes.js';
import type { SimulatedWorld } from '../simulator-kit/control.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, notFound } from '../simulator-kit/requests.js';
import { timedSigner } from '../simulator-kit/signing.js';
import { type AddressBook, type AddressRecord, type CustodyAccount, createAddressBook } from './simulator-addresses.js';
import { CHAINS, guessChain, inventTransactionHash, isChain, settle } from './simulator-chain.js';

// Unknown values on purpose: whoever drives the simulator may state anything, also what no honest custodian would.
const SETTABLE = [
  'address',
  'tag',
  'network',
  'asset',
  'tx_hash',
  'output_index',
  'amount',
  'confirmations',
  'required_confirmations',
  'status',
  'settlement',
  'replaced_by',
] as const;
type Settable = (typeof SETTABLE)[number];
export type DepositRecord = { readonly id: string; readonly updated_at: unknown } & Readonly<Record<Settable, unknown>>;
type Members = Readonly<Record<string, unknown>>;

interface OwnedDeposit {
  readonly account: CustodyAccount;
  readonly record: DepositRecord;
}

export interface CustodyTruth extends SimulatedWorld {
  accountOfKey(apiKey: string): CustodyAccount | undefined;
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
}

/** What the simulated custodian knows of addresses and deposits. */
export function createCustodyTruth(accounts: readonly CustodyAccount[], kit: SimulatorKit): CustodyTruth {
  const addresses = createAddressBook(kit);
  const deposits = new Map<string, OwnedDeposit>();
  const feeds = new Map<CustodyAccount, ChangeFeed>(accounts.map((account) => [account, createChangeFeed()]));

  const notify: CustodyTruth['notify'] = (account, { type, objectId, references = [] }) => {
    const eventId = `cev_${randomBytes(12).toString('hex')}`;
    kit.webhooks.send({
      eventId,
      type,
      references: [objectId, ...references],
      body: { event_id: eventId, type, object_id: objectId, occurred_at: new Date().toISOString() },
      target: { url: account.hookUrl, sign: timedSigner('x-custody-signature', account.webhookSecret) },
    });
  };
  const store = (account: CustodyAccount, record: DepositRecord) => {
    deposits.set(record.id, { account, record });
    feeds.get(account)?.touch(record.id);
    notify(account, { type: 'deposit.changed', objectId: record.id, references: [String(record.address)] });
    return record;
  };
  return {
    accountOfKey: (apiKey) => accounts.find((account) => account.apiKey === apiKey),
    addresses,
    arrive(body) {
      const owned = addresses.find(body.address);
      const account = owned?.account ?? accounts.find(({ book }) => book === body.book) ?? accounts[0];
      if (!account) throw badRequest('the simulator has no account');
      return store(account, newDeposit(body, owned?.record));
    },
    change(id, body) {
      const owned = deposits.get(id);
      if (!owned) throw notFound(`there is no deposit ${id}`);
      const { account, record } = owned;
      const settleIn = addresses.find(record.address)?.record.settle_in ?? null;
      const next = changedDeposit(record, { body, settleIn });
      const same = SETTABLE.every((member) => JSON.stringify(next[member]) === JSON.stringify(record[member]));
      return same ? record : store(account, next);
    },
    depositOf(account, id) {
      const owned = deposits.get(id);
      if (owned?.account !== account) throw notFound('no such deposit');
      return owned.record;
    },
    changesOf(account, page) {
      const feed = feeds.get(account) ?? createChangeFeed();
      const { ids, nextCursor, hasMore } = feed.page(page);
      const items = ids.flatMap((id) => deposits.get(id)?.record ?? []);
      return { items, next_cursor: nextCursor, has_more: hasMore };
    },
    notify,
    deposits: () => [...deposits.values()],
    objects: () => ({
      addresses: addresses.objects(),
      deposits: [...deposits.values()].map(({ account, record }) => ({ ...record, book: account.book })),
    }),
    reset() {
      addresses.clear();
      deposits.clear();
      for (const feed of feeds.values()) feed.clear();
    },
  };
}

function newDeposit(body: Members, address: AddressRecord | undefined): DepositRecord {
  refuseOthers(body, ['book']);
  if (typeof body.address !== 'string' || body.address === '') throw badRequest('a deposit needs an address');
  if (body.amount === undefined) throw badRequest('a deposit needs an amount, a decimal string');
  const network = body.network ?? address?.network ?? guessChain(body.address);
  const chain = isChain(network) ? CHAINS[network] : undefined;
  const asset = body.asset ?? address?.asset ?? chain?.assets[0];
  if (network === undefined || asset === undefined) {
    throw badRequest('nobody made this address here: name network and asset too');
  }
  const required = body.required_confirmations ?? chain?.requiredConfirmations ?? 1;
  const status = body.status ?? statusOf(body.confirmations, required);
  const settled = status === 'completed' && address?.settle_in ? settle(body.amount, address.settle_in) : null;
  return {
    id: `cdp_${randomBytes(12).toString('hex')}`,
    address: body.address,
    tag: body.tag ?? null,
    network,
    asset,
    tx_hash: given(body.tx_hash, inventTransactionHash(network)),
    output_index: given(body.output_index, 0),
    amount: body.amount,
    confirmations: body.confirmations ?? confirmationsOf(status, required),
    required_confirmations: required,
    status,
    settlement: given(body.settlement, settled),
    replaced_by: body.replaced_by ?? null,
    updated_at: new Date().toISOString(),
  };
}

// What becomes completed is confirmed and settled, unless it is said otherwise.
function changedDeposit(
  record: DepositRecord,
  { body, settleIn }: { body: Members; settleIn: string | null },
): DepositRecord {
  refuseOthers(body, ['updated_at']);
  const next: DepositRecord = { ...record, updated_at: new Date().toISOString(), ...body };
  if (body.status !== 'completed') return next;
  const settled = settleIn === null ? null : settle(next.amount, settleIn);
  return {
    ...next,
    confirmations: given(body.confirmations, next.required_confirmations),
    settlement: given(body.settlement, record.settlement ?? settled),
  };
}

// Null is given; only absence takes what we would have chosen.
function given(value: unknown, otherwise: unknown): unknown {
  return value === undefined ? otherwise : value;
}

function statusOf(confirmations: unknown, required: unknown): string {
  if (typeof confirmations !== 'number' || typeof required !== 'number') return 'completed';
  if (confirmations >= required) return 'completed';
  return confirmations > 0 ? 'confirming' : 'seen';
}

function confirmationsOf(status: unknown, required: unknown): unknown {
  if (status === 'completed') return required;
  return status === 'confirming' ? 1 : 0;
}

function refuseOthers(body: Members, also: readonly string[]): void {
  const known: readonly string[] = [...SETTABLE, ...also];
  const other = Object.keys(body).find((member) => !known.includes(member));
  if (other) throw badRequest(`a deposit has no ${other}; known are ${known.join(', ')}`);
}
