import { createHash, createHmac } from 'node:crypto';
import type { Delivery } from '../../src/db/inbox.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { TEST_SECRET } from './simulated-custody.js';

let deliveries = 0;

/** A verified notification about that deposit, as the relay hands it on. */
export function deliveryOf(ref: string, rest: Partial<Delivery> = {}): Delivery {
  deliveries += 1;
  const body = rest.body ?? Buffer.from(JSON.stringify({ n: deliveries, ref }));
  return {
    provider: 'custody',
    endpoint: 'main-live',
    book: 'live',
    deliveryId: `cev_test_${deliveries}`,
    body,
    bodyHash: createHash('sha256').update(body).digest(),
    eventType: 'deposit.changed',
    subject: { type: 'deposit', ref },
    parkedReason: null,
    traceId: newTraceId(),
    ...rest,
  };
}

/** The body of a custodian's webhook. */
export function notification(ref: string, rest: Record<string, unknown> = {}): string {
  deliveries += 1;
  return JSON.stringify({
    event_id: `cev_test_${deliveries}`,
    type: 'deposit.changed',
    object_id: ref,
    occurred_at: '2026-11-29T10:15:30.123Z',
    ...rest,
  });
}

/** The header that signs these bytes now. */
export function signatureOf(body: string | Buffer, options: { secret?: string; age?: number } = {}): string {
  const seconds = Math.floor(Date.now() / 1_000) - (options.age ?? 0);
  const hmac = createHmac('sha256', options.secret ?? TEST_SECRET)
    .update(`${seconds}.`)
    .update(body);
  return `t=${seconds},v1=${hmac.digest('hex')}`;
}
