import { z } from 'zod';
import { namesCardNumber } from '../../domain/card-numbers.js';
import { isDecimalString } from '../../domain/money.js';
import { isPlainText, isProviderId, wholeNumberOf } from '../strict-json.js';

/** Statuses of a deposit that WIRE.md names; any other is kept as `unknown` and parks the subject (R4). */
export const CUSTODY_DEPOSIT_STATUSES = ['seen', 'confirming', 'completed', 'failed', 'replaced'] as const;
export type CustodyDepositStatus = (typeof CUSTODY_DEPOSIT_STATUSES)[number];

/** One deposit as the custodian states it now. Amounts are decimal strings in the asset's own unit, as reported. */
export interface CustodyDeposit {
  readonly id: string;
  readonly address: string;
  readonly tag: string | null;
  readonly network: string;
  readonly asset: string;
  readonly txHash: string | null;
  /** Position among the transaction's outputs; null while the custodian does not know it. */
  readonly outputIndex: number | null;
  readonly amount: string;
  readonly confirmations: number;
  readonly requiredConfirmations: number;
  readonly status: CustodyDepositStatus | 'unknown';
  /** The status exactly as sent: what our API shows as `provider_status`. */
  readonly providerStatus: string;
  readonly settlement: { readonly asset: string; readonly amount: string } | null;
  /** Id of the deposit that took this one's place. */
  readonly replacedBy: string | null;
  readonly updatedAt: string;
}

export interface CustodyAddress {
  readonly id: string;
  readonly reference: string;
  readonly network: string;
  readonly asset: string;
  readonly address: string;
  readonly tag: string | null;
  readonly settleIn: string | null;
}

/** A payout as the custodian states it now; amounts are decimal strings in the asset's own unit. */
export interface CustodyPayout {
  readonly id: string;
  readonly reference: string;
  /** As sent: one that WIRE.md does not name moves nothing (R4). */
  readonly status: string;
  readonly txHash: string | null;
  readonly fee: { readonly asset: string; readonly amount: string } | null;
}

/** An outgoing transfer, as proof of a payout. */
export interface CustodyTransfer {
  readonly txHash: string;
  readonly network: string;
  readonly asset: string;
  readonly to: string;
  readonly tag: string | null;
  readonly amount: string;
  readonly status: string;
}

/** A record of a page, or why it could not be read. `reason` names the member and never its value. */
export type CustodyDepositItem =
  | { readonly ok: true; readonly record: CustodyDeposit }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

export interface CustodyDepositPage {
  readonly items: readonly CustodyDepositItem[];
  /** Null when the last page names none: then the old cursor stays (R3). */
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

export type Parsed<T> = { readonly ok: true; readonly record: T } | { readonly ok: false; readonly reason: string };

const CONFIRMATIONS_MAX = 1_000_000_000;
const OUTPUT_INDEX_MAX = 1_000_000_000;
const PAGE_ITEMS_MAX = 1_000;
const TEXT_MAX = 256;

// What of a record is kept as it is stated. A cursor and the hint at another record are not looked into.
const free = <T extends z.ZodType<string>>(schema: T) =>
  schema.refine((value) => !namesCardNumber(value), { error: 'holds a card number' });
const plain = (max: number) => z.custom<string>((value) => isPlainText(value, max), 'not plain text');
const text = (max: number) => free(plain(max));
const anyId = z.custom<string>(isProviderId, 'not an id');
const id = free(anyId);
const decimal = z.custom<string>(isDecimalString, 'not a decimal string');
const whole = (max: number) =>
  z
    .custom((value) => wholeNumberOf(value, max) !== null, 'not a whole number in range')
    .transform((value) => wholeNumberOf(value, max) ?? 0);
const time = z.custom<string>(isTime, 'not an RFC 3339 time');

// Null is an answer, absence is not: a record without `output_index` would be another instrument (R10).
const depositSchema = z
  .object({
    id,
    address: text(TEXT_MAX),
    tag: text(TEXT_MAX).nullable(),
    network: text(64),
    asset: text(64),
    tx_hash: text(TEXT_MAX).nullable(),
    output_index: whole(OUTPUT_INDEX_MAX).nullable(),
    amount: decimal,
    confirmations: whole(CONFIRMATIONS_MAX),
    required_confirmations: whole(CONFIRMATIONS_MAX),
    status: text(64),
    settlement: z.object({ asset: text(64), amount: decimal }).nullable(),
    replaced_by: anyId.nullable(),
    updated_at: time,
  })
  .transform(
    (wire): CustodyDeposit => ({
      id: wire.id,
      address: wire.address,
      tag: wire.tag,
      network: wire.network,
      asset: wire.asset,
      txHash: wire.tx_hash,
      outputIndex: wire.output_index,
      amount: wire.amount,
      confirmations: wire.confirmations,
      requiredConfirmations: wire.required_confirmations,
      status: CUSTODY_DEPOSIT_STATUSES.find((known) => known === wire.status) ?? 'unknown',
      providerStatus: wire.status,
      settlement: wire.settlement,
      replacedBy: wire.replaced_by,
      updatedAt: wire.updated_at,
    }),
  );

const addressSchema = z
  .object({
    id,
    reference: text(TEXT_MAX),
    network: text(64),
    asset: text(64),
    address: text(TEXT_MAX),
    tag: text(TEXT_MAX).nullable(),
    settle_in: text(64).nullable(),
  })
  .transform(({ settle_in, ...wire }): CustodyAddress => ({ ...wire, settleIn: settle_in }));

const payoutSchema = z
  .object({
    id,
    reference: text(TEXT_MAX),
    status: text(64),
    tx_hash: text(TEXT_MAX).nullable(),
    fee: z.object({ asset: text(64), amount: decimal }).nullable(),
  })
  .transform(({ tx_hash, ...wire }): CustodyPayout => ({ ...wire, txHash: tx_hash }));

const transferSchema = z
  .object({
    tx_hash: text(TEXT_MAX),
    network: text(64),
    asset: text(64),
    to: text(TEXT_MAX),
    tag: text(TEXT_MAX).nullable(),
    amount: decimal,
    status: text(64),
  })
  .transform(({ tx_hash, ...wire }): CustodyTransfer => ({ ...wire, txHash: tx_hash }));

const pageSchema = z.object({
  items: z.array(z.unknown()).max(PAGE_ITEMS_MAX),
  next_cursor: plain(1_024).nullish(),
  has_more: z.boolean(),
});
const listSchema = z.object({ items: z.array(z.unknown()).max(PAGE_ITEMS_MAX) });

/** One deposit record; unknown members are ignored, known ones checked. */
export function parseCustodyDeposit(body: unknown): Parsed<CustodyDeposit> {
  return parseWith(depositSchema, body);
}

/** One address record. */
export function parseCustodyAddress(body: unknown): Parsed<CustodyAddress> {
  return parseWith(addressSchema, body);
}

/** A page of changes, record by record: a bad one is named and does not spoil the others (CASES D08). */
export function parseCustodyDepositPage(body: unknown): Parsed<CustodyDepositPage> {
  const page = parseWith(pageSchema, body);
  if (!page.ok) return page;
  const items = page.record.items.map((item): CustodyDepositItem => {
    const deposit = parseCustodyDeposit(item);
    return deposit.ok ? deposit : { ok: false, id: idOf(item), reason: deposit.reason };
  });
  return { ok: true, record: { items, nextCursor: page.record.next_cursor ?? null, hasMore: page.record.has_more } };
}

/** A list of addresses; one bad record makes the whole list unusable, for it may be the one that was asked for. */
export function parseCustodyAddressList(body: unknown): Parsed<readonly CustodyAddress[]> {
  return parseList(parseCustodyAddress, body);
}

export function parseCustodyPayout(body: unknown): Parsed<CustodyPayout> {
  return parseWith(payoutSchema, body);
}

/** A list of payouts, all of it or none, as of addresses. */
export function parseCustodyPayoutList(body: unknown): Parsed<readonly CustodyPayout[]> {
  return parseList(parseCustodyPayout, body);
}

export function parseCustodyTransfer(body: unknown): Parsed<CustodyTransfer> {
  return parseWith(transferSchema, body);
}

/** The record's id if it has a usable one, whatever else is wrong with it. */
export function idOf(item: unknown): string | null {
  const value = typeof item === 'object' && item !== null && Object.hasOwn(item, 'id') && 'id' in item ? item.id : null;
  return isProviderId(value) && !namesCardNumber(value) ? value : null;
}

function parseList<T>(parse: (item: unknown) => Parsed<T>, body: unknown): Parsed<readonly T[]> {
  const list = parseWith(listSchema, body);
  if (!list.ok) return list;
  const found = list.record.items.map((item) => parse(item));
  const bad = found.find((item) => !item.ok);
  return bad ?? { ok: true, record: found.flatMap((item) => (item.ok ? [item.record] : [])) };
}

function parseWith<T>(schema: z.ZodType<T>, body: unknown): Parsed<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return { ok: true, record: parsed.data };
  const issue = parsed.error.issues[0];
  const member = issue?.path.join('.') || 'record';
  return { ok: false, reason: `${member}: ${issue?.code === 'custom' ? issue.message : 'missing or of another type'}` };
}

function isTime(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}
