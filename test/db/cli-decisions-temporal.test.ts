import { join } from 'node:path';
import { createLoginLink } from '../../src/db/login-links.js';
import { writeLoginFile } from '../../src/local/login-file.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { makePerson } from '../support/decisions.js';
import { eventually } from '../support/simulated-custody.js';
import { startSweep, storeNotification } from '../support/worker-inbox.js';
import { arrive, depositInput, depositRow, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
let worker: RunningWorker;
let cli: CommandLine;
let sweep: string;

beforeAll(async () => {
  world = await openWorkerWorld();
  worker = await world.startWorker();
  sweep = await startSweep(world);
  cli = openCommandLine({
    ...runWithConsole(world.database.urlFor('console')),
    temporalAddress: world.config.TEMPORAL_ADDRESS,
    temporalNamespace: world.config.TEMPORAL_NAMESPACE,
    taskQueue: world.config.SVERKA_TASK_QUEUE,
  });
  await makePerson(world.owner, 'operator');
  writeLoginFile(join(cli.state, 'login', 'operator'), (await createLoginLink(world.tx, 'operator')) ?? '');
});
afterAll(async () => {
  cli.remove();
  await world.temporal.client.workflow.getHandle(sweep).terminate();
  await worker.stop();
  await world.close();
});

const BY = ['--reason', 'asked the custodian', '--as', 'operator', '--yes'];
const workflowOf = (ref: string) => world.temporal.client.workflow.getHandle(`deposit:live:custody:${ref}`);

/** Its workflow, followed until the deposit stands like this. */
async function follow(ref: string, stands: { state: string; flag?: string }): Promise<string> {
  await world.deps.nudgeDeposit(depositInput(ref), { start: true });
  const row = await eventually(async () => {
    const found = await depositRow(world, ref);
    return found?.state === stands.state && (stands.flag === undefined || found.flag === stands.flag) && found;
  });
  return row.id;
}

it('a decision on a deposit whose workflow waits is applied by that workflow, at once', async () => {
  const ref = await arrive(world, await makeKnownAddress(world), { amount: '0.0000001' });
  const id = await follow(ref, { state: 'parked' });
  expect((await workflowOf(ref).describe()).status.name).toBe('RUNNING');
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { amount: '2' });
  await world.deps.nudgeDeposit(depositInput(ref), { start: true });
  await eventually(async () => {
    const { rows } = await world.owner.query('select reported_text as text from sverka.deposit where id = $1', [id]);
    return rows[0]?.text === '2';
  });
  const { code, stdout, stderr } = await cli.run('deposits', 'decide', id, '--retry', ...BY);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('The deposit is final.');
  expect(await workflowOf(ref).result()).toMatchObject({ state: 'final', ended: true });
});

it('one on a deposit whose workflow has ended is applied by the sweep, and no second run begins', async () => {
  const ref = await arrive(world, await makeKnownAddress(world), { amount: '2' });
  const id = await follow(ref, { state: 'final' });
  await workflowOf(ref).result();
  const { runId } = await workflowOf(ref).describe();
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'failed' });
  expect(await cli.json(['deposits', 'decide', id])).toMatchObject({ needed: false });
  await storeNotification(world, ref);
  await eventually(async () => (await depositRow(world, ref))?.flag === 'failed_after_credit');
  expect(await cli.json(['deposits', 'decide', id], 5)).toMatchObject({ choices: ['orphan', 'accept'] });
  expect(await cli.json(['deposits', 'decide', id, '--orphan', ...BY])).toMatchObject({
    outcome: 'applied',
    subject: { state: 'orphaned' },
  });
  expect((await workflowOf(ref).describe()).runId).toBe(runId);
});
