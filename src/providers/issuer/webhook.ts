import { maskCardData } from '../mask-card-data.js';
import {
  readNotification,
  type SignedWebhook,
  type UnreadableNotification,
  verifyTimedWebhook,
} from '../notification.js';
import { isProviderId } from '../strict-json.js';
import { isCardData, maskIssuerText } from './card-data.js';
import { ISSUER_EVENT_TYPES, type IssuerEventType } from './event-types.js';

export const ISSUER_SIGNATURE_HEADER = 'x-issuer-signature';

/** What an event speaks of: the word before its dot. Only `card` is followed today. */
export type IssuerSubjectType = IssuerEventType extends `${infer Subject}.${string}` ? Subject : never;

/** Why a signed body names nothing; the relay stores and parks it under this reason. */
export type IssuerParkReason = UnreadableNotification | 'card_data' | 'no_card_id' | 'unknown_type';

export type IssuerSubject =
  | {
      readonly deliveryId: string;
      readonly eventType: IssuerEventType;
      readonly subject: { readonly type: IssuerSubjectType; readonly ref: string };
    }
  /** `deliveryId` is there when the body has a usable one; without it the hash of the body is the id (DESIGN 7). */
  | { readonly parked: IssuerParkReason; readonly deliveryId: string | null };

/** Whether the bytes come from the issuer, by `X-Issuer-Signature` (see `verifyTimedWebhook`). Never throws. */
export function verifyIssuerWebhook(webhook: SignedWebhook): 'ok' | 'bad' {
  return verifyTimedWebhook(ISSUER_SIGNATURE_HEADER, webhook);
}

/**
 * Names what a verified body speaks of: `card.*` by our reference (`iss_…`), else by the issuer's card id; all else by
 * its authorization, else its card. It takes ids and nothing else: a notification carries no facts. What is named
 * stands in clear in the inbox, so an id that holds a card number names nothing (`card_data`).
 */
export function nameIssuerSubject(rawBody: Buffer): IssuerSubject {
  const notification = readNotification(rawBody);
  if ('parked' in notification) return { parked: notification.parked, deliveryId: null };
  const { eventId: deliveryId, members } = notification;
  if (isCardData(deliveryId)) return { parked: 'card_data', deliveryId: null };
  const eventType = members.get('type');
  if (!isEventType(eventType)) return { parked: 'unknown_type', deliveryId };
  const type = subjectTypeOf(eventType);
  const named = members.get(type === 'card' ? 'reference' : 'authorization_id');
  const ref = named === null || named === undefined || named === '' ? members.get('card_id') : named;
  if (!isProviderId(ref)) return { parked: 'no_card_id', deliveryId };
  if (isCardData(ref)) return { parked: 'card_data', deliveryId };
  return { deliveryId, eventType, subject: { type, ref } };
}

/** What of the body may be sealed and stored: not a card number, a security code or any other long number. */
export function maskIssuerWebhook(rawBody: Buffer): Buffer {
  return maskCardData(rawBody, maskIssuerText);
}

function isEventType(value: unknown): value is IssuerEventType {
  return ISSUER_EVENT_TYPES.some((known) => known === value);
}

function subjectTypeOf(eventType: IssuerEventType): IssuerSubjectType {
  return eventType.slice(0, eventType.indexOf('.')) as IssuerSubjectType;
}
