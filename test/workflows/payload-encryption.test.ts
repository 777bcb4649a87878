import { randomUUID } from 'node:crypto';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger } from '@temporalio/worker';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { keyIdOf } from '../../src/client/encryption-codec.js';
import { ensureStanding, schedulesOf } from '../../src/client/standing.js';
import { connectTemporal, type Temporal } from '../../src/client/temporal.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import { clearTexts } from '../support/clear-texts.js';
import { type PayloadKeysFile, payloadKeysFile } from '../support/payload-keys.js';
import { eventually } from '../support/simulated-custody.js';
import { bundleMutant, type MutantBundle } from '../support/worker-mutants.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { arrive, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { installRuntime, openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

/** Stands in a message that workflow code fails with, and in a memo. */
const CANARY = 'canary-of-a-failure';

let keys: PayloadKeysFile;
/** Fails where it would read: with a message made in the workflow itself. */
let failing: MutantBundle;
let world: WorkerWorld | undefined;
let worker: RunningWorker | undefined;
beforeAll(async () => {
  // What goes wrong here is meant to.
  installRuntime(new DefaultLogger('ERROR', () => undefined));
  failing = await bundleMutant([
    {
      file: 'deposit.ts',
      from: '    const seen = await providerReadDeposit(',
      to: `    if (reads === 0) throw new ApplicationFailure('${CANARY}', 'Planted', true);
    const seen = await providerReadDeposit(`,
    },
    { file: 'deposit.ts', from: 'import { condition,', to: 'import { ApplicationFailure, condition,' },
  ]);
});
beforeEach(() => {
  keys = payloadKeysFile('k1', ['k1']);
});
afterEach(async () => {
  await worker?.stop();
  await world?.close();
  [worker, world] = [undefined, undefined];
  keys.remove();
});
afterAll(() => failing.remove());

async function open(settings: Record<string, string> = { SVERKA_PAYLOAD_KEYS_FILE: keys.path }): Promise<WorkerWorld> {
  world = await openWorkerWorld({ settings });
  return world;
}

/** All that can be read of a run without keys. */
async function readable({ temporal }: WorkerWorld, workflowId: string): Promise<string> {
  const history = await temporal.client.workflow.getHandle(workflowId).fetchHistory();
  const texts = clearTexts({ workflowId, history: JSON.parse(historyToJSON(history)) });
  return texts.map(({ at, text }) => `${at} ${text}`).join('\n');
}

async function failOnce(of: WorkerWorld): Promise<{ text: string; message: string | undefined }> {
  worker = await of.startWorker({ bundlePath: failing.path });
  const input = depositInput(`cdp_${randomUUID()}`);
  await nudgeDeposit(of.temporal, input, { start: true });
  const handle = of.temporal.client.workflow.getHandle(depositWorkflowId(input));
  const error = await handle.result().then(
    () => new Error('it did not fail'),
    (reason: Error) => reason,
  );
  return { text: await readable(of, handle.workflowId), message: (error.cause as Error | undefined)?.message };
}

test('a message that workflow code fails with is encrypted, and told to whoever has the key', async () => {
  const { text, message } = await failOnce(await open());
  expect(message).toBe(CANARY);
  expect(text).toContain('workflowExecutionFailedEventAttributes.failure.message Encoded failure');
  expect(text).not.toContain(CANARY);
});

test('without keys the same bundle leaves messages readable, in the history and in Temporal', async () => {
  const { text, message } = await failOnce(await open({}));
  expect(message).toBe(CANARY);
  expect(text).toContain(`workflowExecutionFailedEventAttributes.failure.message ${CANARY}`);
});

test.each([
  ['with cached workflows', undefined],
  ['when every task replays its workflow', 0],
] as const)('encryption is switched on over work that runs, %s', async (_how, cached) => {
  const before = await open({});
  const cache = cached === undefined ? {} : { maxCachedWorkflows: cached };
  worker = await before.startWorker(cache);
  const ref = await arrive(before, await makeKnownAddress(before), { status: 'confirming' });
  const input = depositInput(ref);
  await nudgeDeposit(before.temporal, input, { start: true });
  await eventually(async () => (await depositRow(before, ref))?.state === 'confirming');
  await worker.stop();

  // The same queue and database, as after a restart with the setting.
  const config = { ...before.config, SVERKA_PAYLOAD_KEYS_FILE: keys.path };
  const after = { ...before, config, temporal: connectTemporal(config) };
  worker = await before.startWorker({ ...cache, keysFile: keys.path });
  await before.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
  await nudgeDeposit(after.temporal, input, { start: true });
  const id = depositWorkflowId(input);
  expect(await after.temporal.client.workflow.getHandle(id).result()).toMatchObject({ state: 'final' });
  const text = await readable(before, id);
  expect(text).toContain(`workflowExecutionStartedEventAttributes.input.payloads {"book":"live"`);
  expect(text).not.toContain('workflowExecutionCompletedEventAttributes.result.payloads {');
  await after.temporal.connection.close();
});

test('a run of a schedule opens the arguments that were encrypted for the schedule', async () => {
  const scheduling = await open();
  const { temporal } = scheduling;
  worker = await scheduling.startWorker();
  const id = `reconcile-${temporal.taskQueue}`;
  const action = {
    ...{ type: 'startWorkflow' as const, workflowType: 'depositReconcile', workflowId: id },
    taskQueue: temporal.taskQueue,
    args: [{ book: 'live', provider: 'custody', account: 'main-live' }],
    memo: { note: CANARY },
  };
  const schedule = await temporal.client.schedule.create({ scheduleId: id, spec: {}, action });
  await schedule.trigger();
  const run = await eventually(async () => (await schedule.describe()).info.recentActions[0]?.action.workflow);
  const handle = temporal.client.workflow.getHandle(run?.workflowId ?? '');
  expect(await handle.result()).toMatchObject({ more: false });
  expect(handle.workflowId).toMatch(/^reconcile-.+Z$/);
  expect((await handle.describe()).memo).toEqual({ note: CANARY });
  const described = await schedule.describe();
  expect(described.action.args).toEqual(action.args);
  expect(await readable(scheduling, handle.workflowId)).not.toContain(CANARY);
  await schedule.delete();
});

test('a worker without the key does not touch what is encrypted, and one with it goes on', async () => {
  const locked = await open();
  const { temporal } = locked;
  const ref = await arrive(locked, await makeKnownAddress(locked));
  const input = depositInput(ref);
  await nudgeDeposit(temporal, input, { start: true });
  worker = await locked.startWorker({ keysFile: null });
  const handle = temporal.client.workflow.getHandle(depositWorkflowId(input));
  const history = async () => historyToJSON(await handle.fetchHistory());
  await eventually(async () => (await history()).includes('WORKFLOW_TASK_FAILED'));
  expect(await history()).toContain('this process has no keys: set SVERKA_PAYLOAD_KEYS_FILE');
  expect(await depositRow(locked, ref)).toBeNull();
  await worker.stop();
  worker = await locked.startWorker();
  expect(await handle.result()).toMatchObject({ state: 'final' });
});

test('a rotation is followed by the schedules, so that the old key can go once its histories have', async () => {
  keys.write('k1', ['k1']);
  const namespace = await makeNamespace();
  world = await openWorkerWorld({ namespace, settings: { SVERKA_PAYLOAD_KEYS_FILE: keys.path } });
  const { config } = world;
  const keyIds = async (temporal: Temporal) => {
    const ids = schedulesOf(temporal, config).map(({ scheduleId }) => scheduleId);
    const raws = await Promise.all(
      ids.map(async (id) => (await temporal.client.schedule.getHandle(id).describe()).raw),
    );
    return raws.map(({ schedule }) => keyIdOf(schedule?.action?.startWorkflow?.userMetadata?.summary));
  };
  await ensureStanding(world.temporal, config);
  expect(new Set(await keyIds(world.temporal))).toEqual(new Set(['k1']));
  keys.write('k2', ['k1', 'k2']);
  const rotated = connectTemporal(config);
  await ensureStanding(rotated, config);
  expect(new Set(await keyIds(rotated))).toEqual(new Set(['k2']));
  keys.write('k2', ['k2']);
  const without = connectTemporal(config);
  expect(await keyIds(without)).toHaveLength(schedulesOf(world.temporal, config).length);
  await expect(keyIds(world.temporal)).rejects.toThrow(/holds only k1: put it back/);
  for (const each of [rotated, without]) await each.connection.close();
});
