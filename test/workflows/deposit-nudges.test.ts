import { setTimeout as pause } from 'node:timers/promises';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import type { DepositInput } from '../../src/contracts/messages.js';
import { eventually } from '../support/simulated-custody.js';
import { createGate } from '../support/worker-gates.js';
import { historyOf, shownOf } from '../support/worker-history.js';
import { bundleMutant, type MutantBundle } from '../support/worker-mutants.js';
import { arrive, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

/** Within this time a nudge that was not lost has led to a read. */
const LOST_AFTER_MS = 3_000;

let world: WorkerWorld;
const bundles: MutantBundle[] = [];
beforeAll(async () => {
  world = await openWorkerWorld();
});
afterAll(async () => {
  for (const bundle of bundles) bundle.remove();
  await world?.close();
});

const nudge = (input: DepositInput) => nudgeDeposit(world.temporal, input, { start: true });
const mutant = async (mutations: Parameters<typeof bundleMutant>[0]) => {
  const bundle = await bundleMutant(mutations);
  bundles.push(bundle);
  return bundle.path;
};

/** Nudges while the first read is under way; answers whether a second read came of it. */
async function nudgeDuringRead(bundlePath?: string): Promise<'read again' | 'lost'> {
  const gate = createGate('readDeposit');
  const worker = await world.startWorker({ deps: gate.deps, ...(bundlePath !== undefined && { bundlePath }) });
  const to = await makeKnownAddress(world);
  const input = depositInput(await arrive(world, to, { status: 'confirming' }));
  const handle = world.temporal.client.workflow.getHandle(depositWorkflowId(input));
  await nudge(input);
  await eventually(() => gate.arrived() === 1);
  await nudge(input);
  await eventually(async () => (await historyOf(world, handle.workflowId)).signals === 2);
  gate.open();
  const until = Date.now() + LOST_AFTER_MS;
  while (gate.arrived() < 2 && Date.now() < until) await pause(20);
  const outcome = gate.arrived() >= 2 ? 'read again' : 'lost';
  await handle.terminate('the test is over');
  await worker.stop();
  return outcome;
}

test('a nudge that arrives during a read leads to another read', async () => {
  expect(await nudgeDuringRead()).toBe('read again');
});

test('a nudge that arrives during a read would be lost if the flag were cleared after it', async () => {
  const file = 'deposit.ts';
  const bundlePath = await mutant([
    { file, from: '    nudged = false;\n    const absentMs', to: '    const absentMs' },
    { file, from: 'absentMs });\n', to: 'absentMs });\n    nudged = false;\n' },
  ]);
  expect(await nudgeDuringRead(bundlePath)).toBe('lost');
});

describe('a deposit that was read so often that its run is full', () => {
  /** Makes it short: the story is the same after 4 reads as after 100. */
  const SHORT = { file: 'deposit.ts', from: 'READS_PER_RUN = 100', to: 'READS_PER_RUN = 4' };

  let short: string;
  beforeAll(async () => {
    short = await mutant([SHORT]);
  });

  /** Fills the run with `reads` by nudging, and nudges once more while the last of them is under way. */
  async function fillRun(bundlePath: string, fault: object | null) {
    const gate = createGate('readDeposit');
    const worker = await world.startWorker({ deps: gate.deps, bundlePath });
    const to = await makeKnownAddress(world);
    const ref = await arrive(world, to, { status: 'confirming' });
    if (fault) await world.custody.drive('POST', '/_sim/faults', { ...fault, match: { path: `/v1/deposits/${ref}` } });
    const input = depositInput(ref);
    await nudge(input);
    const handle = world.temporal.client.workflow.getHandle(depositWorkflowId(input));
    const { runId } = await handle.describe();
    for (let reads = 1; reads <= 4; reads += 1) {
      await eventually(() => gate.arrived() === reads);
      await nudge(input);
      await eventually(async () => (await historyOf(world, handle.workflowId, runId)).signals === reads + 1);
      gate.open(1);
    }
    const next = await eventually(async () => {
      const now = await handle.describe();
      return now.runId !== runId && now;
    });
    await eventually(() => gate.arrived() === 5);
    const started = await historyOf(world, handle.workflowId, next.runId);
    return {
      ref,
      handle,
      gate,
      history: started,
      full: await historyOf(world, handle.workflowId, runId),
      async end() {
        gate.open();
        await handle.terminate('the test is over');
        await worker.stop();
      },
    };
  }

  test('goes on in a fresh run, which reads at once for the pending nudge and shows its state', async () => {
    const run = await fillRun(short, null);
    expect(run.full.scheduled).toBe(4);
    // The pending nudge is not a signal of the new run: it is the read that every run begins with.
    expect(run.history.signals).toBe(0);
    expect(run.history.scheduled).toBe(1);
    expect((await depositRow(world, run.ref))?.state).toBe('confirming');
    const shown = await shownOf(world, run.handle.workflowId);
    expect(shown.attributes).toMatchObject({ SverkaState: 'confirming', SverkaRef: run.ref, SverkaKind: 'deposit' });
    await run.end();
  });

  test('still knows since when the custodian does not show it', async () => {
    const run = await fillRun(short, { fault: 'not_found' });
    const absentSince = /"absentSince\\?":(\d+|null)/.exec(run.history.text)?.[1];
    expect(Number(absentSince)).toBeGreaterThan(Date.parse('2020-01-01'));
    expect(/"absentMs\\?":0/.test(run.history.text)).toBe(false);
    await run.end();
  });

  test('would begin to count anew if that were not passed on', async () => {
    const forgets = { file: 'deposit.ts', from: '{ ...input, traceId, absentSince }', to: '{ ...input, traceId }' };
    const run = await fillRun(await mutant([SHORT, forgets]), { fault: 'not_found' });
    expect(/"absentMs\\?":0/.test(run.history.text)).toBe(true);
    await run.end();
  });
});
