import { z } from 'zod';
import type { Book } from '../domain/books.js';
import { DEPOSIT_ADDRESS_STATES, type DepositAddressState } from '../domain/deposit-address.js';
import { ownerSchema, type Settlement, settlementSchema, toOwner, toTime } from './values.js';

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
