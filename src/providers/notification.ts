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

/** Why a signed body names nothing, whoever sent it. */
export type UnreadableNotification = StrictJsonRefusal | 'not_an_object' | 'proto_member' | 'no_event_id';

export type Notification =
  | { readonly eventId: string; readonly members: ReadonlyMap<string, unknown> }
  | { readonly parked: UnreadableNotification };

/** The members of a verified body, and its `event_id`: both what every notification of this form has. */
export function readNotification(rawBody: Buffer): Notification {
  const json = readStrictJson(rawBody);
  if (!json.ok) return { parked: json.reason };
  if (json.hasProto) return { parked: 'proto_member' };
  const members = membersOf(json.value);
  if (!members) return { parked: 'not_an_object' };
  const eventId = members.get('event_id');
  return isPlainText(eventId, DELIVERY_ID_MAX) ? { eventId, members } : { parked: 'no_event_id' };
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return Object.getPrototypeOf(value) === Object.prototype ? new Map(Object.entries(value)) : null;
}
