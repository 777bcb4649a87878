import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import type { DepositInput, DepositSeen } from '../../src/contracts/messages.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { historyOf, shownOf } from '../support/worker-history.js';
import { arrive, creditsOf, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

describe.each([
  ['with cached workflows', undefined],
  ['when every task replays its workflow', 0],
] as const)('a deposit, %s,', (_how, maxCachedWorkflows) => {
  let world: WorkerWorld;
  let worker: RunningWorker;
  beforeAll(async () => {
    world = await openWorkerWorld();
    worker = await world.startWorker(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows });
  });
  afterAll(async () => {
    await worker?.stop();
    await world?.close();
  });
  afterEach(async () => {
    await expectMoneyInvariants(world.owner);
  });

  const nudge = (input: DepositInput) => nudgeDeposit(world.temporal, input, { start: true });
  const handle = (input: DepositInput) => world.temporal.client.workflow.getHandle(depositWorkflowId(input));
  const result = (input: DepositInput): Promise<DepositSeen> => handle(input).result();

  test('that is completed at its first read is credited, and its workflow ends within 20 events', async () => {
    const to = await makeKnownAddress(world);
    const input = depositInput(await arrive(world, to));
    await nudge(input);
    expect(await result(input)).toMatchObject({ state: 'final', ended: true, merchantId: to.merchantId });
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
    const { events } = await historyOf(world, depositWorkflowId(input));
    process.stdout.write(`deposit credited at its first read: ${events.length} events\n`);
    expect(events.length).toBeLessThanOrEqual(20);
  });

  test('that confirms is read again at each nudge, at most 12 events more each, until it is final', async () => {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to, { status: 'seen' });
    const input = depositInput(ref);
    const reads = async () => (await historyOf(world, depositWorkflowId(input))).upserts;
    await nudge(input);
    await eventually(async () => (await depositRow(world, ref))?.state === 'confirming' && (await reads()) === 1);
    await nudge(input);
    await eventually(async () => (await historyOf(world, depositWorkflowId(input))).timers === 2);
    await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
    expect(await nudge(input)).toBe('nudged');
    expect(await result(input)).toMatchObject({ state: 'final' });
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
    const { events } = await historyOf(world, depositWorkflowId(input));
    process.stdout.write(`deposit credited after two waits: ${events.length} events\n`);
    expect(events.length).toBeLessThanOrEqual(20 + 2 * 12);
    expect(await nudge(input)).toBe('closed');
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  });

  test('that is parked waits for a person, and a nudge changes nothing', async () => {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to, { amount: '1.0000001' });
    const input = depositInput(ref);
    await nudge(input);
    await eventually(async () => (await depositRow(world, ref))?.state === 'parked');
    const before = await depositRow(world, ref);
    await nudge(input);
    // Two reads are two scheduled activities.
    await eventually(async () => (await historyOf(world, depositWorkflowId(input))).scheduled === 2);
    await eventually(async () => (await shownOf(world, depositWorkflowId(input))).attributes.SverkaNeedsOperator);
    expect(await depositRow(world, ref)).toEqual(before);
    expect((await handle(input).describe()).status.name).toBe('RUNNING');
    expect((await historyOf(world, depositWorkflowId(input))).timers).toBe(0);
    expect(await creditsOf(world, to.merchantId)).toEqual([]);
    await handle(input).terminate('the test is over');
  });

  test('that the custodian does not show yet is asked for again until he does', async () => {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to);
    const { id: fault } = await world.custody.drive('POST', '/_sim/faults', {
      fault: 'not_found',
      match: { path: `/v1/deposits/${ref}` },
      times: 2,
    });
    const input = depositInput(ref);
    await nudge(input);
    expect(await result(input)).toMatchObject({ state: 'final' });
    const { faults } = JSON.parse(JSON.stringify(await world.custody.drive('GET', '/_sim/faults')));
    expect(faults.find((each: { id: string }) => each.id === fault)).toMatchObject({ hits: 2 });
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  });

  test('shows its state to who searches in Temporal, and holds no amount, address, name or body', async () => {
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to, { status: 'confirming', amount: '987654.321' });
    const input = depositInput(ref);
    await nudge(input);
    const row = await eventually(async () => {
      const found = await depositRow(world, ref);
      return found?.state === 'confirming' && found;
    });
    const shown = await eventually(async () => {
      const now = await shownOf(world, depositWorkflowId(input));
      return now.attributes.SverkaState === 'confirming' && now;
    });
    expect(shown.attributes).toEqual({
      SverkaKind: 'deposit',
      SverkaState: 'confirming',
      SverkaMerchant: to.merchantId,
      SverkaRef: ref,
      SverkaBook: 'live',
      SverkaNeedsOperator: false,
    });
    expect(shown.details).toContain('**confirming**');
    expect(shown.details).toContain(row.id);
    expect(shown.summary).toBe(`Deposit ${ref} at main-live`);
    await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
    await nudge(input);
    await result(input);
    const { text } = await historyOf(world, depositWorkflowId(input));
    expect(text).toContain(ref);
    for (const secret of ['987654', to.address, 'A merchant', 'tx_hash', 'confirmations', 'live-key']) {
      expect(text).not.toContain(secret);
    }
  });
});

test('a deposit that nobody nudges is found completed by its own poll', async () => {
  const world = await openWorkerWorld({ settings: { SVERKA_DEPOSIT_POLL_INTERVAL: '200ms' } });
  const worker = await world.startWorker();
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to, { status: 'confirming' });
  const input = depositInput(ref);
  await nudgeDeposit(world.temporal, input, { start: true });
  await eventually(async () => (await depositRow(world, ref))?.state === 'confirming');
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
  await world.temporal.client.workflow.getHandle(depositWorkflowId(input)).result();
  const { signals, timers } = await historyOf(world, depositWorkflowId(input));
  expect({ signals, polled: timers > 0 }).toEqual({ signals: 1, polled: true });
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  await expectMoneyInvariants(world.owner);
  await worker.stop();
  await world.close();
});
