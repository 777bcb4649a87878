import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { createGate } from '../support/worker-gates.js';
import { historyOf } from '../support/worker-history.js';
import { notificationsOf, startSweep, storeNotification } from '../support/worker-inbox.js';
import { bundleMutant } from '../support/worker-mutants.js';
import { arrive, creditsOf, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
let workers: RunningWorker[] = [];
let sweeps: string[] = [];
beforeAll(async () => {
  world = await openWorkerWorld({ settings: { SVERKA_STRANDED_AGE: '500ms' } });
});
afterEach(async () => {
  for (const id of sweeps)
    await world.temporal.client.workflow
      .getHandle(id)
      .terminate('the test is over')
      .catch(() => null);
  for (const worker of workers) await worker.stop();
  [sweeps, workers] = [[], []];
  await expectMoneyInvariants(world.owner);
});
afterAll(async () => world?.close());

const startWorker = async (options: Parameters<WorkerWorld['startWorker']>[0] = {}) => {
  workers.push(await world.startWorker(options));
};
/** A sweep that ends with the test. */
const sweep = async () => {
  const workflowId = await startSweep(world);
  sweeps.push(workflowId);
  return workflowId;
};
const runsOf = async (workflowId: string) => {
  const runs: string[] = [];
  const query = `WorkflowId = "${workflowId}"`;
  for await (const run of world.temporal.client.workflow.list({ query })) runs.push(run.runId);
  return runs.length;
};

test.each([
  ['cached', {}],
  ['replayed at each task', { maxCachedWorkflows: 0 }],
])('a notification for a closed workflow is read by the sweep, %s, and its id never runs again', async (_, how) => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to);
  const input = depositInput(ref);
  await startWorker(how);
  await nudgeDeposit(world.temporal, input, { start: true });
  await world.temporal.client.workflow.getHandle(depositWorkflowId(input)).result();
  // The custodian takes back what he said: a fact that only another read can bring.
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'failed' });
  await storeNotification(world, ref);
  expect((await depositRow(world, ref))?.flag).toBeNull();
  await sweep();
  await eventually(async () => (await depositRow(world, ref))?.flag === 'failed_after_credit');
  expect(await notificationsOf(world, ref)).toEqual('done');
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
  expect(await runsOf(depositWorkflowId(input))).toBe(1);
});

test('a provider that hangs does not stop the sweep of the others', async () => {
  const closed = await makeKnownAddress(world);
  const ref = await arrive(world, closed);
  const gate = createGate('readDeposit', (subject) => subject === ref);
  gate.open(1);
  await startWorker({ deps: gate.deps });
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  await world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref))).result();
  await storeNotification(world, ref);
  await sweep();
  await eventually(() => gate.arrived() === 2);
  // The sweep's own read hangs, and what comes meanwhile is found all the same.
  const other = await arrive(world, await makeKnownAddress(world));
  await storeNotification(world, other);
  await eventually(async () => (await depositRow(world, other))?.state === 'final');
  expect([gate.arrived(), await notificationsOf(world, ref)]).toEqual([2, 'pending']);
  gate.open();
  await eventually(async () => (await notificationsOf(world, ref)) === 'done');
});

test('a deposit whose workflow runs is not signalled, however long nobody has read it', async () => {
  const ref = await arrive(world, await makeKnownAddress(world), { status: 'confirming' });
  const handle = world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref)));
  await startWorker();
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  await eventually(async () => (await depositRow(world, ref))?.state === 'confirming');
  const stranded = `select 1 from sverka.deposit where provider_ref = $1 and last_read_at < now() - interval '600 ms'`;
  await eventually(async () => (await world.owner.query(stranded, [ref])).rowCount === 1);
  const swept = await sweep();
  await eventually(async () => (await historyOf(world, swept)).timers >= 3);
  expect((await historyOf(world, handle.workflowId)).signals).toBe(1);
  await handle.terminate('the test is over');
  // Terminated is closed: the sweep reads it from now on.
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
  await eventually(async () => (await depositRow(world, ref))?.state === 'final');
});

test('a late notification of what the custodian never shows goes to a person in the end', async () => {
  const ref = await arrive(world, await makeKnownAddress(world));
  await startWorker();
  await nudgeDeposit(world.temporal, depositInput(ref), { start: true });
  await world.temporal.client.workflow.getHandle(depositWorkflowId(depositInput(ref))).result();
  await world.custody.drive('POST', '/_sim/faults', { fault: 'not_found', match: { path: `/v1/deposits/${ref}` } });
  await storeNotification(world, ref);
  await world.owner.query(`update sverka.inbox set received_at = now() - interval '2 h' where subject_ref = $1`, [ref]);
  await sweep();
  await eventually(async () => (await notificationsOf(world, ref)) === 'unmatched');
  const alert = `select 1 from sverka.alert where kind = 'unmatched' and subject_id = $1`;
  await eventually(async () => (await world.owner.query(alert, [ref])).rowCount === 1);
});

test('one subject that cannot be nudged stops no other', async () => {
  const to = await makeKnownAddress(world);
  const refs = await Promise.all(Array.from({ length: 4 }, () => arrive(world, to)));
  const [poisoned = '', ...sound] = refs;
  for (const ref of refs) await storeNotification(world, ref);
  let refused = 0;
  await startWorker({
    deps: (deps) => ({
      ...deps,
      nudgeDeposit: async (input, options) => {
        if (input.ref !== poisoned) return deps.nudgeDeposit(input, options);
        refused += 1;
        throw new Error('the history of this one is full');
      },
    }),
  });
  await sweep();
  await eventually(
    async () => (await Promise.all(sound.map((ref) => notificationsOf(world, ref)))).join() === 'done,done,done',
  );
  expect([refused, await notificationsOf(world, poisoned)]).toEqual([1, 'pending']);
  await world.owner.query(`update sverka.inbox set status = 'done' where subject_ref = $1`, [poisoned]);
});

test('a part that fails is an alert of its own and stops no other, and is well again when it is', async () => {
  const to = await makeKnownAddress(world);
  const ref = await arrive(world, to);
  await storeNotification(world, ref);
  let broken = true;
  await startWorker({
    activities: (real) => ({
      ...real,
      databaseSeal: async () => {
        if (broken) throw new Error('the numbers are all gone');
        return { full: false, claimed: 0, closed: [] };
      },
    }),
  });
  const alert = `select state from sverka.alert where key = 'sweep_failed:databaseSeal'`;
  const stateOf = async () => (await world.owner.query<{ state: string }>(alert)).rows[0]?.state;
  await sweep();
  await eventually(async () => (await stateOf()) === 'open');
  await eventually(async () => (await notificationsOf(world, ref)) === 'done');
  // The alert is committed before its turn is noted.
  const noted = `select 1 from sverka.check_run where name = 'inbox_sweep' and findings = 1`;
  await eventually(async () => (await world.owner.query(noted)).rowCount === 1);
  const others = `select 1 from sverka.alert where kind = 'sweep_failed' and key <> 'sweep_failed:databaseSeal'`;
  expect((await world.owner.query(others)).rowCount).toBe(0);
  broken = false;
  await eventually(async () => (await stateOf()) === 'resolved');
});

test('many subjects are nudged side by side', async () => {
  const to = await makeKnownAddress(world);
  const refs = await Promise.all(Array.from({ length: 10 }, () => arrive(world, to)));
  for (const ref of refs) await storeNotification(world, ref);
  const calling = new Set<string>();
  let release: () => void = () => undefined;
  const together = new Promise<void>((resolve) => {
    release = resolve;
  });
  await startWorker({
    deps: (deps) => ({
      ...deps,
      nudgeDeposit: async (input, options) => {
        calling.add(input.ref);
        // One after the other, the first would wait here for ever.
        if (calling.size === refs.length) release();
        await together;
        return deps.nudgeDeposit(input, options);
      },
    }),
  });
  await sweep();
  await eventually(async () => (await Promise.all(refs.map((ref) => notificationsOf(world, ref)))).every(isDone));
});
const isDone = (status: string) => status === 'done';

test('the sweep goes on in a fresh run for ever', async () => {
  const short = await bundleMutant([{ file: 'inbox-sweep.ts', from: 'TURNS_PER_RUN = 90', to: 'TURNS_PER_RUN = 20' }]);
  let turns = 0;
  await startWorker({
    bundlePath: short.path,
    activities: (real) => ({
      ...real,
      databaseEndSweep: async () => {
        turns += 1;
        return { waitMs: 0 };
      },
    }),
  });
  const workflowId = await sweep();
  const { runId } = await world.temporal.client.workflow.getHandle(workflowId).describe();
  const next = await eventually(async () => {
    const now = await world.temporal.client.workflow.getHandle(workflowId).describe();
    return now.runId !== runId && now;
  });
  const { events } = await historyOf(world, workflowId, runId);
  const perTurn = events.length / 20;
  process.stdout.write(`sweep: ${perTurn} events a turn without rest\n`);
  // With a rest it is 5 more; a full run of 90 turns stays well below what Temporal suggests to leave at.
  expect(perTurn + 5).toBeLessThanOrEqual(4_096 / 90);
  expect([next.status.name, turns >= 20]).toEqual(['RUNNING', true]);
  short.remove();
});
