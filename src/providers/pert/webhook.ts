import { namesCardNumber } from '../../domain/card-numbers.js';
import { maskCardData } from '../mask-card-data.js';
import { membersOf, readNotificationBody, type SignedWebhook, type UnreadableNotification } from '../notification.js';
import { matchesAnySignature } from '../signature.js';
import { isProviderId } from '../strict-json.js';
import { maskPertText } from './mask-pert-text.js';
import { type PertTransaction, parsePertTransaction } from './schema.js';

export const PERT_SIGNATURE_HEADER = 'x-webhook-signature';
export const PERT_EVENT_ID_HEADER = 'x-webhook-event-id';

const SIGNATURE_PREFIX = 'sha256=';
const DELIVERY_ID = /^[\x21-\x7e]{1,200}$/;
const EVENT_TYPES = ['transaction.created', 'transaction.updated'] as const;
export type PertEventType = (typeof EVENT_TYPES)[number];

/** Why a signed body names nothing; the relay stores and parks it under this reason. */
export type PertParkReason = UnreadableNotification | 'card_data' | 'no_transaction_id' | 'unknown_type';

export type PertSubject =
  | {
      readonly deliveryId: string;
      readonly eventType: PertEventType;
      readonly subject: { readonly type: 'transaction'; readonly ref: string };
    }
  /** `deliveryId` is there when the header is a usable one; without it the hash of the body is the id (DESIGN 7). */
  | { readonly parked: PertParkReason; readonly deliveryId: string | null };

/** The transaction that a notification carries, or why it cannot be read; `reason` never holds a value. */
export type PertNotification =
  | { readonly ok: true; readonly transaction: PertTransaction }
  | { readonly ok: false; readonly reason: string };

/**
 * Whether the bytes come from Pert: `X-Webhook-Signature: sha256=<hex>`, HMAC-SHA256 over the body. Never throws:
 * whatever is odd is `bad`. Nothing signed says when it was sent, so a repeat is told by its event id alone.
 */
export function verifyPertWebhook(webhook: SignedWebhook): 'ok' | 'bad' {
  const header = webhook.headers.get(PERT_SIGNATURE_HEADER) ?? '';
  const candidates = header.startsWith(SIGNATURE_PREFIX) ? [header.slice(SIGNATURE_PREFIX.length)] : [];
  const { secrets, rawBody } = webhook;
  return matchesAnySignature({ candidates, encoding: 'hex', secrets, parts: [rawBody] }) ? 'ok' : 'bad';
}

/**
 * Names the transaction that a verified body speaks of. The delivery id stands in a header that nobody signed. What is
 * named stands in clear in the inbox, so an id that holds a card number names nothing (`card_data`).
 */
export function namePertSubject(rawBody: Buffer, headers: Pick<Headers, 'get'>): PertSubject {
  const given = headers.get(PERT_EVENT_ID_HEADER) ?? '';
  if (namesCardNumber(given)) return { parked: 'card_data', deliveryId: null };
  const deliveryId = DELIVERY_ID.test(given) ? given : null;
  const body = readNotificationBody(rawBody);
  if ('parked' in body) return { parked: body.parked, deliveryId };
  if (deliveryId === null) return { parked: 'no_event_id', deliveryId };
  const eventType = body.members.get('event');
  if (!isEventType(eventType)) return { parked: 'unknown_type', deliveryId };
  const ref = membersOf(body.members.get('transaction'))?.get('id');
  if (!isProviderId(ref)) return { parked: 'no_transaction_id', deliveryId };
  if (namesCardNumber(ref)) return { parked: 'card_data', deliveryId };
  return { deliveryId, eventType, subject: { type: 'transaction', ref } };
}

/** The facts of a stored body: unlike others, this provider's notifications carry them. Reads masked bodies as well. */
export function readPertNotification(rawBody: Buffer): PertNotification {
  const body = readNotificationBody(rawBody);
  if ('parked' in body) return { ok: false, reason: body.parked };
  if (!isEventType(body.members.get('event'))) return { ok: false, reason: 'event: unknown' };
  const parsed = parsePertTransaction(body.members.get('transaction'));
  return parsed.ok ? { ok: true, transaction: parsed.record } : { ok: false, reason: `transaction.${parsed.reason}` };
}

/** What of the body may be stored: not a card number or a security code, but every fact as it was. */
export function maskPertWebhook(rawBody: Buffer): Buffer {
  return maskCardData(rawBody, maskPertText);
}

function isEventType(value: unknown): value is PertEventType {
  return EVENT_TYPES.some((known) => known === value);
}
