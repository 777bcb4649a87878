import { z } from 'zod';
import { findAsset, isNetwork, NETWORK_ASSETS, NETWORKS, type Network } from '../domain/assets.js';
import type { Book } from '../domain/books.js';
import { DEPOSIT_ADDRESS_STATES, type DepositAddressState } from '../domain/deposit-address.js';
import { ownerSchema, referenceSchema, type Settlement, settlementSchema, toOwner, toTime } from './values.js';

/** A deposit address as the database keeps it. */
export interface DepositAddressRecord {
  id: string;
  book: Book;
  merchantId: string;
  customerId: string | null;
  customerRef: string | null;
  network: string;
  asset: string;
  settlementMode: Settlement['mode'];
  settlementAsset: string | null;
  provider: string;
  providerAccount: string;
  providerRef: string | null;
  address: string | null;
  tag: string | null;
  needsOperator: boolean;
  state: DepositAddressState;
  version: number;
  reason: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What the API shows of it (API.md 3). */
export const depositAddressSchema = z.object({
  object: z.literal('deposit_address'),
  id: z.string(),
  state: z.enum(DEPOSIT_ADDRESS_STATES),
  version: z.int(),
  reason: z.string().nullable(),
  owner: ownerSchema,
  network: z.string(),
  asset: z.string(),
  address: z.string().nullable(),
  tag: z.string().nullable(),
  settlement: settlementSchema,
  provider: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type DepositAddressResource = z.infer<typeof depositAddressSchema>;

export function toDepositAddress(record: DepositAddressRecord): DepositAddressResource {
  return {
    object: 'deposit_address',
    id: record.id,
    state: record.state,
    version: record.version,
    reason: record.reason,
    owner: toOwner(record),
    network: record.network,
    asset: record.asset,
    address: record.address,
    tag: record.tag,
    settlement: { mode: record.settlementMode, asset: record.settlementAsset },
    provider: record.provider,
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}

/** The body of a request for a deposit address. Every optional member may be null, which is its default too. */
export const depositAddressInputSchema = z.strictObject({
  network: z
    .string()
    .max(32)
    .describe(`One of ${NETWORKS.join(', ')}.`),
  asset: z.string().max(20).nullish().describe("Default: the network's own, for `tron` USDT-TRC20."),
  customer_ref: referenceSchema.nullish().describe('Default: the merchant himself.'),
  settlement: z
    .discriminatedUnion('mode', [
      z.strictObject({ mode: z.literal('as_token'), asset: z.null().optional() }),
      z.strictObject({ mode: z.literal('settled'), asset: z.string().max(20) }),
    ])
    .nullish()
    .describe('Fixed at birth. Default: `as_token`.'),
});
export type DepositAddressBody = z.infer<typeof depositAddressInputSchema>;

/** What such a body means, defaults filled. */
export interface DepositAddressMeaning {
  readonly network: Network;
  readonly asset: string;
  readonly customerRef: string | null;
  readonly settlementMode: 'as_token' | 'settled';
  readonly settlementAsset: string | null;
}

/** A member that names what is not carried here; `pointer` is a JSON Pointer into the body. */
export interface NotSupported {
  readonly code: 'network_not_supported' | 'asset_not_supported';
  readonly pointer: string;
  readonly detail: string;
}

/** Fills the defaults of API.md 3; refuses only by what never changes, the lists of networks and assets. */
export function understandDepositAddress(input: DepositAddressBody): DepositAddressMeaning | NotSupported {
  const { network } = input;
  if (!isNetwork(network))
    return { code: 'network_not_supported', pointer: '/network', detail: `must be one of ${NETWORKS.join(', ')}` };
  const carried = NETWORK_ASSETS[network];
  const asset = input.asset ?? carried[0] ?? '';
  if (!carried.includes(asset))
    return { code: 'asset_not_supported', pointer: '/asset', detail: `must be one of ${carried.join(', ')}` };
  const settled = input.settlement?.mode === 'settled' ? input.settlement.asset : null;
  if (settled !== null && !isFiat(settled)) {
    return { code: 'asset_not_supported', pointer: '/settlement/asset', detail: 'must be a listed currency' };
  }
  return {
    network,
    asset,
    customerRef: input.customer_ref ?? null,
    settlementMode: settled === null ? 'as_token' : 'settled',
    settlementAsset: settled,
  };
}

// Currencies are the listed assets that no network carries.
function isFiat(code: string): boolean {
  return findAsset(code) !== undefined && !Object.values(NETWORK_ASSETS).some((assets) => assets.includes(code));
}
