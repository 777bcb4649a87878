import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { connectTemporal } from '../../src/client/temporal.js';
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

test('after the loss of the whole Temporal store every waiting deposit and address is finished', async () => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to, { status: 'confirming' });
  const [preparing, unknown] = await leaveWaiting(ref);
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
  await eventually(async () => (await isActive(world, preparing)) && (await isActive(world, unknown)));
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  const { effects } = await world.custody.truth();
  for (const id of [preparing, unknown]) expect(effects.filter(({ reference }) => reference === id)).toHaveLength(1);
  await temporal.connection.close();
  await expectMoneyInvariants(world.owner);
});

/** A deposit that confirms, an address not sent, one of unknown outcome; their workflows are never heard of again. */
async function leaveWaiting(ref: string): Promise<[preparing: string, unknown: string]> {
  const [preparing, unknown] = [
    addressInput(await makeMerchantRow(world), 'p'),
    addressInput(await makeMerchantRow(world), 'u'),
  ];
  const post = { method: 'POST', path: '/v1/addresses' };
  const fail = (fault: object) => world.custody.drive('POST', '/_sim/faults', fault);
  const lost = await fail({ fault: 'lost_answer', match: post });
  const hidden = await fail({ fault: 'status', status: 503, match: { method: 'GET', path: '/v1/addresses*' } });
  await startWorker();
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  await startDepositAddress(world.temporal, unknown);
  const unknownId = await eventually(() => idOf(unknown.merchantId, 'unknown'));
  await world.custody.drive('DELETE', `/_sim/faults/${lost.id}`);
  const limited = await fail({ fault: 'status', status: 429, match: post });
  await startDepositAddress(world.temporal, preparing);
  const preparingId = await eventually(() => idOf(preparing.merchantId, 'preparing'));
  await eventually(async () => (await depositRow(world, ref))?.state === 'confirming');
  await workers.pop()?.stop();
  for (const { id } of [hidden, limited]) await world.custody.drive('DELETE', `/_sim/faults/${id}`);
  expect(await idOf(unknown.merchantId, 'unknown')).toBe(unknownId);
  expect(await idOf(preparing.merchantId, 'preparing')).toBe(preparingId);
  return [preparingId, unknownId];
}

/** The address of that merchant, when it is in that state. */
async function idOf(merchantId: string, state: string): Promise<string | false> {
  const { rows } = await world.owner.query<{ id: string }>(
    'select id from sverka.deposit_address where merchant_id = $1 and state = $2',
    [merchantId, state],
  );
  return rows[0]?.id ?? false;
}
