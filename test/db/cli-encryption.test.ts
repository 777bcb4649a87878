import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { ensureStanding } from '../../src/client/standing.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { type PayloadKeysFile, payloadKeysFile } from '../support/payload-keys.js';
import { testTemporal } from '../support/test-temporal.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const LIVE = 'deposit-reconcile:live:custody';

let keys: PayloadKeysFile;
let world: WorkerWorld;
let worker: RunningWorker;
let cli: CommandLine;
beforeAll(async () => {
  const namespace = await makeNamespace();
  keys = payloadKeysFile('k1', ['k1']);
  world = await openWorkerWorld({ namespace, settings: { SVERKA_PAYLOAD_KEYS_FILE: keys.path } });
  worker = await world.startWorker();
  await ensureStanding(world.temporal, world.config);
  cli = openCommandLine(null);
});
afterAll(async () => {
  cli.remove();
  await worker.stop();
  await world.close();
  keys.remove();
});

/** What runs here, with these keys. */
function setRun(file?: string): void {
  const of = file === undefined ? {} : { payloadKeysFile: file };
  const { address: temporalAddress } = testTemporal();
  const { TEMPORAL_NAMESPACE: temporalNamespace, SVERKA_TASK_QUEUE: taskQueue } = world.config;
  const run = runWithConsole(world.database.urlFor('console'));
  cli.setRun({ ...run, temporalAddress, temporalNamespace, taskQueue, ...of });
}

test('the command line opens what runs are given and answer, with the keys of the local run', async () => {
  setRun(keys.path);
  const answer = await cli.json(['schedules', 'run', LIVE]);
  expect(answer).toMatchObject({ object: 'schedule_run', result: { pages: 1, more: false } });
  const run = world.temporal.client.workflow.getHandle(String(answer['workflow_id']));
  const [completed] = (await run.fetchHistory()).events?.slice(-1) ?? [];
  expect(historyToJSON({ events: completed ? [completed] : [] })).toContain(
    Buffer.from('binary/encrypted').toString('base64'),
  );
});

test('without them it ends with 2 and says which setting is missing', async () => {
  setRun();
  const { detail } = await cli.problem(['schedules', 'list'], 2);
  expect(detail).toMatch(/encrypted with key k1[^]*A profile names that file by payloadKeysFile/);
});

test('keys that cannot be used end it with 2, before anything is sent', async () => {
  setRun(keys.path);
  chmodSync(keys.path, 0o644);
  expect((await cli.problem(['schedules', 'list'], 2))['detail']).toMatch(/others may use it/);
  chmodSync(keys.path, 0o600);
});

test('a profile names its own file, beside the profiles', async () => {
  const folder = join(cli.state, '.config/sverka');
  mkdirSync(folder, { recursive: true });
  const { address: temporalAddress } = testTemporal();
  const { TEMPORAL_NAMESPACE: temporalNamespace } = world.config;
  const databaseUrl = world.database.urlFor('console');
  const other = { databaseUrl, temporalAddress, temporalNamespace, payloadKeysFile: '../../keys.json' };
  writeFileSync(join(folder, 'profiles.json'), JSON.stringify({ other }), { mode: 0o600 });
  const missing = await cli.problem(['schedules', 'list', '--profile', 'other'], 2);
  expect(missing['detail']).toContain(join(cli.state, 'keys.json'));
  writeFileSync(join(cli.state, 'keys.json'), keys.text(), { mode: 0o600 });
  const { data } = await cli.json(['schedules', 'list', '--profile', 'other']);
  expect((data as { id: string }[]).map(({ id }) => id)).toContain(LIVE);
});
