import { z } from 'zod';
import { isDecimalString } from '../../domain/money.js';
import { isPlainText, isProviderId, wholeNumberOf } from '../strict-json.js';
import { holdsDigitsOf, isCardData, maskIssuerText, reasonClassOf } from './card-data.js';
import { ISSUER_EVENT_TYPES, type IssuerEventType } from './event-types.js';

/** Statuses of a card that WIRE.md names; any other is kept as `unknown_status` and parks the subject (R4). */
export const ISSUER_CARD_STATUSES = ['active', 'pending', 'declined', 'frozen', 'closed'] as const;
export type IssuerCardStatus = (typeof ISSUER_CARD_STATUSES)[number];

/** A decimal string in the asset's own unit, as reported. */
export interface IssuerAmount {
  readonly amount: string;
  readonly asset: string;
}

/** A card as the issuer states it now: what of it may exist here. Number and code of the card are no part of it. */
export interface IssuerCard {
  readonly id: string;
  /** Our own name for it: the issuance. */
  readonly reference: string;
  readonly product: string;
  readonly status: IssuerCardStatus | 'unknown_status';
  /** The status exactly as sent. */
  readonly providerStatus: string;
  /** The class of the reason when the issuer gives one (`do_not_honor`), else `other`. */
  readonly declineReason: string | null;
  /** The last four digits of the card number, or null while there is none. */
  readonly last4: string | null;
  /** 1 to 12. */
  readonly expMonth: number | null;
  /** Four digits. */
  readonly expYear: number | null;
  /** The initial load; null while the issuer does not state it. */
  readonly load: IssuerAmount | null;
}

/** A closed card with what was left on it. */
export type ClosedIssuerCard = IssuerCard & { readonly remaining: IssuerAmount };

/** One event of the feed. Amounts are of this step, not totals. */
export interface IssuerEvent {
  readonly eventId: string;
  readonly type: IssuerEventType | 'unknown_type';
  readonly providerType: string;
  readonly cardId: string | null;
  readonly authorizationId: string | null;
  readonly reference: string | null;
  readonly amount: string | null;
  readonly asset: string | null;
  readonly merchant: {
    readonly name: string | null;
    readonly mcc: string | null;
    readonly country: string | null;
  } | null;
  readonly local: { readonly amount: string; readonly currency: string } | null;
  /** Of a clearing: nothing more will come. */
  readonly final: boolean | null;
  /** Who decided an authorization, when the issuer says so: `issuer` is its stand-in. */
  readonly decidedBy: string | null;
  readonly occurredAt: string;
}

/** A record of a page, or why it could not be read. `reason` names the member and never its value. */
export type IssuerEventItem =
  | { readonly ok: true; readonly record: IssuerEvent }
  | { readonly ok: false; readonly id: string | null; readonly reason: string };

export interface IssuerEventPage {
  readonly items: readonly IssuerEventItem[];
  /** Null when the last page names none: then the old cursor stays (R3). */
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

export interface IssuerBalance {
  readonly asset: string;
  readonly available: string;
}

export type Parsed<T> = { readonly ok: true; readonly record: T } | { readonly ok: false; readonly reason: string };

const TEXT_MAX = 256;
const CARD_DATA = 'holds a card number';

// A second check with a message of its own, so that a person learns why a record was not taken.
const withoutCardData = <T extends z.ZodType<string>>(schema: T) =>
  schema.refine((value) => !isCardData(value), { error: CARD_DATA });
const plain = (max: number) => z.custom<string>((value) => isPlainText(value, max), 'not plain text');
const text = (max: number) => withoutCardData(plain(max));
const word = withoutCardData(z.custom<string>(isWord, 'not a word'));
const id = withoutCardData(z.custom<string>(isProviderId, 'not an id'));
const decimal = z.custom<string>(isDecimalString, 'not a decimal string');
const whole = (min: number, max: number) =>
  z
    .custom((value) => (wholeNumberOf(value, max) ?? -1) >= min, 'not a whole number in range')
    .transform((value) => wholeNumberOf(value, max) ?? 0);
const time = z.custom<string>(isTime, 'not an RFC 3339 time');
const amount = z.object({ amount: decimal, asset: word });

// The one look at the number of a card: only its last four digits leave this file. The code is not even named here.
const cardSchema = z
  .object({
    id,
    reference: text(TEXT_MAX),
    product: word,
    status: word,
    decline_reason: plain(TEXT_MAX).nullable(),
    // Also absence: the one member that we would rather not be sent.
    pan: z.custom<string>(isCardNumber, 'not a card number').nullish(),
    exp_month: whole(1, 12).nullable(),
    exp_year: whole(2_000, 2_999).nullable(),
    load: amount.nullable(),
    remaining: amount.nullish(),
  })
  .transform(({ pan, remaining, ...wire }) => ({
    pan: pan ?? null,
    remaining: remaining ?? null,
    card: {
      id: wire.id,
      reference: wire.reference,
      product: wire.product,
      status: ISSUER_CARD_STATUSES.find((known) => known === wire.status) ?? ('unknown_status' as const),
      providerStatus: wire.status,
      declineReason: wire.decline_reason === null ? null : reasonClassOf(wire.decline_reason),
      last4: pan?.slice(-4) ?? null,
      expMonth: wire.exp_month,
      expYear: wire.exp_year,
      load: wire.load,
    } satisfies IssuerCard,
  }));

const eventSchema = z
  .object({
    event_id: id,
    type: word,
    card_id: id.nullable(),
    authorization_id: id.nullable(),
    reference: text(TEXT_MAX).nullable(),
    amount: decimal.nullable(),
    asset: word.nullable(),
    merchant: z
      .object({ name: plain(TEXT_MAX).nullable(), mcc: text(16).nullable(), country: text(16).nullable() })
      .nullable(),
    local: z.object({ amount: decimal, currency: word }).nullable(),
    final: z.boolean().nullish(),
    decided_by: word.nullish(),
    occurred_at: time,
  })
  .transform((wire): IssuerEvent => {
    const { merchant } = wire;
    return {
      eventId: wire.event_id,
      type: ISSUER_EVENT_TYPES.find((known) => known === wire.type) ?? 'unknown_type',
      providerType: wire.type,
      cardId: wire.card_id,
      authorizationId: wire.authorization_id,
      reference: wire.reference,
      amount: wire.amount,
      asset: wire.asset,
      merchant: merchant && { ...merchant, name: merchant.name === null ? null : maskIssuerText(merchant.name) },
      local: wire.local,
      final: wire.final ?? null,
      decidedBy: wire.decided_by ?? null,
      occurredAt: wire.occurred_at,
    };
  });

const items = z.array(z.unknown()).max(1_000);
const pageSchema = z.object({ items, next_cursor: plain(1_024).nullish(), has_more: z.boolean() });
const listSchema = z.object({ items });
const balanceSchema = z.object({
  asset: word,
  available: z.custom<string>((value) => isSignedDecimal(value), 'not a decimal string'),
});

/** One card; unknown members are ignored, known ones checked, number and code of the card left behind. */
export function parseIssuerCard(body: unknown): Parsed<IssuerCard> {
  const parsed = parseCardParts(body);
  return parsed.ok ? { ok: true, record: parsed.record.card } : parsed;
}

/** The answer of a close: a card that says what was left on it. */
export function parseClosedIssuerCard(body: unknown): Parsed<ClosedIssuerCard> {
  const parsed = parseCardParts(body);
  if (!parsed.ok) return parsed;
  const { card, remaining } = parsed.record;
  if (remaining === null) return { ok: false, reason: 'remaining: missing or of another type' };
  return { ok: true, record: { ...card, remaining } };
}

/** A list of cards; one bad record makes the whole list unusable, for it may be the one that was asked for. */
export function parseIssuerCardList(body: unknown): Parsed<readonly IssuerCard[]> {
  return parseList(body, parseIssuerCard);
}

/** A page of events, record by record: a bad one is named and does not spoil the others. */
export function parseIssuerEventPage(body: unknown): Parsed<IssuerEventPage> {
  const page = parseWith(pageSchema, body);
  if (!page.ok) return page;
  const found = page.record.items.map((item): IssuerEventItem => {
    const event = parseWith(eventSchema, item);
    return event.ok ? event : { ok: false, id: idOf(item, 'event_id'), reason: event.reason };
  });
  const { next_cursor: nextCursor, has_more: hasMore } = page.record;
  return { ok: true, record: { items: found, nextCursor: nextCursor ?? null, hasMore } };
}

/** What the issuer holds for us, by asset. */
export function parseIssuerBalances(body: unknown): Parsed<readonly IssuerBalance[]> {
  return parseList(body, (item) => parseWith(balanceSchema, item));
}

/** The record's id under that name if it has a usable one, whatever else is wrong with it. */
export function idOf(item: unknown, member: 'id' | 'event_id'): string | null {
  if (typeof item !== 'object' || item === null || !Object.hasOwn(item, member)) return null;
  const value: unknown = new Map<string, unknown>(Object.entries(item)).get(member);
  return isProviderId(value) && !isCardData(value) ? value : null;
}

function parseCardParts(body: unknown): Parsed<z.infer<typeof cardSchema>> {
  const parsed = parseWith(cardSchema, body);
  if (!parsed.ok || parsed.record.pan === null) return parsed;
  const { pan, card, remaining } = parsed.record;
  // A record that repeats the number in another member, an amount for one, would carry it past this edge.
  const { last4: _last4, ...rest } = card;
  const leaking = Object.entries({ ...rest, remaining }).find(([, value]) =>
    Object.values(typeof value === 'object' && value !== null ? value : [value]).some(
      (each) => typeof each === 'string' && holdsDigitsOf(each, pan),
    ),
  );
  return leaking ? { ok: false, reason: `${leaking[0]}: ${CARD_DATA}` } : parsed;
}

function parseList<T>(body: unknown, parse: (item: unknown) => Parsed<T>): Parsed<readonly T[]> {
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

function isCardNumber(value: unknown): boolean {
  return typeof value === 'string' && /^[0-9]{12,19}$/.test(value);
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' && /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(value);
}

function isSignedDecimal(value: unknown): boolean {
  return typeof value === 'string' && isDecimalString(value.replace(/^-/, ''));
}

function isTime(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  );
}
