import { z } from 'zod';
import type { Book } from '../domain/books.js';
import { DEPOSIT_STATES, type DepositState } from '../domain/deposit.js';
import type { Minor } from '../domain/money.js';
import { amountSchema, ownerSchema, type Settlement, settlementSchema, toAmount, toOwner, toTime } from './values.js';

/** A deposit as the database keeps it. */
export interface DepositRecord {
  id: string;
  book: Book;
  merchantId: string;
  customerId: string | null;
  customerRef: string | null;
  depositAddressId: string;
  kind: 'deposit' | 'airdrop';
  network: string;
  provider: string;
  providerAccount: string;
  providerRef: string;
  providerStatus: string;
  txHash: string | null;
  outputIndex: number | null;
  blockNumber: string | null;
  blockHash: string | null;
  /** The amount as the provider wrote it. */
  reportedText: string;
  reportedAsset: string;
  settlementMode: Settlement['mode'];
  settlementAsset: string | null;
  generation: number;
  creditedAmount: Minor | null;
  creditedAsset: string | null;
  spendable: boolean;
  movementIds: string[];
  flag: string | null;
  /** What contradicts our books, in full, accepted or not. */
  contradiction: string | null;
  /** The one that a person has accepted: no flag is raised while it stays the same to the letter. */
  acceptedContradiction: string | null;
  appliedTicket: bigint;
  lastReadAt: Date;
  creditedAt: Date | null;
  finalAt: Date | null;
  state: DepositState;
  version: number;
  reason: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What the API shows of it (API.md 3). */
export const depositSchema = z.object({
  object: z.literal('deposit'),
  id: z.string(),
  kind: z.enum(['deposit', 'airdrop']),
  state: z.enum(DEPOSIT_STATES),
  version: z.int(),
  reason: z.string().nullable(),
  generation: z.int(),
  deposit_address_id: z.string(),
  owner: ownerSchema,
  network: z.string(),
  transaction: z.object({
    hash: z.string().nullable(),
    position: z.int().nullable(),
    block_number: z.string().nullable(),
    block_hash: z.string().nullable(),
  }),
  reported: amountSchema,
  credited: amountSchema.nullable(),
  spendable: z.boolean(),
  settlement: settlementSchema,
  provider: z.string(),
  provider_ref: z.string(),
  provider_status: z.string(),
  movement_ids: z.array(z.string()),
  last_read_at: z.string(),
  credited_at: z.string().nullable(),
  final_at: z.string().nullable(),
  created_at: z.string(),
  updated_at: z.string(),
});
export type DepositResource = z.infer<typeof depositSchema>;

export function toDeposit(record: DepositRecord): DepositResource {
  return {
    object: 'deposit',
    id: record.id,
    kind: record.kind,
    state: record.state,
    version: record.version,
    reason: record.flag ?? record.reason,
    generation: record.generation,
    deposit_address_id: record.depositAddressId,
    owner: toOwner(record),
    network: record.network,
    transaction: {
      hash: record.txHash,
      position: record.outputIndex,
      block_number: record.blockNumber,
      block_hash: record.blockHash,
    },
    reported: { amount: record.reportedText, asset: record.reportedAsset },
    credited:
      record.creditedAmount === null || record.creditedAsset === null
        ? null
        : toAmount(record.creditedAmount, record.creditedAsset),
    spendable: record.spendable,
    settlement: { mode: record.settlementMode, asset: record.settlementAsset },
    provider: record.provider,
    provider_ref: record.providerRef,
    provider_status: record.providerStatus,
    movement_ids: record.movementIds,
    last_read_at: toTime(record.lastReadAt),
    credited_at: toTime(record.creditedAt),
    final_at: toTime(record.finalAt),
    created_at: toTime(record.createdAt),
    updated_at: toTime(record.updatedAt),
  };
}
