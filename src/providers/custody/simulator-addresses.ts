import { createHash } from 'node:crypto';
import type { SimulatedAccount } from '../simulator-kit/account.js';
import type { SimulatorKit } from '../simulator-kit/kit.js';
import { badRequest, SimulatorRefusal } from '../simulator-kit/requests.js';
import { CHAINS, inventAddress, isChain } from './simulator-chain.js';

export type CustodyAccount = SimulatedAccount;

export interface AddressRecord {
  readonly id: string;
  readonly reference: string;
  readonly network: string;
  readonly asset: string;
  readonly address: string;
  readonly tag: null;
  readonly settle_in: string | null;
}

interface OwnedAddress {
  readonly account: CustodyAccount;
  readonly record: AddressRecord;
}

export interface AddressBook {
  /** `made` is false for a repeated reference; refuses one whose other fields differ. */
  make(account: CustodyAccount, request: Members): { made: boolean; record: AddressRecord };
  named(account: CustodyAccount, reference: string): AddressRecord[];
  /** The address with this text, whoever owns it. */
  find(address: unknown): OwnedAddress | undefined;
  objects(): object[];
  clear(): void;
}

type Members = Readonly<Record<string, unknown>>;

/** Deposit addresses of all accounts: one per account and reference, for ever. */
export function createAddressBook(kit: SimulatorKit): AddressBook {
  const byReference = new Map<string, OwnedAddress>();
  const byAddress = new Map<unknown, OwnedAddress>();
  return {
    make(account, request) {
      const wanted = parseRequest(request);
      const key = keyOf(account, wanted.reference);
      const known = byReference.get(key)?.record;
      if (known) {
        const same = (['network', 'asset', 'settle_in'] as const).every((member) => known[member] === wanted[member]);
        if (!same) throw new SimulatorRefusal(409, 'reference_conflict', 'the reference names another address');
        return { made: false, record: known };
      }
      const address = inventAddress({ book: account.book, network: wanted.network, reference: wanted.reference });
      const id = `cad_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
      const owned = { account, record: { id, ...wanted, address, tag: null } };
      byReference.set(key, owned);
      byAddress.set(address, owned);
      kit.effect({ kind: 'address', reference: wanted.reference, id });
      return { made: true, record: owned.record };
    },
    named(account, reference) {
      const owned = byReference.get(keyOf(account, reference));
      return owned ? [owned.record] : [];
    },
    find: (address) => byAddress.get(address),
    objects: () => [...byReference.values()].map(({ account, record }) => ({ ...record, book: account.book })),
    clear() {
      byReference.clear();
      byAddress.clear();
    },
  };
}

function parseRequest(request: Members) {
  const { reference, network, asset, settle_in: settleIn = null } = request;
  if (typeof reference !== 'string' || reference === '' || reference.length > 256) {
    throw badRequest('reference must be text of at most 256 characters');
  }
  if (!isChain(network)) throw new SimulatorRefusal(400, 'network_not_supported', 'no such network');
  const assets: readonly string[] = CHAINS[network].assets;
  if (typeof asset !== 'string' || !assets.includes(asset)) {
    throw new SimulatorRefusal(400, 'asset_not_supported', `${network} carries ${assets.join(', ')}`);
  }
  if (settleIn !== null && (typeof settleIn !== 'string' || !/^[A-Z]{3}$/.test(settleIn))) {
    throw badRequest('settle_in must be null or a currency');
  }
  return { reference, network, asset, settle_in: settleIn };
}

function keyOf(account: CustodyAccount, reference: string): string {
  return JSON.stringify([account.book, reference]);
}
