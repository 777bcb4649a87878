import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Retryable } from '../../src/db/errors.js';
import { acceptDeliveries, claimPending } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { choosePorts } from '../../src/local/ports.js';
import { deliveryOf, notification, signatureOf } from '../support/deposit-deliveries.js';
import { depositOf, expectDepositInvariants, expectNothingComesOf, inboxOf } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { TEST_SECRET } from '../support/simulated-custody.js';
import { testTemporal, uniqueTaskQueue } from '../support/test-temporal.js';

let world: DepositWorld;

beforeAll(async () => {
  world = await openDepositWorld();
});
afterAll(async () => {
  await world.close();
});

/** The relay as it is deployed, in a process of its own. */
async function startRelay(port: number): Promise<ChildProcess> {
  const child = fork(new URL('../../src/relay.ts', import.meta.url), {
    execArgv: ['--import', 'tsx'],
    stdio: 'inherit',
    env: {
      DATABASE_URL: world.database.urlFor('relay'),
      TEMPORAL_ADDRESS: testTemporal().address,
      SVERKA_TASK_QUEUE: uniqueTaskQueue(),
      SVERKA_RELAY_PORT: String(port),
      SVERKA_LOG_LEVEL: 'error',
      SVERKA_LIVE_CUSTODY_URL: 'http://127.0.0.1:9',
      SVERKA_LIVE_CUSTODY_API_KEY: 'unused',
      SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: TEST_SECRET,
    },
  });
  const [message] = await once(child, 'message');
  if (!message.ready) throw new Error('The first message of a process says that it is ready.');
  return child;
}

// Waits for a word on its standard input, so that all begin at once.
const SENDER = `
  const [url, signature, body] = process.argv.slice(1);
  process.stdin.once('data', async () => {
    const headers = { 'x-custody-signature': signature };
    const answer = await fetch(url, { method: 'POST', headers, body }).catch(() => ({ status: 0 }));
    process.stdout.write(String(answer.status));
    process.exit(0);
  });
  process.stdout.write('ready ');`;

it('ten processes deliver one event to two relays at once: one row, all answered, one credit [CASES A01]', async () => {
  const ports = await choosePorts(['one', 'two']);
  const relays = await Promise.all([startRelay(ports.one), startRelay(ports.two)]);
  try {
    const at = await world.address();
    const opening = await world.arrive(at, { amount: '100' });
    await world.read(opening);
    const ref = await world.arrive(at, { amount: '50' });
    const body = notification(ref, { event_id: 'evt_dup' });
    const senders = Array.from({ length: 10 }, (_, n) => {
      const url = `http://127.0.0.1:${n % 2 === 0 ? ports.one : ports.two}/hooks/custody/main-live`;
      return spawn(process.execPath, ['-e', SENDER, url, signatureOf(body), body], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
    });
    const outputs = senders.map((sender) => sender.stdout.setEncoding('utf8').toArray());
    await Promise.all(senders.map((sender) => once(sender, 'spawn')));
    for (const sender of senders) sender.stdin.write('go\n');
    const said = (await Promise.all(outputs)).map((parts) => parts.join(''));
    expect(said).toEqual(said.map(() => 'ready 200'));
    expect(await inboxOf(world.owner, `delivery_id = 'evt_dup'`)).toHaveLength(1);
    await Promise.all(Array.from({ length: 10 }, () => world.read(ref)));
    expect((await depositOf(world.owner, ref)).movements).toHaveLength(1);
    expect(await walletOf(world, at)).toBe('150.000000');
    expect((await expectDepositInvariants(world.owner)).movements).toBe(2);
    await expectNothingComesOf(world, () => world.page());
  } finally {
    const ended = relays.map((relay) => once(relay, 'exit'));
    for (const relay of relays) relay.kill('SIGTERM');
    await Promise.all(ended);
  }
});

it('batches that cross each other in their ids all end, and each delivery is stored once', async () => {
  const pool = createPool(world.database.urlFor('relay'), { max: 12, applicationName: 'test' });
  const db = queriesOf(pool);
  const deliveries = Array.from({ length: 60 }, (_, n) => deliveryOf(`cdp_${n}`));
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const turned = [...deliveries.slice(n * 5), ...deliveries.slice(0, n * 5)];
      for (;;) {
        try {
          return await acceptDeliveries(db, n % 2 === 0 ? turned : turned.reverse());
        } catch (error) {
          if (!(error instanceof Retryable)) throw error;
        }
      }
    }),
  );
  await pool.end();
  const counts = { stored: 0, duplicate: 0, conflict: 0 };
  for (const outcome of outcomes.flat()) counts[outcome] += 1;
  expect(counts).toEqual({ stored: 60, duplicate: 60 * 11, conflict: 0 });
});

it('eight sweeps at once claim each row once', async () => {
  await world.owner.query('update sverka.inbox set next_attempt_at = now()');
  const limits = { most: 9, graceMs: 0, leaseMs: 60_000 };
  const claimed: string[] = [];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (;;) {
        const rows = await claimPending(queriesOf(world.pool), limits);
        if (rows.length === 0) return;
        claimed.push(...rows.map((row) => row.id));
      }
    }),
  );
  expect(claimed).toHaveLength(60);
  expect(new Set(claimed).size).toBe(60);
});
