import { setTimeout as pause } from 'node:timers/promises';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { createNudger } from '../../src/client/nudger.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import type { DepositInput } from '../../src/contracts/messages.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { createGate } from '../support/worker-gates.js';
import { historyOf } from '../support/worker-history.js';
import { arrive, creditsOf, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

/** A machine of two cores may have much else to do. */
const WITHIN_MS = 300_000;

/** Each passes on ten nudges a second for one deposit: 50 together. More starve two cores of the turn that goes on. */
const RELAYS = 5;
/** So often the quiet deposit polls while the other is stormed. */
const POLLS = 10;
const EVENTS_MAX = 10_000;

let world: WorkerWorld;
let worker: RunningWorker;
/** How often each deposit was read. */
const reads = new Map<unknown, number>();
const counting = createGate('readDeposit', (ref) => {
  reads.set(ref, (reads.get(ref) ?? 0) + 1);
  return false;
});
const readsOf = ({ ref }: DepositInput) => reads.get(ref) ?? 0;
beforeAll(async () => {
  world = await openWorkerWorld({ settings: { SVERKA_DEPOSIT_POLL_INTERVAL: '300ms' } });
  worker = await world.startWorker({ deps: counting.deps });
});
afterAll(async () => {
  await worker?.stop();
  await world?.close();
});

const nudge = (input: DepositInput) => nudgeDeposit(world.temporal, input, { start: true });
const handle = (input: DepositInput) => world.temporal.client.workflow.getHandle(depositWorkflowId(input));
const runOf = async (input: DepositInput) => (await handle(input).describe()).runId;

test(
  '50 nudges a second through continue-as-new: polls stay on time, the last word is read [CASES L08]',
  async () => {
    const to = await makeKnownAddress(world);
    const [noisy, quiet] = [
      depositInput(await arrive(world, to, { status: 'confirming' })),
      depositInput(await arrive(world, to, { status: 'confirming' })),
    ];
    await Promise.all([nudge(noisy), nudge(quiet)]);
    await eventually(async () => (await depositRow(world, noisy.ref)) && (await depositRow(world, quiet.ref)));
    const firstRun = await runOf(noisy);
    const pollsBefore = readsOf(quiet);
    // As the relay does: what fails because the workflow is going on in a fresh run is left to the poll and the sweep.
    const relays = Array.from({ length: RELAYS }, () => createNudger(nudge, () => undefined));
    while ((await runOf(noisy)) === firstRun || readsOf(quiet) - pollsBefore < POLLS) {
      for (const relay of relays) relay.nudge(noisy.ref, noisy);
      await pause(50);
    }
    await Promise.all(relays.map((relay) => relay.idle()));
    await world.custody.drive('PATCH', `/_sim/deposits/${noisy.ref}`, { status: 'completed' });
    relays[0]?.nudge(noisy.ref, noisy);
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
