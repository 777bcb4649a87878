import { requestDepositAddress, startDepositAddress } from '../../src/client/deposit-addresses.js';
import { depositAddressWorkflowId } from '../../src/contracts/ids.js';
import type { DepositAddressInput } from '../../src/contracts/messages.js';
import { eventually } from '../support/simulated-custody.js';
import { addressesMade, isActive } from '../support/worker-gateway.js';
import { historyOf, shownOf } from '../support/worker-history.js';
import { bundleMutant, type MutantBundle } from '../support/worker-mutants.js';
import { addressInput, addressRow, makeMerchantRow } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const WITHIN_MS = 10_000;

let world: WorkerWorld;
let worker: RunningWorker | undefined;
let input: DepositAddressInput;
let madeBefore = 0;
beforeAll(async () => {
  world = await openWorkerWorld();
});
beforeEach(async () => {
  input = addressInput(await makeMerchantRow(world), 'k');
  madeBefore = await addressesMade(world);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  const { faults } = JSON.parse(JSON.stringify(await world.custody.drive('GET', '/_sim/faults')));
  for (const { id } of faults) await world.custody.drive('DELETE', `/_sim/faults/${id}`);
});
afterAll(async () => world?.close());

const workflowId = () => depositAddressWorkflowId({ ...input, requestId: input.request.id });
const handle = () => world.temporal.client.workflow.getHandle(workflowId());
const onCreate = (fault: object) =>
  world.custody.drive('POST', '/_sim/faults', { match: { method: 'POST', path: '/v1/addresses' }, ...fault });
const onLookup = (fault: object) =>
  world.custody.drive('POST', '/_sim/faults', { match: { method: 'GET', path: '/v1/addresses*' }, ...fault });
const made = async () => (await addressesMade(world)) - madeBefore;
/** Asks for the address and answers its id. */
async function ask(): Promise<string> {
  const answer = await requestDepositAddress(world.temporal, input, WITHIN_MS);
  if (answer.kind !== 'accepted' || !answer.accepted.resource) throw new Error(`It was ${answer.kind}.`);
  return answer.accepted.resource.id;
}

describe.each([
  ['with cached workflows', undefined],
  ['when every task replays its workflow', 0],
] as const)('an address, %s,', (_how, maxCachedWorkflows) => {
  beforeEach(async () => {
    worker = await world.startWorker(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows });
  });

  test('is made by one create, and its workflow ends within 25 events', async () => {
    const id = await ask();
    await handle().result();
    expect([await isActive(world, id), await made()]).toEqual([true, 1]);
    const { events, scheduled, text } = await historyOf(world, workflowId());
    process.stdout.write(`deposit address made at once: ${events.length} events\n`);
    expect([scheduled, events.length <= 25]).toEqual([2, true]);
    const address = (await addressRow(world, id))?.address ?? 'none';
    for (const secret of [address, 'live-key', 'A merchant']) expect(text).not.toContain(secret);
    expect((await shownOf(world, workflowId())).attributes).toEqual({
      SverkaKind: 'deposit_address',
      SverkaState: 'active',
      SverkaMerchant: input.merchantId,
      SverkaRef: input.request.id,
      SverkaBook: 'live',
      SverkaNeedsOperator: false,
    });
  });

  test('whose create and first lookup were both lost is found by its reference', async () => {
    await onCreate({ fault: 'lost_answer', times: 1 });
    await onLookup({ fault: 'status', status: 503, times: 1 });
    const id = await ask();
    await handle().result();
    expect([await isActive(world, id), await made()]).toEqual([true, 1]);
  });
});

test('the run finishes although nobody ever asked for its update, and then says that it is over', async () => {
  worker = await world.startWorker();
  await startDepositAddress(world.temporal, input);
  expect(await handle().result()).toMatchObject({ fingerprint: input.request.fingerprint, refusal: null });
  expect(await requestDepositAddress(world.temporal, input, WITHIN_MS)).toEqual({ kind: 'closed' });
  // A start that comes late leaves it alone as well.
  await startDepositAddress(world.temporal, input);
  expect(await made()).toBe(1);
});

test('an address that the custodian never shows is created again past his lag, under the same reference', async () => {
  worker = await world.startWorker();
  // The first create did nothing; nothing proves that.
  await onCreate({ fault: 'timeout_before', times: 1 });
  const id = await ask();
  await handle().result();
  expect([await isActive(world, id), await made()]).toEqual([true, 1]);
  const { effects } = await world.custody.truth();
  expect(effects.filter((effect) => effect.reference === id)).toHaveLength(1);
});

test('an address with a wrong key shows that it needs a person, and goes on by itself when mended', async () => {
  worker = await world.startWorker();
  const fault = await onCreate({ fault: 'unauthorized' });
  const id = await ask();
  await eventually(async () => (await shownOf(world, workflowId())).attributes.SverkaNeedsOperator);
  expect(await addressRow(world, id)).toMatchObject({ state: 'preparing', needsOperator: true });
  await world.custody.drive('DELETE', `/_sim/faults/${fault.id}`);
  await handle().result();
  expect(await isActive(world, id)).toBe(true);
  expect((await shownOf(world, workflowId())).attributes.SverkaNeedsOperator).toBe(false);
  const { rows } = await world.owner.query(`select state from sverka.alert where subject_id = $1`, [id]);
  expect(rows).toEqual([{ state: 'resolved' }]);
});

test('an address that the custodian rejects fails, and the name is free again', async () => {
  worker = await world.startWorker();
  await onCreate({ fault: 'status', status: 422, times: 1 });
  const id = await ask();
  await handle().result();
  expect(await addressRow(world, id)).toMatchObject({ state: 'failed', reason: 'rejected_by_provider' });
  input = addressInput(input.merchantId, 'k2');
  const second = await ask();
  await handle().result();
  expect([second === id, await isActive(world, second)]).toEqual([false, true]);
});

test('refusals before a lost create do not slow its lookup', async () => {
  worker = await world.startWorker();
  await onCreate({ fault: 'status', status: 429, retry_after: 0, times: 3 });
  await onCreate({ fault: 'lost_answer', times: 1 });
  const id = await ask();
  await handle().result();
  expect([await isActive(world, id), await made()]).toEqual([true, 1]);
  const looks = /"looks":(\d+)/.exec((await historyOf(world, workflowId())).text.replaceAll('\\', ''));
  expect(looks?.[1]).toBe('0');
});

describe('an address that waits for so long that its run is full', () => {
  let short: MutantBundle;
  beforeAll(async () => {
    short = await bundleMutant([{ file: 'deposit-address.ts', from: 'STEPS_PER_RUN = 100', to: 'STEPS_PER_RUN = 1' }]);
  });
  afterAll(() => short?.remove());

  test('goes on in a fresh run, answers its update there too, and is made once', async () => {
    worker = await world.startWorker({ bundlePath: short.path });
    await onCreate({ fault: 'status', status: 429, retry_after: 0, times: 2 });
    const id = await ask();
    const { runId } = await handle().describe();
    await eventually(async () => (await handle().describe()).runId !== runId);
    expect(await ask()).toBe(id);
    await handle().result();
    expect([await isActive(world, id), await made()]).toEqual([true, 1]);
    // It went on with what it knew: the fresh run began with the count of tries, not with a create.
    const { text } = await historyOf(world, workflowId());
    expect(text.replaceAll('\\', '')).toMatch(/"resumed":\{.*"tries":[2-9]/);
    expect((await shownOf(world, workflowId())).attributes).toMatchObject({
      SverkaState: 'active',
      SverkaBook: 'live',
    });
  });
});
