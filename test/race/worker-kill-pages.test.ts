import { killAtPoints } from '../support/crash-child.js';
import { range, recordSteps } from '../support/crash-record.js';
import { COMMIT_SENT } from '../support/crash-steps.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { bundleImpatient, type MutantBundle } from '../support/worker-mutants.js';
import { arrive, creditsOf, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

/** The worker has 20 slots for calls to one provider; so many points can be held at once. */
const SLOTS = 20;

let world: WorkerWorld;
let bundle: MutantBundle;
beforeAll(async () => {
  [world, bundle] = await Promise.all([openWorkerWorld(), bundleImpatient()]);
});
afterAll(async () => {
  bundle?.remove();
  await world?.close();
});

/** Every account of ours is the same one of the simulator's, so each pages the same changes into books of its own. */
const oneAccount = (deps: WorkerWorld['deps']): WorkerWorld['deps'] => ({
  ...deps,
  custody: ({ book }) => deps.custody({ book, account: 'main-live' }),
});
const runIdOf = (account: string, run = 1) => `reconcile-${world.temporal.taskQueue}-${account}-${run}`;
function start(account: string, run?: number) {
  const { client, taskQueue } = world.temporal;
  const input = { book: 'live', provider: 'custody', account } as const;
  return client.workflow.start('depositReconcile', { workflowId: runIdOf(account, run), taskQueue, args: [input] });
}

test('killed in a page of changes, each deposit is booked once, and another run changes nothing', async () => {
  const shared = await makeKnownAddress(world);
  for (let n = 0; n < 3; n += 1) await arrive(world, shared);
  const how = { bundlePath: bundle.path, deps: oneAccount };
  const steps = await recordSteps(world, how, async () => {
    expect(await (await start('main-live')).result()).toMatchObject({ changed: 3, more: false });
  });
  const labels = steps.get('pageDepositChanges') ?? [];
  expect(labels).toEqual(expect.arrayContaining(['call readDepositChanges', COMMIT_SENT]));
  const accounts = labels.map((_, n) => `account-${n}`);
  const owners = await Promise.all(accounts.map((account) => makeKnownAddress(world, { account, like: shared })));

  for (let from = 0; from < accounts.length; from += SLOTS) {
    const some = accounts.slice(from, from + SLOTS);
    const points = { pageDepositChanges: range(from, from + some.length) };
    const held = await killAtPoints(world, { points, bundlePath: bundle.path }, () =>
      Promise.all(some.map((account) => start(account))),
    );
    const inDoubt = held.filter(({ label }) => label === COMMIT_SENT).length;
    process.stdout.write(`killed at ${held.length} points of pages, ${inDoubt} with a COMMIT in doubt\n`);
    expect(held).toHaveLength(some.length);
    const worker = await world.startWorker(how);
    for (const account of some) {
      expect(await world.temporal.client.workflow.getHandle(runIdOf(account)).result()).toMatchObject({ more: false });
    }
    await expectNothingChanges(world.owner, async () => {
      for (const account of some) await (await start(account, 2)).result();
    });
    await worker.stop();
  }
  for (const { merchantId } of owners) expect(await creditsOf(world, merchantId)).toEqual(Array(3).fill('25000000'));
  await expectMoneyInvariants(world.owner);
});
