import { setTimeout as pause } from 'node:timers/promises';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import type { DepositInput } from '../../src/contracts/messages.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { historyOf } from '../support/worker-history.js';
import { arrive, creditsOf, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

/** A machine of two cores may have much else to do. */
const WITHIN_MS = 120_000;

/** Nudges a second, as one noisy sender may bring them. */
const RATE = 200;
const EVENTS_MAX = 10_000;

let world: WorkerWorld;
let worker: RunningWorker;
beforeAll(async () => {
  world = await openWorkerWorld({ settings: { SVERKA_DEPOSIT_POLL_INTERVAL: '300ms' } });
  worker = await world.startWorker();
});
afterAll(async () => {
  await worker?.stop();
  await world?.close();
});

const nudge = (input: DepositInput) => nudgeDeposit(world.temporal, input, { start: true });
const handle = (input: DepositInput) => world.temporal.client.workflow.getHandle(depositWorkflowId(input));
const runOf = async (input: DepositInput) => (await handle(input).describe()).runId;

test(
  '200 nudges a second through continue-as-new: polls stay on time, the last word is read [CASES L08]',
  async () => {
    const to = await makeKnownAddress(world);
    const [noisy, quiet] = [
      depositInput(await arrive(world, to, { status: 'confirming' })),
      depositInput(await arrive(world, to, { status: 'confirming' })),
    ];
    await Promise.all([nudge(noisy), nudge(quiet)]);
    await eventually(async () => (await depositRow(world, noisy.ref)) && (await depositRow(world, quiet.ref)));
    const firstRun = await runOf(noisy);
    const pollsBefore = (await historyOf(world, depositWorkflowId(quiet))).timers;
    let sent = 0;
    const isOver = async () => {
      const polls = (await historyOf(world, depositWorkflowId(quiet))).timers - pollsBefore;
      return (await runOf(noisy)) !== firstRun && polls >= 5;
    };
    while (!(await isOver())) {
      await Promise.all([...Array.from({ length: RATE / 10 }, () => nudge(noisy)), pause(100)]);
      sent += RATE / 10;
    }
    expect(sent).toBeGreaterThanOrEqual(RATE);
    await world.custody.drive('PATCH', `/_sim/deposits/${noisy.ref}`, { status: 'completed' });
    await nudge(noisy);
    expect(await handle(noisy).result()).toMatchObject({ state: 'final' });
    expect((await historyOf(world, depositWorkflowId(noisy), firstRun)).events.length).toBeLessThan(EVENTS_MAX);
    // Nobody nudges the other: its own poll finds it.
    await world.custody.drive('PATCH', `/_sim/deposits/${quiet.ref}`, { status: 'completed' });
    expect(await handle(quiet).result()).toMatchObject({ state: 'final' });
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000', '25000000']);
    await expectMoneyInvariants(world.owner);
  },
  WITHIN_MS,
);

test(
  'a custodian that asks to wait two seconds is asked again after two seconds and not before',
  async () => {
    const to = await makeKnownAddress(world);
    const input = depositInput(await arrive(world, to));
    const match = { path: `/v1/deposits/${input.ref}` };
    await world.custody.drive('POST', '/_sim/faults', {
      fault: 'status',
      status: 429,
      retry_after: 2,
      times: 1,
      match,
    });
    await nudge(input);
    expect(await handle(input).result()).toMatchObject({ state: 'final' });
    const { events, text } = await historyOf(world, depositWorkflowId(input));
    expect(text).toContain('Provider.rate_limited');
    const at = (type: string) => {
      const event: Record<string, unknown> | undefined = events.find(({ eventType }) => eventType.endsWith(type));
      return Date.parse(String(event?.eventTime));
    };
    // A bound from below: what the machine does in between only adds to it.
    expect(at('ACTIVITY_TASK_STARTED') - at('ACTIVITY_TASK_SCHEDULED')).toBeGreaterThanOrEqual(2_000);
    expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  },
  WITHIN_MS,
);
