import { namesCardNumber } from '../../domain/card-numbers.js';
import { maskCardData } from '../mask-card-data.js';
import {
  readNotification,
  type SignedWebhook,
  type UnreadableNotification,
  verifyTimedWebhook,
} from '../notification.js';
import { isProviderId } from '../strict-json.js';

export const CUSTODY_SIGNATURE_HEADER = 'x-custody-signature';

const SUBJECT_TYPES = { 'deposit.changed': 'deposit', 'payout.changed': 'payout' } as const;
type CustodyEventType = keyof typeof SUBJECT_TYPES;

/** Whether the bytes come from the custodian, by `X-Custody-Signature` (see `verifyTimedWebhook`). Never throws. */
export function verifyCustodyWebhook(webhook: SignedWebhook): 'ok' | 'bad' {
  return verifyTimedWebhook(CUSTODY_SIGNATURE_HEADER, webhook);
}

/** Why a signed body names nothing; the relay stores and parks it under this reason. */
export type CustodyParkReason = UnreadableNotification | 'card_data' | 'no_object_id' | 'unknown_type';

export type CustodySubject =
  | {
      readonly deliveryId: string;
      readonly eventType: CustodyEventType;
      readonly subject: { readonly type: 'deposit' | 'payout'; readonly ref: string };
    }
  /** `deliveryId` is there when the body has a usable one; without it the hash of the body is the id (DESIGN 7). */
  | { readonly parked: CustodyParkReason; readonly deliveryId: string | null };

/**
 * Names what a verified body speaks of. It takes ids and nothing else from it: a notification carries no facts. What is
 * named stands in clear in the inbox, so an id that holds a card number names nothing (`card_data`).
 */
export function nameCustodySubject(rawBody: Buffer): CustodySubject {
  const notification = readNotification(rawBody);
  if ('parked' in notification) return { parked: notification.parked, deliveryId: null };
  const { eventId: deliveryId, members } = notification;
  if (namesCardNumber(deliveryId)) return { parked: 'card_data', deliveryId: null };
  const eventType = members.get('type');
  if (!isEventType(eventType)) return { parked: 'unknown_type', deliveryId };
  const ref = members.get('object_id');
  if (!isProviderId(ref)) return { parked: 'no_object_id', deliveryId };
  if (namesCardNumber(ref)) return { parked: 'card_data', deliveryId };
  return { deliveryId, eventType, subject: { type: SUBJECT_TYPES[eventType], ref } };
}

function isEventType(value: unknown): value is CustodyEventType {
  return typeof value === 'string' && Object.hasOwn(SUBJECT_TYPES, value);
}

/** A custodian has no business with cards; should one slip into a body all the same, it is not stored. */
export function maskCustodyWebhook(rawBody: Buffer): Buffer {
  return maskCardData(rawBody);
}
