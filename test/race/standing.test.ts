import { keepStanding } from '../../src/client/keep-standing.js';
import { ensureStanding, missingStanding, schedulesOf } from '../../src/client/standing.js';
import { connectTemporal } from '../../src/client/temporal.js';
import { HEALTH_WATCH_WORKFLOW_ID, INBOX_SWEEP_WORKFLOW_ID } from '../../src/contracts/ids.js';
import { standingCheck } from '../../src/http/checks.js';
import { eventually } from '../support/simulated-custody.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

const WORKERS = 10;

let world: WorkerWorld;
let namespace: string;
beforeAll(async () => {
  // The ids of standing things are one per namespace.
  namespace = await makeNamespace();
  world = await openWorkerWorld({ namespace });
});
afterAll(async () => world?.close());

async function ensureAtOnce(settings: object = {}): Promise<void> {
  const config = { ...world.config, ...settings };
  const clients = Array.from({ length: WORKERS }, () => connectTemporal(config));
  try {
    await Promise.all(clients.map((temporal) => ensureStanding(temporal, config)));
  } finally {
    await Promise.all(clients.map((temporal) => temporal.connection.close()));
  }
}

const STANDING = [INBOX_SWEEP_WORKFLOW_ID, HEALTH_WATCH_WORKFLOW_ID];
const standing = () => Promise.all(STANDING.map((id) => world.temporal.client.workflow.getHandle(id).describe()));

/** What each schedule starts. */
const TYPES: Readonly<Record<string, string>> = {
  'deposit-reconcile:live:custody': 'depositReconcile',
  'deposit-reconcile:test:custody': 'depositReconcile',
  'issuance-reconcile:live:issuer': 'issuanceReconcile',
  'issuance-reconcile:test:issuer': 'issuanceReconcile',
  'drift-check': 'driftCheck',
  'full-check': 'fullCheck',
};
const scheduleIds = () => schedulesOf(world.temporal, world.config).map(({ scheduleId }) => scheduleId);
const describeSchedule = (id: string) => world.temporal.client.schedule.getHandle(id).describe();

test('ten workers that start at once make each standing workflow and each schedule once', async () => {
  await ensureAtOnce();
  const before = await standing();
  expect(before.map(({ status }) => status.name)).toEqual(['RUNNING', 'RUNNING']);
  expect(scheduleIds()).toEqual(Object.keys(TYPES));
  for (const id of scheduleIds()) {
    const { policies, action, state } = await describeSchedule(id);
    expect([policies.overlap, policies.catchupWindow, state.paused]).toEqual(['SKIP', 3_600_000, false]);
    expect(action).toMatchObject({
      workflowType: TYPES[id],
      workflowId: id,
      taskQueue: world.config.SVERKA_TASK_QUEUE,
    });
  }
  await ensureAtOnce();
  expect((await standing()).map(({ runId }) => runId)).toEqual(before.map(({ runId }) => runId));
  // Nothing was to be changed, so nothing was written: a pause in that moment could not have been lost.
  for (const id of scheduleIds()) expect((await describeSchedule(id)).info.lastUpdatedAt).toBeUndefined();
});

test("an operator's pause survives the start of ten workers, and a changed interval arrives", async () => {
  await ensureAtOnce();
  const [paused = '', other = ''] = scheduleIds();
  await world.temporal.client.schedule.getHandle(paused).pause('the custodian is in maintenance');
  await ensureAtOnce({ SVERKA_RECONCILE_INTERVAL: 1_800_000 });
  expect((await describeSchedule(paused)).state).toMatchObject({
    paused: true,
    note: 'the custodian is in maintenance',
  });
  expect((await describeSchedule(other)).state.paused).toBe(false);
  for (const id of [paused, other]) {
    expect((await describeSchedule(id)).spec.intervals?.map(({ every }) => every)).toEqual([1_800_000]);
  }
});

test('the full check runs at a quiet hour by days, and as often as it is told to', () => {
  const intervalOf = (config: typeof world.config) =>
    schedulesOf(world.temporal, config).find(({ scheduleId }) => scheduleId === 'full-check')?.spec.intervals;
  expect(intervalOf(world.config)).toEqual([{ every: 86_400_000, offset: 10_800_000 }]);
  expect(intervalOf({ ...world.config, SVERKA_FULL_CHECK_INTERVAL: 60_000 })).toEqual([{ every: 60_000 }]);
});

test('a schedule that is triggered starts one bounded run', async () => {
  await ensureAtOnce();
  const worker = await world.startWorker();
  const [, id = ''] = scheduleIds();
  await world.temporal.client.schedule.getHandle(id).trigger();
  const { info } = await waitForRun(id);
  const run = info.recentActions[0]?.action;
  expect(run?.type).toBe('startWorkflow');
  if (run?.type !== 'startWorkflow') return;
  const { workflowId, firstExecutionRunId } = run.workflow;
  const result = await world.temporal.client.workflow.getHandle(workflowId, firstExecutionRunId).result();
  expect(result).toMatchObject({ items: 0, more: false });
  for (const each of STANDING) await world.temporal.client.workflow.getHandle(each).terminate('the test is over');
  await worker.stop();
});

test('what is lost while the workers live comes back, and is told of until it does', async () => {
  await ensureAtOnce();
  const check = () => standingCheck(world.temporal, world.config).check();
  expect(await check()).toBeNull();
  const { workflow, schedule } = world.temporal.client;
  const lost = [INBOX_SWEEP_WORKFLOW_ID, HEALTH_WATCH_WORKFLOW_ID, ...scheduleIds()];
  for (const id of STANDING) await workflow.getHandle(id).terminate('the store was lost');
  for (const id of scheduleIds()) await schedule.getHandle(id).delete();
  // Nobody keeps them: they stay away.
  expect(await missingStanding(world.temporal, world.config)).toEqual(lost);
  expect(await check()).toBe('missing');
  const failures: unknown[] = [];
  const keeper = keepStanding(world.temporal, { ...world.config, SVERKA_STANDING_INTERVAL: 50 }, (error) =>
    failures.push(error),
  );
  try {
    await eventually(async () => (await check()) === null);
    await workflow.getHandle(INBOX_SWEEP_WORKFLOW_ID).terminate('once more');
    await eventually(async () => (await check()) === null);
  } finally {
    await keeper.stop();
  }
  expect(failures).toEqual([]);
});

async function waitForRun(id: string) {
  for (;;) {
    const description = await describeSchedule(id);
    if (description.info.recentActions.length > 0) return description;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
