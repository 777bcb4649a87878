import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositAddressWorkflowId, depositWorkflowId } from '../../src/contracts/ids.js';
import { killAtPoints } from '../support/crash-child.js';
import { startWorkerProcess, type WorkerProcess } from '../support/crash-process.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { addressesMade } from '../support/worker-gateway.js';
import { bundleImpatient, type MutantBundle } from '../support/worker-mutants.js';
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
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
let bundle: MutantBundle;
let running: WorkerProcess | undefined;
beforeAll(async () => {
  // The worker makes its standing workflow and schedules, whose ids are one per namespace.
  const namespace = await makeNamespace();
  [world, bundle] = await Promise.all([
    openWorkerWorld({ namespace, settings: { SVERKA_PROVIDER_TIMEOUT: '10s', SVERKA_BREAKER_LEASE: '13s' } }),
    bundleImpatient(),
  ]);
});
afterEach(async () => {
  await running?.kill();
  await expectMoneyInvariants(world.owner);
});
afterAll(async () => {
  bundle?.remove();
  await world?.close();
});

const start = async () => {
  running = await startWorkerProcess(world, bundle.path);
};
const hits = async (id: string) => {
  const { faults } = JSON.parse(JSON.stringify(await world.custody.drive('GET', '/_sim/faults')));
  return faults.find((fault: { id: string }) => fault.id === id)?.hits;
};

test('a worker killed while the custodian answers slowly: another reads again and credits once', async () => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to);
  const match = { path: `/v1/deposits/${ref}` };
  const slow = await world.custody.drive('POST', '/_sim/faults', { fault: 'slow', ms: 5_000, times: 1, match });
  await start();
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  await eventually(async () => (await hits(slow.id)) === 1);
  await running?.kill();
  expect([await depositRow(world, ref), await creditsOf(world, to.merchantId)]).toEqual([null, []]);

  await start();
  await world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref))).result();
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
});

test('a worker killed between the read and its commit: nothing is half done, another credits once', async () => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to);
  const blocker = await world.owner.connect();
  await blocker.query('begin');
  await blocker.query('select 1 from sverka.deposit_address where id = $1 for update', [to.id]);
  await start();
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and application_name = 'sverka-worker' and query like '%insert into sverka.deposit %'`;
  await eventually(async () => (await world.owner.query(waits)).rowCount === 1);
  await running?.kill();
  await blocker.query('rollback');
  blocker.release();

  await start();
  await world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref))).result();
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  expect(await depositRow(world, ref)).toMatchObject({ state: 'final', flag: null });
});

test('a worker killed while the custodian makes an address: it is unknown, then found, and made once', async () => {
  const input = addressInput(await makeMerchantRow(world), 'k');
  const match = { method: 'POST', path: '/v1/addresses' };
  const slow = await world.custody.drive('POST', '/_sim/faults', { fault: 'slow', ms: 2_000, times: 1, match });
  const before = await addressesMade(world);
  await start();
  await startDepositAddress(world.temporal, input);
  await eventually(async () => (await hits(slow.id)) === 1);
  expect(await addressesMade(world)).toBe(before);
  await running?.kill();
  // He goes on although nobody listens any more.
  await eventually(async () => (await addressesMade(world)) === before + 1);

  await start();
  const id = depositAddressWorkflowId({ ...input, requestId: input.request.id });
  await world.temporal.client.workflow.getHandle(id).result();
  const { rows } = await world.owner.query<{ id: string; state: string }>(
    'select id, state from sverka.deposit_address where merchant_id = $1',
    [input.merchantId],
  );
  expect(rows.map(({ state }) => state)).toEqual(['active']);
  const { effects } = await world.custody.truth();
  expect(effects.filter(({ reference }) => reference === rows[0]?.id)).toHaveLength(1);
  const { rows: audit } = await world.owner.query<{ to_state: string }>(
    'select to_state from sverka.audit where subject_id = $1 order by id',
    [rows[0]?.id],
  );
  expect(audit.map(({ to_state }) => to_state)).toEqual(['preparing', 'unknown', 'active']);
});

test('a crash at a step that does not exist is not taken for a crash that was survived', async () => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to);
  const points = { providerReadDeposit: [1_000] };
  const killed = killAtPoints(world, { points, bundlePath: bundle.path }, () =>
    nudgeDeposit(world.temporal, depositInput(ref), { start: true }),
  );
  await expect(killed).rejects.toThrow('void');
});
