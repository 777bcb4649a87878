import { startSweep, storeNotification } from '../../support/worker-inbox.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import {
  arriveMany,
  type DrilledDeposit,
  depositsAtProvider,
  depositsInJournal,
  readAgain,
  untilState,
} from '../deposit-truth.js';
import type { Flow } from '../flow.js';

/** A notification that nobody came for, found by the sweep. */
export const sweepFlow: Flow = {
  name: 'sweep',
  activities: ['databaseNudgeOverdue'],
  atOnce: 1,
  async arrange(world, count) {
    const deposits = await arriveMany(world, count);
    for (const { ref } of deposits) await storeNotification(world, ref);
    let sweep: string | null = null;
    return {
      async start() {
        sweep = await startSweep(world);
      },
      async finish() {
        await untilSwept(world, deposits);
        if (sweep !== null) await world.temporal.client.workflow.getHandle(sweep).terminate('the cell is over');
      },
      again: () => readAgain(world, deposits),
    };
  },
  truth: depositsAtProvider,
  ours: depositsInJournal,
};

/** What a dead sweep has claimed comes again after a minute; here the lease is over at once. */
export async function untilSwept(world: WorkerWorld, deposits: readonly DrilledDeposit[]): Promise<void> {
  const leased = `update sverka.inbox set next_attempt_at = clock_timestamp()
    where status = 'pending' and next_attempt_at > clock_timestamp() + interval '20 s'`;
  const patience = setInterval(() => void world.owner.query(leased).catch(() => undefined), 1_000);
  try {
    await untilState(world, deposits, 'final');
  } finally {
    clearInterval(patience);
  }
}
