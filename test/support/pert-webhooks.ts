import { createHash } from 'node:crypto';
import { acceptDeliveries } from '../../src/db/inbox.js';
import type { Tx } from '../../src/db/transaction.js';
import { namePertSubject } from '../../src/providers/pert/webhook.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { eventually } from './simulated-custody.js';
import type { SimulatedPert } from './simulated-pert.js';

export interface ToldWebhook {
  readonly deliveryId: string;
  readonly body: Buffer;
}

/** What Pert has notified so far, once all of it is there. */
export async function heardWebhooks(pert: SimulatedPert): Promise<ToldWebhook[]> {
  await eventually(async () => (await pert.truth()).webhooks.every(({ attempts }) => attempts.length > 0));
  return pert.liveHooks.received.map(({ headers, body }) => ({
    deliveryId: String(headers['x-webhook-event-id']),
    body: Buffer.from(body),
  }));
}

/** Stores them by the relay's door, as its own reader names them. */
export async function storeWebhooks(
  tx: Tx,
  told: readonly ToldWebhook[],
  { account } = { account: 'pert-main' },
): Promise<void> {
  if (told.length === 0) return;
  await acceptDeliveries(
    tx,
    told.map(({ deliveryId, body }) => {
      const named = namePertSubject(body, new Headers({ 'x-webhook-event-id': deliveryId }));
      if ('parked' in named) throw new Error(`A webhook of the simulator is parked: ${named.parked}`);
      return {
        ...{ provider: 'pert', endpoint: account, book: 'live', deliveryId, body, parkedReason: null },
        ...{ eventType: named.eventType, subject: named.subject, traceId: newTraceId() },
        bodyHash: createHash('sha256').update(body).digest(),
      };
    }),
  );
}

/** All that was notified so far, each once. */
export async function storePertWebhooks(tx: Tx, pert: SimulatedPert): Promise<void> {
  await storeWebhooks(tx, await heardWebhooks(pert));
}
