import { maskCardData } from '../mask-card-data.js';
import { isFresh, matchesAnySignature, readTimedSignature } from '../signature.js';
import { isPlainText, isProviderId, readStrictJson, type StrictJsonRefusal } from '../strict-json.js';

export const CUSTODY_SIGNATURE_HEADER = 'x-custody-signature';

const TOLERANCE_SECONDS = 300;
const DELIVERY_ID_MAX = 200;

const SUBJECT_TYPES = { 'deposit.changed': 'deposit', 'payout.changed': 'payout' } as const;
type CustodyEventType = keyof typeof SUBJECT_TYPES;

/**
 * Whether the bytes come from the custodian: `t=<unix seconds>,v1=<hex>[,v1=<hex>]`, HMAC-SHA256 over `<t>.<body>`
 * under one of the secrets, signed within 300 s of receipt, both ways. `nowMs` is the moment of receipt.
 * Never throws: whatever is odd about the header is `bad`.
 */
export function verifyCustodyWebhook(input: {
  readonly rawBody: Buffer;
  readonly headers: Pick<Headers, 'get'>;
  /** Newest first; two during a rotation. */
  readonly secrets: readonly string[];
  readonly nowMs: number;
}): 'ok' | 'bad' {
  const signature = readTimedSignature(input.headers.get(CUSTODY_SIGNATURE_HEADER) ?? '');
  if (!signature) return 'bad';
  const { timestamp, seconds, candidates } = signature;
  if (!isFresh({ seconds, nowMs: input.nowMs, toleranceSeconds: TOLERANCE_SECONDS })) return 'bad';
  const parts = [`${timestamp}.`, input.rawBody];
  return matchesAnySignature({ candidates, encoding: 'hex', secrets: input.secrets, parts }) ? 'ok' : 'bad';
}

/** Why a signed body names nothing; the relay stores and parks it under this reason. */
export type CustodyParkReason =
  | StrictJsonRefusal
  | 'not_an_object'
  | 'proto_member'
  | 'no_event_id'
  | 'no_object_id'
  | 'unknown_type';

export type CustodySubject =
  | {
      readonly deliveryId: string;
      readonly eventType: CustodyEventType;
      readonly subject: { readonly type: 'deposit' | 'payout'; readonly ref: string };
    }
  /** `deliveryId` is there when the body has a usable one; without it the hash of the body is the id (DESIGN 7). */
  | { readonly parked: CustodyParkReason; readonly deliveryId: string | null };

/** Names what a verified body speaks of. It takes ids and nothing else from it: a notification carries no facts. */
export function nameCustodySubject(rawBody: Buffer): CustodySubject {
  const json = readStrictJson(rawBody);
  if (!json.ok) return { parked: json.reason, deliveryId: null };
  if (json.hasProto) return { parked: 'proto_member', deliveryId: null };
  const body = membersOf(json.value);
  if (!body) return { parked: 'not_an_object', deliveryId: null };
  const deliveryId = body.get('event_id');
  if (!isPlainText(deliveryId, DELIVERY_ID_MAX)) return { parked: 'no_event_id', deliveryId: null };
  const eventType = body.get('type');
  if (!isEventType(eventType)) return { parked: 'unknown_type', deliveryId };
  const ref = body.get('object_id');
  if (!isProviderId(ref)) return { parked: 'no_object_id', deliveryId };
  return { deliveryId, eventType, subject: { type: SUBJECT_TYPES[eventType], ref } };
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.getPrototypeOf(value) === Object.prototype ? new Map(Object.entries(value)) : null;
}

function isEventType(value: unknown): value is CustodyEventType {
  return typeof value === 'string' && Object.hasOwn(SUBJECT_TYPES, value);
}

/** A custodian has no business with cards; should one slip into a body all the same, it is not stored. */
export function maskCustodyWebhook(rawBody: Buffer): Buffer {
  return maskCardData(rawBody);
}
