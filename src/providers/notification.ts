import { isFresh, matchesAnySignature, readTimedSignature } from './signature.js';
import { isPlainText, readStrictJson, type StrictJsonRefusal } from './strict-json.js';

const TOLERANCE_SECONDS = 300;
const DELIVERY_ID_MAX = 200;

/** What a webhook is verified with. */
export interface SignedWebhook {
  readonly rawBody: Buffer;
  readonly headers: Pick<Headers, 'get'>;
  /** Newest first; two during a rotation. */
  readonly secrets: readonly string[];
  /** The moment of receipt. */
  readonly nowMs: number;
}

/**
 * Whether the bytes come from the holder of a secret: `t=<unix seconds>,v1=<hex>[,v1=<hex>]` in that header,
 * HMAC-SHA256 over `<t>.<body>`, signed within 300 s of receipt, both ways. Never throws: whatever is odd is `bad`.
 */
export function verifyTimedWebhook(header: string, webhook: SignedWebhook): 'ok' | 'bad' {
  const signature = readTimedSignature(webhook.headers.get(header) ?? '');
  if (!signature) return 'bad';
  const { timestamp, seconds, candidates } = signature;
  if (!isFresh({ seconds, nowMs: webhook.nowMs, toleranceSeconds: TOLERANCE_SECONDS })) return 'bad';
  const parts = [`${timestamp}.`, webhook.rawBody];
  return matchesAnySignature({ candidates, encoding: 'hex', secrets: webhook.secrets, parts }) ? 'ok' : 'bad';
}

/** Why a signed body is no notification, whoever sent it. */
export type UnreadableBody = StrictJsonRefusal | 'not_an_object' | 'proto_member';
/** The same where the body has to hold its own id. */
export type UnreadableNotification = UnreadableBody | 'no_event_id';

export type Notification =
  | { readonly eventId: string; readonly members: ReadonlyMap<string, unknown> }
  | { readonly parked: UnreadableNotification };

/** The members of a verified body, and its `event_id`: both what every notification of this form has. */
export function readNotification(rawBody: Buffer): Notification {
  const body = readNotificationBody(rawBody);
  if ('parked' in body) return body;
  const eventId = body.members.get('event_id');
  return isPlainText(eventId, DELIVERY_ID_MAX) ? { eventId, members: body.members } : { parked: 'no_event_id' };
}

/** The members of a verified body whose id stands elsewhere. */
export function readNotificationBody(
  rawBody: Buffer,
): { readonly members: ReadonlyMap<string, unknown> } | { readonly parked: UnreadableBody } {
  const json = readStrictJson(rawBody);
  if (!json.ok) return { parked: json.reason };
  if (json.hasProto) return { parked: 'proto_member' };
  const members = membersOf(json.value);
  return members ? { members } : { parked: 'not_an_object' };
}

/** The own members of a JSON object, or null for anything else. */
export function membersOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.getPrototypeOf(value) === Object.prototype ? new Map(Object.entries(value)) : null;
}
