import { randomBytes } from 'node:crypto';
import { formatAmount, isDecimalString, type Minor, parseAmount } from '../../domain/money.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, notFound, objectsOf } from '../simulator-kit/requests.js';
import type { CustodyAccount } from './simulator-addresses.js';
import { CHAINS, inventTransactionHash, isChain } from './simulator-chain.js';
import type { CustodyTruth } from './simulator-truth.js';

/** A payout is shown this long after its POST (WIRE.md: within 2 s), and goes on by itself after these waits. */
const SHOWN_AFTER_MS = 500;
const BROADCAST_AFTER_MS = 1_000;
const COMPLETED_AFTER_MS = 3_000;

/** Scale in which amounts of any asset are added. */
const SCALE = 18;
const SETTABLE = ['status', 'tx_hash', 'fee', 'network', 'asset', 'address', 'tag', 'amount'] as const;

type Members = Readonly<Record<string, unknown>>;
export type PayoutRecord = { readonly id: string; readonly reference: string } & Readonly<
  Record<(typeof SETTABLE)[number], unknown>
>;

export interface CustodyPayouts {
  /** Pays, each time it is called: a custodian's payout is not idempotent. */
  pay(account: CustodyAccount, request: Members): object;
  payoutOf(account: CustodyAccount, id: string): object;
  payoutsOf(account: CustodyAccount, reference: string): object[];
  /** Changes a payout and takes it over: from now on it moves only when told to. */
  change(id: string, body: Members): object;
  transferOf(account: CustodyAccount, txHash: string): object;
  balancesOf(account: CustodyAccount): object[];
  objects(): object[];
  /** Takes back what `objects` gave before a restart; nobody is told. */
  restore(payouts: unknown): void;
  reset(): void;
}

interface Owned {
  readonly account: CustodyAccount;
  record: PayoutRecord;
  readonly shownFrom: number;
  takenOver: boolean;
}

/** Payouts of the simulated custodian, and what follows from them: transfers and balances. */
export function createCustodyPayouts(
  truth: CustodyTruth,
  { kit, accounts }: { kit: SimulatorKit; accounts: readonly CustodyAccount[] },
): CustodyPayouts {
  const payouts = new Map<string, Owned>();
  const move = (owned: Owned, members: Members) => {
    owned.record = { ...owned.record, ...members };
    truth.notify(owned.account, {
      type: 'payout.changed',
      objectId: owned.record.id,
      references: [owned.record.reference],
    });
  };
  const moveLater = (owned: Owned, ms: number, members: Members) => {
    setTimeout(() => {
      if (payouts.get(owned.record.id) === owned && !owned.takenOver) move(owned, members);
    }, ms).unref();
  };
  const keep = (account: CustodyAccount, record: PayoutRecord): Owned => {
    const owned = { account, record, shownFrom: performance.now() + SHOWN_AFTER_MS, takenOver: false };
    payouts.set(record.id, owned);
    kit.effect({ kind: 'payout', reference: record.reference, id: record.id });
    if (record.status === 'queued') {
      moveLater(owned, BROADCAST_AFTER_MS, { status: 'broadcast', tx_hash: inventTransactionHash(record.network) });
    }
    if (record.status === 'queued' || record.status === 'broadcast') {
      moveLater(owned, COMPLETED_AFTER_MS, { status: 'completed', fee: { asset: record.asset, amount: '0.00001' } });
    }
    return owned;
  };
  const visibleTo = (account: CustodyAccount) =>
    [...payouts.values()].filter((owned) => owned.account === account && owned.shownFrom <= performance.now());
  return {
    pay: (account, request) => shown(keep(account, newPayout(request)).record),
    payoutOf(account, id) {
      const owned = visibleTo(account).find(({ record }) => record.id === id);
      if (!owned) throw notFound('no such payout');
      return shown(owned.record);
    },
    payoutsOf: (account, reference) =>
      visibleTo(account)
        .filter(({ record }) => record.reference === reference)
        .map(({ record }) => shown(record)),
    change(id, body) {
      const owned = payouts.get(id);
      if (!owned) throw notFound(`there is no payout ${id}`);
      const other = Object.keys(body).find((member) => !SETTABLE.some((known) => known === member));
      if (other) throw badRequest(`a payout has no ${other}; known are ${SETTABLE.join(', ')}`);
      owned.takenOver = true;
      move(owned, body);
      return owned.record;
    },
    transferOf(account, txHash) {
      const owned = [...payouts.values()].find((known) => known.account === account && known.record.tx_hash === txHash);
      if (!owned) throw notFound('no such transfer');
      const { tx_hash, network, asset, address, tag, amount, status } = owned.record;
      return { tx_hash, network, asset, to: address, tag, amount, status };
    },
    balancesOf: (account) => balances(truth, { account, payouts: [...payouts.values()] }),
    objects: () => [...payouts.values()].map(({ account, record }) => ({ ...record, book: account.book })),
    restore(list) {
      for (const members of objectsOf(list)) {
        const account = accounts.find(({ book }) => book === members.book);
        if (account) keep(account, restoredPayout(members));
      }
    },
    reset: () => payouts.clear(),
  };
}

function newPayout(request: Members): PayoutRecord {
  const { reference, network, asset, address, tag = null, amount } = request;
  if (typeof reference !== 'string' || reference === '') throw badRequest('reference must be text');
  const assets: readonly string[] = isChain(network) ? CHAINS[network].assets : [];
  if (typeof asset !== 'string' || !assets.includes(asset)) throw badRequest('network and asset do not fit');
  if (typeof address !== 'string' || address === '') throw badRequest('address must be text');
  if (!isDecimalString(amount) || /^[0.]+$/.test(amount))
    throw badRequest('amount must be a decimal string above zero');
  const id = `cpo_${randomBytes(12).toString('hex')}`;
  return { id, reference, network, asset, address, tag, amount, status: 'queued', tx_hash: null, fee: null };
}

function restoredPayout(members: Members): PayoutRecord {
  const { network, asset, address, tag, amount, status, tx_hash, fee } = members;
  const id = String(members.id);
  return { id, reference: String(members.reference), network, asset, address, tag, amount, status, tx_hash, fee };
}

function shown({ id, reference, status, tx_hash, fee }: PayoutRecord): object {
  return { id, reference, status, tx_hash, fee };
}

// A settled deposit is held in the currency it was settled in; a payout that did not fail is gone.
function balances(truth: CustodyTruth, { account, payouts }: { account: CustodyAccount; payouts: Owned[] }): object[] {
  const sums = new Map<string, { available: Minor; pending: Minor }>();
  const add = (asset: unknown, amount: unknown, change: { pending?: boolean; sign?: bigint }) => {
    const minor = parseAmount(amount, SCALE);
    if (typeof asset !== 'string' || typeof minor !== 'bigint') return;
    const sum = sums.get(asset) ?? { available: 0n, pending: 0n };
    sum[change.pending ? 'pending' : 'available'] += minor * (change.sign ?? 1n);
    sums.set(asset, sum);
  };
  for (const { account: owner, record } of truth.deposits()) {
    if (owner !== account) continue;
    const { status, settlement } = record;
    const held = isSettlement(settlement) ? settlement : record;
    if (status === 'completed') add(held.asset, held.amount, {});
    if (status === 'seen' || status === 'confirming') add(record.asset, record.amount, { pending: true });
  }
  for (const { account: owner, record } of payouts) {
    if (owner !== account || record.status === 'failed') continue;
    add(record.asset, record.amount, { sign: -1n });
    if (isSettlement(record.fee)) add(record.fee.asset, record.fee.amount, { sign: -1n });
  }
  return [...sums].map(([asset, { available, pending }]) => ({
    asset,
    available: plain(available),
    pending: plain(pending),
  }));
}

function isSettlement(value: unknown): value is { asset: unknown; amount: unknown } {
  return typeof value === 'object' && value !== null && 'asset' in value && 'amount' in value;
}

function plain(minor: Minor): string {
  return formatAmount(minor, SCALE).replace(/\.?0+$/, '');
}
