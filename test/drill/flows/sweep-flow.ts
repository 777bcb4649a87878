import { startSweep, storeNotification } from '../../support/worker-inbox.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import { arriveMany, depositsAtProvider, depositsInJournal, readAgain, untilState } from '../deposit-truth.js';
import type { Flow, Subjects } from '../flow.js';

/** What a dead sweep has claimed comes again soon. */
export const SHORT_LEASE = { SVERKA_SWEEP_LEASE: '2s' } as const;

/** A notification that nobody came for, found by the sweep; its parts run beside each other. */
export const sweepFlow = sweepFlowOf('sweep', [
  'databaseSeal',
  'databaseSweepDeadLetters',
  'databaseNudgeOverdue',
  'databaseRestartStranded',
  'databaseApplyLedgerImport',
]);

/** The same, killed when the parts are done and the turn ends. */
export const sweepEndFlow = sweepFlowOf('sweep-end', ['databaseEndSweep']);

function sweepFlowOf(name: string, activities: readonly string[]): Flow {
  const [truth, ours] = [depositsAtProvider, depositsInJournal];
  return { name, activities, atOnce: 1, settings: SHORT_LEASE, arrange, truth, ours };
}

async function arrange(world: WorkerWorld, count: number): Promise<Subjects> {
  const deposits = await arriveMany(world, count);
  for (const { ref } of deposits) await storeNotification(world, ref);
  let sweep: string | null = null;
  return {
    async start() {
      sweep = await startSweep(world);
    },
    async finish() {
      await untilState(world, deposits, 'final');
      if (sweep !== null) await world.temporal.client.workflow.getHandle(sweep).terminate('the cell is over');
    },
    again: () => readAgain(world, deposits),
  };
}
