import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositAddressWorkflowId, depositWorkflowId } from '../../src/contracts/ids.js';
import { killAtPoints } from '../support/crash-child.js';
import { type RecordedSteps, range, recordSteps } from '../support/crash-record.js';
import { COMMIT_SENT, type Step } from '../support/crash-steps.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { notificationsOf, storeNotification } from '../support/worker-inbox.js';
import { bundleImpatient, type MutantBundle } from '../support/worker-mutants.js';
import {
  addressInput,
  arrive,
  creditsOf,
  depositInput,
  type KnownAddress,
  makeKnownAddress,
  makeMerchantRow,
} from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

/** The worker has 20 slots for calls to one provider; so many points can be held at once. */
const SLOTS = 20;

let world: WorkerWorld;
let bundle: MutantBundle;
let worker: RunningWorker | undefined;
/** What each activity does, step by step, when nothing happens to it. */
let steps: RecordedSteps;
beforeAll(async () => {
  [world, bundle] = await Promise.all([openWorkerWorld(), bundleImpatient()]);
  steps = await recordSteps(world, { bundlePath: bundle.path }, playAll);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
});
afterAll(async () => {
  bundle?.remove();
  await world?.close();
});

const countOf = (activity: string) => steps.get(activity)?.length ?? 0;

/** Every flow once, with nothing in its way. */
async function playAll(): Promise<void> {
  await finishDeposits(await startDeposits(await manyDeposits(1)));
  await finishAddresses(await startAddresses(await manyAddresses(1)));
  const lost = await loseCreates();
  const inputs = await startAddresses(await manyAddresses(1));
  await lost.until(1);
  await lost.end();
  await finishAddresses(inputs);
}

interface Deposit {
  readonly to: KnownAddress;
  readonly ref: string;
}

/** Deposits of a merchant each, with a notification that waits. */
async function manyDeposits(count: number): Promise<Deposit[]> {
  const deposits: Deposit[] = [];
  for (let n = 0; n < count; n += 1) {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to);
    await storeNotification(world, ref);
    deposits.push({ to, ref });
  }
  return deposits;
}
async function startDeposits(deposits: Deposit[]): Promise<Deposit[]> {
  for (const { ref } of deposits) await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  return deposits;
}
/** After whatever happened: one movement each, every notification done. */
async function finishDeposits(deposits: readonly Deposit[]): Promise<void> {
  for (const { ref, to } of deposits) {
    await world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref))).result();
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
    expect(await notificationsOf(world, ref)).toBe('done');
  }
}

type AddressInput = ReturnType<typeof addressInput>;
async function manyAddresses(count: number): Promise<AddressInput[]> {
  return Promise.all(range(0, count).map(async () => addressInput(await makeMerchantRow(world), 'k')));
}
async function startAddresses(inputs: AddressInput[]): Promise<AddressInput[]> {
  for (const input of inputs) await startDepositAddress(world.temporal, input);
  return inputs;
}
/** After whatever happened: one row each, active, and one address at the custodian under its reference. */
async function finishAddresses(inputs: readonly AddressInput[]): Promise<void> {
  for (const input of inputs) {
    const id = depositAddressWorkflowId({ ...input, requestId: input.request.id });
    await world.temporal.client.workflow.getHandle(id).result();
  }
  const { rows } = await world.owner.query<{ id: string; state: string; requests: number }>(
    `select a.id, a.state, (select count(*)::int from sverka.request r where r.merchant_id = a.merchant_id) as requests
       from sverka.deposit_address a where a.merchant_id = any ($1)`,
    [inputs.map((input) => input.merchantId)],
  );
  expect(rows.map(({ state, requests }) => [state, requests])).toEqual(inputs.map(() => ['active', 1]));
  const { effects } = await world.custody.truth();
  for (const { id } of rows) expect(effects.filter(({ reference }) => reference === id)).toHaveLength(1);
}

/** From now on creates do what they are asked and their answer is lost. */
async function loseCreates() {
  const match = { method: 'POST', path: '/v1/addresses' };
  const { id } = await world.custody.drive('POST', '/_sim/faults', { fault: 'lost_answer', match });
  const before = (await world.custody.truth()).requests['POST /v1/addresses'] ?? 0;
  return {
    async until(calls: number): Promise<void> {
      while (((await world.custody.truth()).requests['POST /v1/addresses'] ?? 0) < before + calls) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    end: () => world.custody.drive('DELETE', `/_sim/faults/${id}`),
  };
}

async function recover(): Promise<void> {
  worker = await world.startWorker({ bundlePath: bundle.path });
}

function report(what: string, held: readonly Step[]): void {
  const unknown = held.filter(({ label }) => label === COMMIT_SENT).length;
  process.stdout.write(`killed at ${held.length} points of ${what}, ${unknown} with a COMMIT in doubt\n`);
  expect(unknown).toBeGreaterThan(0);
}

test('the recorded steps are those of the four activities that move money or make an address', () => {
  for (const [activity, label] of [
    ['providerReadDeposit', 'call readDeposit'],
    ['databaseReserveDepositAddress', COMMIT_SENT],
    ['providerCreateDepositAddress', 'call createAddress'],
    ['providerReadDepositAddress', 'call readAddressByReference'],
  ] as const) {
    expect(steps.get(activity)).toContain(label);
  }
});

/** The first reads; the rest share their slots with the creates of addresses. */
function halfOfReads(): number {
  return Math.ceil((countOf('providerReadDeposit') + countOf('providerCreateDepositAddress')) / 2);
}

test('killed in reading a deposit or reserving an address, one movement and one address come of it', async () => {
  const half = halfOfReads();
  const deposits = await manyDeposits(half);
  const addresses = await manyAddresses(countOf('databaseReserveDepositAddress'));
  const all = {
    providerReadDeposit: range(0, half),
    databaseReserveDepositAddress: range(0, countOf('databaseReserveDepositAddress')),
  };
  expect(half).toBeLessThanOrEqual(SLOTS);
  const held = await killAtPoints(world, { points: all, bundlePath: bundle.path }, async () => {
    await startDeposits(deposits);
    await startAddresses(addresses);
  });
  report('reads and reservations', held);
  await recover();
  await finishDeposits(deposits);
  await finishAddresses(addresses);
  await expectMoneyInvariants(world.owner);
});

test('killed in booking a deposit or creating an address, one movement and one address come of it', async () => {
  const count = countOf('providerReadDeposit');
  const half = halfOfReads();
  const creates = countOf('providerCreateDepositAddress');
  const [deposits, addresses] = [await manyDeposits(count - half), await manyAddresses(creates)];
  const all = { providerReadDeposit: range(half, count), providerCreateDepositAddress: range(0, creates) };
  expect(count - half + creates).toBeLessThanOrEqual(SLOTS);
  const held = await killAtPoints(world, { points: all, bundlePath: bundle.path }, async () => {
    await startDeposits(deposits);
    await startAddresses(addresses);
  });
  report('bookings and creates', held);
  await recover();
  await finishDeposits(deposits);
  await finishAddresses(addresses);
  await expectMoneyInvariants(world.owner);
});

test('killed in noting or looking up a create whose answer was lost, one address comes of it', async () => {
  const [suspects, looks] = [countOf('databaseSuspectDepositAddress'), countOf('providerReadDepositAddress')];
  const addresses = await manyAddresses(suspects + looks);
  const lost = await loseCreates();
  const all = {
    databaseSuspectDepositAddress: range(0, suspects),
    providerReadDepositAddress: range(0, looks),
  };
  const held = await killAtPoints(world, { points: all, bundlePath: bundle.path }, () => startAddresses(addresses));
  report('unknown outcomes', held);
  await lost.end();
  await recover();
  await finishAddresses(addresses);
});
