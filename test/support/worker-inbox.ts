import { createHash, randomUUID } from 'node:crypto';
import type { Client } from '@temporalio/client';
import { acceptDeliveries, type Delivery } from '../../src/db/inbox.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import type { WorkerWorld } from './worker-world.js';

/** Stores a notification of that deposit, or that card, as the relay does, and tells nobody. */
export async function storeNotification(
  { tx }: WorkerWorld,
  ref: string,
  type: 'deposit' | 'card' = 'deposit',
): Promise<void> {
  const deliveryId = randomUUID();
  const delivery: Delivery = {
    provider: type === 'deposit' ? 'custody' : 'issuer',
    endpoint: 'main-live',
    book: 'live',
    deliveryId,
    body: Buffer.from(deliveryId),
    bodyHash: createHash('sha256').update(deliveryId).digest(),
    eventType: `${type}.changed`,
    subject: { type, ref },
    parkedReason: null,
    traceId: newTraceId(),
  };
  const outcomes = await acceptDeliveries(tx, [delivery]);
  if (outcomes[0] !== 'stored') throw new Error(`The notification was not stored: ${outcomes[0]}.`);
}

/** Status of the notifications of that deposit, oldest first, joined by commas. */
export async function notificationsOf({ owner }: WorkerWorld, ref: string): Promise<string> {
  const { rows } = await owner.query<{ status: string }>(
    'select status from sverka.inbox where subject_ref = $1 order by id',
    [ref],
  );
  return rows.map((row) => row.status).join();
}

/** The standing sweep under a name of the test's own; its one real name is taken once in a namespace. */
export async function startSweep(world: WorkerWorld, client: Client = world.temporal.client): Promise<string> {
  const workflowId = `sweep-${randomUUID()}`;
  await client.workflow.start('inboxSweep', { workflowId, taskQueue: world.temporal.taskQueue, args: [] });
  return workflowId;
}
