import { z } from 'zod';
import { ACCOUNT_KINDS, type AccountKind, MOVEMENT_KINDS } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import { amountSchema, ownerSchema, toAmount, toOwner, toTime } from './values.js';

/** A movement with its entries as the journal keeps them. */
export interface MovementRecord {
  id: string;
  kind: string;
  subjectType: string;
  subjectId: string;
  generation: number;
  recordedAt: Date;
  traceId: string | null;
  compensates: string | null;
  reference: string | null;
  entries: readonly EntryRecord[];
}

export interface EntryRecord {
  kind: AccountKind;
  merchantId: string;
  customerId: string | null;
  customerRef: string | null;
  /** The hold's subject, or the card. */
  ref: string | null;
  asset: string;
  seq: bigint;
  amount: Minor;
  balance: Minor;
}

/** What a movement was for. */
export const movementKindSchema = z.enum(MOVEMENT_KINDS);

/** What the API shows of a movement; amount and balance are signed (API.md 3). */
export const movementSchema = z.object({
  object: z.literal('movement'),
  id: z.string(),
  kind: z.string(),
  subject: z.object({ type: z.string(), id: z.string() }),
  generation: z.int(),
  recorded_at: z.string(),
  trace_id: z.string().nullable(),
  compensates: z.string().nullable(),
  reference: z.string().nullable(),
  entries: z.array(
    z.object({
      account: z.object({ kind: z.enum(ACCOUNT_KINDS), owner: ownerSchema, ref: z.string().nullable() }),
      seq: z.string(),
      amount: amountSchema,
      balance: amountSchema,
    }),
  ),
});
export type MovementResource = z.infer<typeof movementSchema>;

export function toMovement(record: MovementRecord): MovementResource {
  return {
    object: 'movement',
    id: record.id,
    kind: record.kind,
    subject: { type: record.subjectType, id: record.subjectId },
    generation: record.generation,
    recorded_at: toTime(record.recordedAt),
    trace_id: record.traceId,
    compensates: record.compensates,
    reference: record.reference,
    entries: record.entries.map((entry) => ({
      account: { kind: entry.kind, owner: toOwner(entry), ref: entry.ref },
      seq: entry.seq.toString(),
      amount: toAmount(entry.amount, entry.asset),
      balance: toAmount(entry.balance, entry.asset),
    })),
  };
}
