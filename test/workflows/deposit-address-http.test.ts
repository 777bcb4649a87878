import { WorkflowNotFoundError } from '@temporalio/client';
import { requestDepositAddress } from '../../src/client/deposit-addresses.js';
import { depositAddressWorkflowId } from '../../src/contracts/ids.js';
import { requestId } from '../../src/db/new-id.js';
import type { TestMerchant } from '../support/gateway.js';
import { eventually } from '../support/simulated-custody.js';
import { createGate } from '../support/worker-gates.js';
import {
  addressesMade,
  isActive,
  makeWorldMerchant,
  openWorldGateway,
  type WorldGateway,
} from '../support/worker-gateway.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { addressInput } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
let gateway: WorldGateway;
let other: WorldGateway;
let merchant: TestMerchant;
let worker: RunningWorker | undefined;
beforeAll(async () => {
  world = await openWorkerWorld();
  [gateway, other] = await Promise.all([openWorldGateway(world), openWorldGateway(world)]);
});
beforeEach(async () => {
  merchant = await makeWorldMerchant(world);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});
afterAll(async () => {
  await Promise.all([gateway?.close(), other?.close()]);
  await world?.close();
});

const requestIdOf = (key: string) => requestId({ book: 'live', merchantId: merchant.id, key });
const workflowIdOf = (key: string) =>
  depositAddressWorkflowId({ book: 'live', merchantId: merchant.id, requestId: requestIdOf(key) });

test('a key gives one object while its workflow runs and after it, and refuses another body both times', async () => {
  const gate = createGate('createAddress');
  worker = await world.startWorker({ deps: gate.deps });
  const before = await addressesMade(world);
  const first = await gateway.create(merchant, 'k', { prefer: 'wait=0' });
  expect([first.status, first.body.state]).toEqual([202, 'preparing']);
  expect(first.headers.get('preference-applied')).toBe('wait=0');
  expect(first.headers.get('location')).toBe(`/v1/deposit-addresses/${first.body.id}`);

  const open = await other.create(merchant, 'k', { prefer: 'respond-async' });
  expect([open.status, open.body.id, open.headers.get('idempotent-replayed')]).toEqual([202, first.body.id, 'true']);
  expect(open.headers.get('preference-applied')).toBe('respond-async');
  const otherBody = { body: { network: 'bitcoin' } };
  const refusedOpen = await gateway.create(merchant, 'k', otherBody);
  expect([refusedOpen.status, refusedOpen.body.code]).toEqual([422, 'idempotency_key_reused']);

  gate.open();
  const closed = await gateway.create(merchant, 'k');
  expect([closed.status, closed.body.id, closed.body.state]).toEqual([201, first.body.id, 'active']);
  expect(closed.headers.get('idempotent-replayed')).toBe('true');
  const handle = gateway.temporal.client.workflow.getHandle(workflowIdOf('k'));
  await handle.result();
  const after = await other.create(merchant, 'k');
  expect([after.status, after.body]).toEqual([201, closed.body]);
  const refusedClosed = await other.create(merchant, 'k', otherBody);
  expect([refusedClosed.status, refusedClosed.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect((await addressesMade(world)) - before).toBe(1);
});

test('a key whose run Temporal has forgotten is answered from its row, and nothing new is made', async () => {
  worker = await world.startWorker();
  const made = await gateway.create(merchant, 'k', { prefer: 'wait=10' });
  expect([made.status, made.body.state]).toEqual([201, 'active']);
  await worker.stop();
  const before = await world.custody.truth();

  // What retention leaves: ids that are free again.
  const namespace = await makeNamespace();
  const later = await openWorldGateway(world, { namespace });
  worker = await world.startWorker({ namespace });
  const replay = await later.create(merchant, 'k');
  expect([replay.status, replay.body]).toEqual([201, made.body]);
  expect((await later.create(merchant, 'k', { body: { network: 'bitcoin' } })).status).toBe(422);
  await expect(later.temporal.client.workflow.getHandle(workflowIdOf('k')).describe()).rejects.toThrow(
    WorkflowNotFoundError,
  );

  // Even a second run of the id, which the gateway never starts, only repeats what the row says.
  const input = addressInput(merchant.id, 'k');
  const again = await requestDepositAddress(later.temporal, input, 10_000);
  const resource = { type: 'deposit_address', id: made.body.id, made: true };
  expect(again).toMatchObject({ kind: 'accepted', accepted: { resource, refusal: null } });
  expect(again).not.toMatchObject({ accepted: { fingerprint: input.request.fingerprint } });
  await later.temporal.client.workflow.getHandle(workflowIdOf('k')).result();
  expect((await world.custody.truth()).requests).toEqual(before.requests);
  await later.close();
});

test('two gateways that meet at one key with two bodies: one makes its address, the other is refused', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  worker = await world.startWorker({ activities: (real) => heldReserve(real, held) });
  const before = await addressesMade(world);
  const calls = [
    gateway.create(merchant, 'k'),
    other.create(merchant, 'k'),
    other.create(merchant, 'k', { body: { network: 'ethereum' } }),
    gateway.create(merchant, 'k', { body: { network: 'bitcoin' } }),
  ];
  // All four shall wait for the same update; nothing shows who joins one that is there.
  await eventually(() =>
    gateway.temporal.client.workflow
      .getHandle(workflowIdOf('k'))
      .describe()
      .catch(() => null),
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  release();
  const answers = await Promise.all(calls);
  const made = answers.filter((answer) => answer.status === 201);
  // One of them made it; who joined is told so.
  expect(made.filter((answer) => answer.headers.get('idempotent-replayed') === null).length).toBe(1);
  const refused = answers.filter((answer) => answer.status === 422);
  expect([made.length >= 1, made.length + refused.length]).toEqual([true, 4]);
  expect(new Set(made.map((answer) => answer.body.id)).size).toBe(1);
  expect((await addressesMade(world)) - before).toBe(1);
  // Equal bodies were answered alike, by whichever gateway.
  expect(answers[0]?.status).toBe(answers[1]?.status);
});

test('fifty callers with a key each get the one address of that name, made once', async () => {
  worker = await world.startWorker();
  const before = await addressesMade(world);
  const keys = Array.from({ length: 50 }, (_, n) => `k-${n}`);
  const answers = await Promise.all(
    keys.map((key, n) => (n % 2 ? gateway : other).create(merchant, key, { prefer: 'wait=10' })),
  );
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  const statuses = answers.map((answer) => answer.status).sort((a, b) => a - b);
  expect(statuses).toEqual([...Array(49).fill(200), 201]);
  expect((await addressesMade(world)) - before).toBe(1);
  const clash = await gateway.create(merchant, 'clash', {
    body: { network: 'tron', settlement: { mode: 'settled', asset: 'EUR' } },
  });
  expect([clash.status, clash.body.code]).toEqual([409, 'already_exists']);
});

test('without a worker the call is answered 202 with its request, and the address is made when one comes', async () => {
  const unseen = await gateway.get(merchant, `/v1/requests/${requestIdOf('k')}`);
  expect([unseen.status, unseen.body.state]).toEqual([200, 'not_seen']);
  const answer = await gateway.create(merchant, 'k', { prefer: 'wait=1' });
  expect([answer.status, answer.body.object, answer.body.state]).toEqual([202, 'request', 'in_progress']);
  expect(answer.headers.get('location')).toBe(`/v1/requests/${requestIdOf('k')}`);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect(answer.headers.get('idempotent-replayed')).toBeNull();
  const [joined, otherBody] = await Promise.all([
    other.create(merchant, 'k', { prefer: 'wait=1' }),
    other.create(merchant, 'k', { body: { network: 'bitcoin' } }),
  ]);
  expect([joined.status, joined.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
  expect([otherBody.status, otherBody.body.code]).toEqual([422, 'idempotency_key_reused']);
  expect((await other.get(merchant, `/v1/requests/${requestIdOf('k')}`)).body.state).toBe('in_progress');

  worker = await world.startWorker();
  const done = await eventually(async () => {
    const { body } = await gateway.get(merchant, `/v1/requests/${requestIdOf('k')}`);
    return body.state === 'done' && body;
  });
  expect(done.resource).toMatchObject({ type: 'deposit_address' });
  const replay = await gateway.create(merchant, 'k');
  expect([replay.status, replay.body.state]).toEqual([201, 'active']);
  expect(replay.headers.get('idempotent-replayed')).toBe('true');
});

test.each(['lost_answer', 'timeout_after'])(
  'a create whose answer is lost (%s) is unknown, then found by its reference',
  async (fault) => {
    worker = await world.startWorker();
    const before = await addressesMade(world);
    const { id: faultId } = await world.custody.drive('POST', '/_sim/faults', {
      fault,
      match: { method: 'POST', path: '/v1/addresses' },
      times: 1,
    });
    const answer = await gateway.create(merchant, 'k', { prefer: 'wait=0' });
    expect(answer.status).toBe(202);
    const id = answer.body.id;
    await eventually(() => isActive(world, id));
    const { rows } = await world.owner.query(`select to_state from sverka.audit where subject_id = $1 order by id`, [
      id,
    ]);
    expect(rows.map((row: { to_state: string }) => row.to_state)).toEqual(['preparing', 'unknown', 'active']);
    const { faults } = JSON.parse(JSON.stringify(await world.custody.drive('GET', '/_sim/faults')));
    expect(faults.find((each: { id: string }) => each.id === faultId)).toMatchObject({ hits: 1 });
    expect((await addressesMade(world)) - before).toBe(1);
    expect((await gateway.create(merchant, 'k')).body).toMatchObject({ id, state: 'active' });
  },
);

function heldReserve(real: object, held: Promise<void>): object {
  return new Proxy(real, {
    get(target, name, receiver) {
      const activity: unknown = Reflect.get(target, name, receiver);
      if (name !== 'databaseReserveDepositAddress' || typeof activity !== 'function') return activity;
      return async (...args: unknown[]) => {
        await held;
        return Reflect.apply(activity, target, args);
      };
    },
  });
}
