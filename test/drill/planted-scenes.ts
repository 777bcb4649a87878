import { createDepositActivities } from '../../src/activities/deposits.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { meetPoints } from '../support/crash-child.js';
import { CREATES_AGAIN, type PlantedInWorker, plantedInWorker } from '../support/planted-in-worker.js';
import { eventually } from '../support/simulated-custody.js';
import { notificationsOf, startSweep, storeNotification } from '../support/worker-inbox.js';
import { depositInput } from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { recordPoints } from './cells.js';
import type { Control } from './controls.js';
import { arriveMany, untilState } from './deposit-truth.js';
import { depositFlow } from './flows/deposit-flow.js';
import { lostCreateFlow } from './flows/lost-create-flow.js';
import { withWorker } from './with-worker.js';

/** Faults of the worker, each in the scene that shows it. */
export const WORKER_FAULTS: readonly Control[] = [
  {
    name: 'credit in a second transaction',
    flow: depositFlow,
    async play(world, bundlePath) {
      const points = await recordPoints(depositFlow, world, bundlePath);
      const commits = points.filter(({ label }) => label === 'COMMIT').map(({ step }) => step);
      const subjects = await depositFlow.arrange(world, commits.length);
      const crash = crashOf('credit in a second transaction', { bundlePath, steps: commits });
      await (await meetPoints(world, crash, () => subjects.start())).kill();
      await withWorker(world, () => subjects.finish(), { bundlePath });
    },
  },
  {
    name: 'apply without a ticket',
    flow: depositFlow,
    async play(world, bundlePath) {
      const scene = await heldAfterRead(world, 'apply without a ticket', { bundlePath, status: 'completed' });
      await world.custody.drive('PATCH', `/_sim/deposits/${scene.ref}`, { status: 'replaced' });
      // Another reader comes first, with the newer answer.
      await createDepositActivities(world.deps).providerReadDeposit({ ...depositInput(scene.ref), absentMs: 0 });
      await scene.goOn();
    },
  },
  {
    name: 'marks done what came after the read',
    flow: depositFlow,
    async play(world, bundlePath) {
      const fault = 'marks done what came after the read';
      const scene = await heldAfterRead(world, fault, { bundlePath, status: 'confirming' });
      await world.custody.drive('PATCH', `/_sim/deposits/${scene.ref}`, { status: 'completed' });
      await storeNotification(world, scene.ref);
      await scene.goOn();
      await withWorker(world, async () => {
        const sweep = await startSweep(world);
        await untilState(world, [scene], 'confirming');
        await eventually(async () => !(await notificationsOf(world, scene.ref)).includes('pending'));
        await world.temporal.client.workflow.getHandle(sweep).terminate('the scene is over');
      });
    },
  },
  {
    name: CREATES_AGAIN,
    flow: lostCreateFlow,
    async play(world, bundlePath) {
      const subjects = await lostCreateFlow.arrange(world, 1);
      const both = async () => {
        await subjects.start();
        await subjects.finish();
      };
      await withWorker(world, both, { bundlePath, plant: (deps) => plantedInWorker(CREATES_AGAIN, deps) });
    },
  },
];

/** A worker with that fault has read the deposit, and its answer is on its way into the database. */
async function heldAfterRead(
  world: WorkerWorld,
  fault: PlantedInWorker,
  { bundlePath, status }: { bundlePath: string; status: string },
) {
  const points = await recordPoints(depositFlow, world, bundlePath);
  const after = points.findIndex(({ label }) => label === 'call readDeposit') + 1;
  const [deposit] = await arriveMany(world, 1, { status });
  if (deposit === undefined) throw new Error('The deposit did not arrive.');
  await storeNotification(world, deposit.ref);
  const worker = await meetPoints(world, crashOf(fault, { bundlePath, steps: [points[after]?.step ?? 0] }), () =>
    nudgeDeposit(world.temporal, depositInput(deposit.ref), { start: true }),
  );
  const goOn = async () => {
    await worker.release();
    await worker.kill();
  };
  return { ...deposit, goOn };
}

function crashOf(fault: PlantedInWorker, { bundlePath, steps }: { bundlePath: string; steps: number[] }) {
  return { points: { providerReadDeposit: steps }, bundlePath, env: { TEST_CRASH_FAULT: fault } };
}
