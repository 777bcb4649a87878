import { z } from 'zod';
import {
  BALANCE_CHECK_RESULTS,
  type BalanceCheckAction,
  type BalanceCheckResult,
  type BalanceCheckTrigger,
} from '../domain/balance.js';
import type { Book } from '../domain/books.js';
import { toTime } from './values.js';

/** What a mirror shows of one currency of a source, or of one address there. Decimal texts, as the provider writes. */
export interface BalanceRecord {
  /** Position of a page: currency, or address and currency. */
  readonly position: string;
  /** What our tools call the source. */
  readonly sourceKey: string;
  readonly source: string;
  readonly currency: string;
  readonly address: string | null;
  /** Of a currency our sum, of an address what was seen last. */
  readonly balance: string;
  readonly version: string | null;
  readonly stale: boolean;
  readonly confirmed: string | null;
  readonly frozen: string | null;
  readonly held: string | null;
  readonly available: string | null;
  /** Our sum less theirs; null of an address, of which they state nothing. */
  readonly difference: string | null;
  readonly differsSince: Date | null;
  readonly lastAction: string | null;
  readonly lastReadAt: Date;
}

export interface BalanceCheckRecord {
  readonly id: string;
  readonly sourceKey: string;
  readonly book: Book;
  readonly traceId: string | null;
  readonly source: string;
  readonly trigger: BalanceCheckTrigger;
  /** Null while it is under way. */
  readonly result: BalanceCheckResult | null;
  readonly actions: readonly BalanceCheckAction[];
  readonly currencies: readonly { currency: string; ours: string; theirs: string; difference: string }[];
  readonly changesRead: number;
  readonly consecutiveDifferences: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
}

const decimal = z.string().describe('A decimal as the provider writes it.');

/** A balance of the mirror (API.md 3, R19): what the provider says, beside what we booked. */
export const balanceSchema = z.object({
  object: z.literal('balance'),
  source: z.string(),
  currency: z.string().describe('The provider’s own code.'),
  address: z.string().nullable(),
  balance: decimal.describe('By currency our sum; by address what was seen last.'),
  version_seen: z.string().nullable(),
  stale: z.boolean().describe('Not seen again since the journal could not tell what was missed.'),
  confirmed: decimal.nullable(),
  frozen: decimal.nullable(),
  held: decimal.nullable(),
  available: decimal.nullable(),
  difference: decimal.nullable().describe('Our sum less theirs.'),
  differs_since: z.string().nullable(),
  last_action: z.string().nullable(),
  last_read_at: z.string(),
});
export type BalanceResource = z.infer<typeof balanceSchema>;

/** How a check ends. */
export const balanceCheckResult = z.enum(BALANCE_CHECK_RESULTS);

export const balanceCheckSchema = z.object({
  object: z.literal('balance_check'),
  id: z.string(),
  source: z.string(),
  trigger: z.enum(['timer', 'webhook_gap', 'operator', 'first_load']),
  result: balanceCheckResult.nullable(),
  actions: z.array(z.enum(['compared', 'backfilled', 'accepted', 'rebased'])),
  currencies: z.array(z.object({ currency: z.string(), ours: decimal, theirs: decimal, difference: decimal })),
  changes_read: z.number(),
  consecutive_differences: z.number(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
});
export type BalanceCheckResource = z.infer<typeof balanceCheckSchema>;

export function toBalance(record: BalanceRecord): BalanceResource {
  const { source, currency, address, balance, stale, confirmed, frozen, held, available, difference } = record;
  return {
    ...{ object: 'balance', source, currency, address, balance, version_seen: record.version, stale },
    ...{ confirmed, frozen, held, available, difference },
    differs_since: record.differsSince && toTime(record.differsSince),
    last_action: record.lastAction,
    last_read_at: toTime(record.lastReadAt),
  };
}

export function toBalanceCheck(record: BalanceCheckRecord): BalanceCheckResource {
  const { id, source, trigger, result, actions, currencies } = record;
  return {
    ...{ object: 'balance_check', id, source, trigger, result, actions: [...actions], currencies: [...currencies] },
    changes_read: record.changesRead,
    consecutive_differences: record.consecutiveDifferences,
    started_at: toTime(record.startedAt),
    finished_at: record.finishedAt && toTime(record.finishedAt),
  };
}
