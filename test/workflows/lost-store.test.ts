import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { connectTemporal } from '../../src/client/temporal.js';
import { depositAddressWorkflowId } from '../../src/contracts/ids.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { isActive } from '../support/worker-gateway.js';
import { startSweep } from '../support/worker-inbox.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import {
  addressInput,
  arrive,
  creditsOf,
  depositInput,
  depositRow,
  makeKnownAddress,
  makeMerchantRow,
} from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
const workers: RunningWorker[] = [];
beforeAll(async () => {
  world = await openWorkerWorld({ settings: { SVERKA_STRANDED_AGE: '500ms' } });
});
afterAll(async () => {
  for (const worker of workers) await worker.stop();
  await world?.close();
});

const startWorker = async (options: Parameters<WorkerWorld['startWorker']>[0] = {}) => {
  workers.push(await world.startWorker(options));
};

const idOf = async (merchantId: string, state: string) => {
  const { rows } = await world.owner.query<{ id: string; state: string }>(
    'select id, state from sverka.deposit_address where merchant_id = $1',
    [merchantId],
  );
  return rows[0]?.state === state && rows[0].id;
};

test('after the loss of the whole Temporal store every waiting deposit and address is finished', async () => {
  const confirming = await makeKnownAddress(world);
  const ref = await arrive(world, confirming, { status: 'confirming' });
  const [preparing, unknown] = [
    addressInput(await makeMerchantRow(world), 'p'),
    addressInput(await makeMerchantRow(world), 'u'),
  ];
  const faults = [
    await world.custody.drive('POST', '/_sim/faults', {
      fault: 'status',
      status: 429,
      match: { path: '/v1/addresses' },
    }),
  ];
  await startWorker();
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  await startDepositAddress(world.temporal, preparing);
  const preparingId = await eventually(() => idOf(preparing.merchantId, 'preparing'));
  for (const { id } of faults) await world.custody.drive('DELETE', `/_sim/faults/${id}`);
  faults.push(
    await world.custody.drive('POST', '/_sim/faults', {
      fault: 'lost_answer',
      match: { method: 'POST', path: '/v1/addresses' },
    }),
    await world.custody.drive('POST', '/_sim/faults', {
      fault: 'status',
      status: 503,
      match: { method: 'GET', path: '/v1/addresses*' },
    }),
  );
  await startDepositAddress(world.temporal, unknown);
  const unknownId = await eventually(() => idOf(unknown.merchantId, 'unknown'));
  await eventually(async () => (await depositRow(world, ref))?.state === 'confirming');
  await workers.pop()?.stop();
  for (const { id } of faults.slice(1)) await world.custody.drive('DELETE', `/_sim/faults/${id}`);
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });

  // Another Temporal, which knows nothing; nobody tells it anything but the sweep.
  const namespace = await makeNamespace();
  const temporal = connectTemporal({ ...world.config, TEMPORAL_NAMESPACE: namespace });
  await startWorker({
    namespace,
    deps: (deps) => ({
      ...deps,
      nudgeDeposit: (input, options) => nudgeDeposit(temporal, input, options),
      startDepositAddress: (input) => startDepositAddress(temporal, input),
    }),
  });
  await startSweep(world, temporal.client);
  await eventually(async () => (await depositRow(world, ref))?.state === 'final');
  await eventually(async () => (await isActive(world, preparingId)) && (await isActive(world, unknownId)));
  expect(await creditsOf(world, confirming.merchantId)).toEqual(['25000000']);
  const { effects } = await world.custody.truth();
  for (const id of [preparingId, unknownId])
    expect(effects.filter(({ reference }) => reference === id)).toHaveLength(1);
  for (const input of [preparing, unknown]) {
    const id = depositAddressWorkflowId({ ...input, requestId: input.request.id });
    await world.temporal.client.workflow
      .getHandle(id)
      .terminate('the store is lost')
      .catch(() => null);
  }
  await temporal.connection.close();
  await expectMoneyInvariants(world.owner);
});
