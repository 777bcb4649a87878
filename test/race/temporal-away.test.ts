import { nudgeDeposit } from '../../src/client/deposits.js';
import { createNudger } from '../../src/client/nudger.js';
import { connectTemporal } from '../../src/client/temporal.js';
import type { DepositInput } from '../../src/contracts/messages.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { requestId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { createRelayApp } from '../../src/http/relay/app.js';
import { createEndpoints } from '../../src/http/relay/endpoints.js';
import { freePort } from '../../src/local/ports.js';
import { silentLog } from '../../src/telemetry/log.js';
import { countMoneyRows, expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually, type ReceivedHook } from '../support/simulated-custody.js';
import { addressesMade, makeWorldMerchant, openWorldGateway } from '../support/worker-gateway.js';
import { notificationsOf, startSweep } from '../support/worker-inbox.js';
import { arrive, creditsOf, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { startTcpProxy } from '../support/worker-tcp-proxy.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
let dead: string;
beforeAll(async () => {
  world = await openWorkerWorld();
  dead = `127.0.0.1:${await freePort()}`;
});
afterAll(async () => world?.close());

test('with Temporal away from the start a create is 503, proven not sent, and leaves nothing', async () => {
  const gateway = await openWorldGateway(world, { address: dead });
  const merchant = await makeWorldMerchant(world);
  const before = await countMoneyRows(world.owner);
  for (const prefer of ['wait=0', 'wait=10']) {
    const answer = await gateway.create(merchant, 'k', { prefer });
    expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([503, 'temporarily_unavailable', true]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(await countMoneyRows(world.owner)).toEqual(before);
  const { body } = await gateway.get(merchant, `/v1/requests/${idOf(merchant.id)}`);
  expect(body.state).toBe('not_seen');
  await gateway.close();
});

test('with Temporal away in between a create is 503, and the same call succeeds when it is back', async () => {
  const proxy = await startTcpProxy(world.config.TEMPORAL_ADDRESS);
  const gateway = await openWorldGateway(world, { address: proxy.address });
  const merchant = await makeWorldMerchant(world);
  const worker = await world.startWorker();
  expect((await gateway.create(merchant, 'before')).status).toBe(201);
  proxy.cut({ refuse: true });
  const before = await countMoneyRows(world.owner);
  const away = await gateway.create(merchant, 'k', { body: { network: 'bitcoin' } });
  // A connection that broke under the call proves nothing; one that could not be made does.
  expect([503, 202]).toContain(away.status);
  const again = await gateway.create(merchant, 'k', { body: { network: 'bitcoin' } });
  expect([again.status, again.body.code]).toEqual([503, 'temporarily_unavailable']);
  expect(await countMoneyRows(world.owner)).toEqual(before);
  proxy.mend();
  const back = await eventually(async () => {
    const answer = await gateway.create(merchant, 'k', { body: { network: 'bitcoin' } });
    return answer.status !== 503 && answer;
  });
  expect([back.status, back.body.state]).toEqual([201, 'active']);
  await worker.stop();
  await gateway.close();
  await proxy.close();
});

test('a connection that is lost after sending is answered 202 with the request, and the address is made', async () => {
  const proxy = await startTcpProxy(world.config.TEMPORAL_ADDRESS);
  const gateway = await openWorldGateway(world, { address: proxy.address });
  const merchant = await makeWorldMerchant(world);
  const made = await addressesMade(world);
  const handle = world.temporal.client.workflow.getHandle(
    `deposit-address:live:${merchant.id}:${idOf(merchant.id).slice(4)}`,
  );
  const asking = gateway.create(merchant, 'k', { prefer: 'wait=10' });
  await eventually(() => handle.describe().catch(() => null));
  proxy.cut();
  const answer = await asking;
  expect([answer.status, answer.body.object]).toEqual([202, 'request']);
  expect(['not_seen', 'in_progress']).toContain(answer.body.state);
  expect(answer.headers.get('location')).toBe(`/v1/requests/${idOf(merchant.id)}`);

  const worker = await world.startWorker();
  await eventually(
    async () => (await gateway.get(merchant, `/v1/requests/${idOf(merchant.id)}`)).body.state === 'done',
  );
  const replay = await gateway.create(merchant, 'k', { prefer: 'wait=10' });
  expect([replay.status, replay.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  expect((await addressesMade(world)) - made).toBe(1);
  await worker.stop();
  await gateway.close();
  await proxy.close();
});

test('a webhook that came while Temporal was away is answered 200 and finished by the sweep', async () => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to);
  const hooks = world.custody.liveHooks.received;
  const hook = await eventually(() => hooks.find(({ body }) => body.toString().includes(ref)));
  expect(await deliverWithoutTemporal(ref, hook)).toEqual({ status: 200, failures: 1 });
  expect([await notificationsOf(world, ref), await depositRow(world, ref)]).toEqual(['pending', null]);

  const worker = await world.startWorker();
  const sweep = await startSweep(world);
  await eventually(async () => (await notificationsOf(world, ref)) === 'done');
  expect(await depositRow(world, ref)).toMatchObject({ state: 'final' });
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  await expectMoneyInvariants(world.owner);
  await world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
});

function idOf(merchantId: string): string {
  return requestId({ book: 'live', merchantId, key: 'k' });
}

/** The relay's own app, with a nudger that finds no Temporal. */
async function deliverWithoutTemporal(ref: string, hook: ReceivedHook) {
  const nowhere = connectTemporal({ ...world.config, TEMPORAL_ADDRESS: dead });
  const pool = createPool(world.database.urlFor('relay'), { max: 2, applicationName: 'test-relay' });
  let failures = 0;
  const nudger = createNudger(
    (input: DepositInput) => nudgeDeposit(nowhere, input, { start: true }),
    () => {
      failures += 1;
    },
  );
  const relay = createRelayApp({
    endpoints: createEndpoints(world.config.providers),
    log: silentLog,
    rateLimit: 1_000,
    accept: async (delivery) => (await acceptDeliveries(queriesOf(pool), [delivery]))[0] ?? 'conflict',
    nudge: ({ book, traceId }) => nudger.nudge(ref, depositInput(ref, { book, traceId })),
    count: () => undefined,
  });
  const headers = new Headers();
  for (const [name, value] of Object.entries(hook.headers)) if (typeof value === 'string') headers.set(name, value);
  const url = 'http://relay/hooks/custody/main-live';
  const { status } = await relay(new Request(url, { method: 'POST', headers, body: new Uint8Array(hook.body) }));
  await nudger.idle();
  await nowhere.connection.close();
  await pool.end();
  return { status, failures };
}
