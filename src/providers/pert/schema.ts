import { stringify } from 'lossless-json';
import { z } from 'zod';
import { namesCardNumber } from '../../domain/card-numbers.js';
import { isPlainText, isProviderId, plainDecimalOf } from '../strict-json.js';
import { maskPertText } from './mask-pert-text.js';

/** One side of a transaction. Amounts are decimal strings in the currency's unit, as reported and never negative. */
export interface PertSide {
  readonly address: string;
  /** What this version changed on this side: zero for a mere change of status. */
  readonly amount: string;
  /** The address's balance right after this version: a snapshot, never a difference. */
  readonly balance: string;
}

/** One version of a transaction. `from` and `to` may be one address. */
export interface PertTransaction {
  readonly id: string;
  /** As sent: it moves nothing here. */
  readonly status: string;
  readonly currency: string;
  /** Orders the balances of each address; it may be far beyond 2^53. */
  readonly balanceVersion: bigint;
  readonly from: PertSide | null;
  readonly to: PertSide | null;
  readonly createdAt: string;
}

/**
 * A transaction of a page, or why it could not be read: `reason` names the member and never its value, `raw` is the
 * item as JSON text of at most 16 384 characters without card numbers, from which it can be read again after a fix.
 */
export type PertItem =
  | { readonly ok: true; readonly transaction: PertTransaction }
  | { readonly ok: false; readonly id: string | null; readonly reason: string; readonly raw: string };

export interface PertPage {
  readonly items: readonly PertItem[];
  /** Null when the page names none: then the old cursor stays (R3). */
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

/** What Pert holds in one currency, each part as it states it. */
export interface PertCurrency {
  readonly currency: string;
  /** Confirmed. */
  readonly balance: string;
  readonly frozen: string;
  /** Outgoing transactions that are in flight. */
  readonly held: string;
  readonly available: string;
}

/** All currencies at one position of the journal. */
export interface PertSnapshot {
  readonly cursor: string;
  /** A position older than this can no longer be paged from (R2: `compareCursors`). */
  readonly minCursor: string;
  readonly currencies: readonly PertCurrency[];
}

export type Parsed<T> = { readonly ok: true; readonly record: T } | { readonly ok: false; readonly reason: string };

const PAGE_ITEMS_MAX = 1_000;
const CURRENCIES_MAX = 1_000;
const CURSOR_MAX = 1_024;
const TEXT_MAX = 256;
const RAW_MAX = 16_384;
/** NUMERIC(38,0) holds it. */
const VERSION_DIGITS_MAX = 38;
const SHORT = /^[a-zA-Z0-9_-]{1,12}$/;
const TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$/;

const plain = (max: number) => z.custom<string>((value) => isPlainText(value, max), 'not plain text');
const text = (max: number) => plain(max).refine(namesNoCard, { error: 'holds a card number' });
const decimal = z
  .custom((value) => plainDecimalOf(value) !== null, 'not a decimal')
  .transform((value) => plainDecimalOf(value) ?? '');

const pageSchema = z.object({
  items: z.array(z.unknown()).max(PAGE_ITEMS_MAX),
  next_cursor: z.literal('').or(plain(CURSOR_MAX)).nullish(),
  has_more: z.boolean(),
});

const snapshotSchema = z.object({
  cursor: plain(CURSOR_MAX),
  min_cursor: plain(CURSOR_MAX),
  currency_balances: z
    .array(z.object({ currency: text(64), balance: decimal, frozen: decimal, held: decimal, available: decimal }))
    .max(CURRENCIES_MAX)
    .refine((list) => new Set(list.map(({ currency }) => currency)).size === list.length, {
      error: 'a currency stands twice',
    }),
});

/**
 * One transaction; unknown members are ignored, known ones checked. Null is an answer, absence is not: a transaction
 * without `from` may have moved money there all the same. Not by zod, which takes three times as long: there are
 * millions.
 */
export function parsePertTransaction(body: unknown): Parsed<PertTransaction> {
  try {
    return { ok: true, record: transactionOf(body) };
  } catch (error) {
    if (error instanceof UnreadableMember) return { ok: false, reason: error.message };
    throw error;
  }
}

/** A page of changes, item by item: a bad one is named, kept as text, and does not spoil the others (CASES D08). */
export function parsePertPage(body: unknown): Parsed<PertPage> {
  const page = parseWith(pageSchema, body);
  if (!page.ok) return page;
  const { items, next_cursor, has_more } = page.record;
  return { ok: true, record: { items: items.map(parseItem), nextCursor: next_cursor || null, hasMore: has_more } };
}

/** The balances of all currencies; a currency that stands twice makes the whole answer unusable. */
export function parsePertSnapshot(body: unknown): Parsed<PertSnapshot> {
  const snapshot = parseWith(snapshotSchema, body);
  if (!snapshot.ok) return snapshot;
  const { cursor, min_cursor, currency_balances } = snapshot.record;
  return { ok: true, record: { cursor, minCursor: min_cursor, currencies: currency_balances } };
}

function parseItem(item: unknown): PertItem {
  const parsed = parsePertTransaction(item);
  if (parsed.ok) return { ok: true, transaction: parsed.record };
  return { ok: false, id: idOf(item), reason: parsed.reason, raw: rawOf(item) };
}

class UnreadableMember extends Error {}

function transactionOf(body: unknown): PertTransaction {
  const id = memberOf(body, 'id', 'record');
  return {
    id: isProviderId(id) ? nameOf(id, 'id') : refuse('id: not an id'),
    status: textOf(memberOf(body, 'status'), { member: 'status', max: 64 }),
    currency: textOf(memberOf(body, 'currency'), { member: 'currency', max: 64 }),
    balanceVersion:
      versionOf(memberOf(body, 'balance_version')) ?? refuse('balance_version: not a whole number in range'),
    from: sideOf(memberOf(body, 'from'), 'from'),
    to: sideOf(memberOf(body, 'to'), 'to'),
    createdAt: timeOf(memberOf(body, 'created_at')),
  };
}

function sideOf(side: unknown, member: string): PertSide | null {
  if (side === null) return null;
  return {
    address: textOf(memberOf(side, 'address', member), { member: `${member}.address`, max: TEXT_MAX }),
    amount: plainDecimalOf(memberOf(side, 'amount')) ?? refuse(`${member}.amount: not a decimal`),
    balance: plainDecimalOf(memberOf(side, 'balance')) ?? refuse(`${member}.balance: not a decimal`),
  };
}

/** An own member of an object: what stands in its prototype is not its own. */
function memberOf(value: unknown, member: string, whole = 'record'): unknown {
  if (typeof value !== 'object' || value === null) return refuse(`${whole}: missing or of another type`);
  return Object.hasOwn(value, member) ? (value as Readonly<Record<string, unknown>>)[member] : undefined;
}

function textOf(value: unknown, { member, max }: { member: string; max: number }): string {
  return isPlainText(value, max) ? nameOf(value, member) : refuse(`${member}: not plain text`);
}

function nameOf(value: string, member: string): string {
  return namesNoCard(value) ? value : refuse(`${member}: holds a card number`);
}

function timeOf(value: unknown): string {
  return typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : refuse('created_at: not an RFC 3339 time');
}

function refuse(reason: string): never {
  throw new UnreadableMember(reason);
}

function idOf(item: unknown): string | null {
  const value = typeof item === 'object' && item !== null && Object.hasOwn(item, 'id') && 'id' in item ? item.id : null;
  return isProviderId(value) && namesNoCard(value) ? value : null;
}

// The cut may not split what would be masked, so it comes last.
function rawOf(item: unknown): string {
  return maskPertText(stringify(item) ?? '').slice(0, RAW_MAX);
}

// Four stars in a row are what masking left of a card number: no name is made of them. Twelve letters hold no number.
function namesNoCard(value: string): boolean {
  return SHORT.test(value) || (!value.includes('****') && !namesCardNumber(value));
}

function versionOf(value: unknown): bigint | null {
  const digits = plainDecimalOf(value);
  return digits !== null && digits.length <= VERSION_DIGITS_MAX && /^[0-9]+$/.test(digits) ? BigInt(digits) : null;
}

function parseWith<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { ok: true, record: parsed.data };
  const issue = parsed.error.issues[0];
  const member = issue?.path.join('.') || 'record';
  return { ok: false, reason: `${member}: ${issue?.code === 'custom' ? issue.message : 'missing or of another type'}` };
}
