import {
  arriveMany,
  depositsAtProvider,
  depositsInJournal,
  notifyAll,
  nudgeAll,
  readAgain,
  untilEnded,
  untilState,
} from '../deposit-truth.js';
import type { Flow } from '../flow.js';
import { withWorker } from '../with-worker.js';

/** A deposit that confirms, killed when it is completed. */
export const confirmedFlow: Flow = {
  name: 'deposit-confirmed',
  activities: ['providerReadDeposit'],
  atOnce: 18,
  async arrange(world, count) {
    const deposits = await arriveMany(world, count, { status: 'confirming' });
    await withWorker(world, async () => {
      await nudgeAll(world, deposits);
      await untilState(world, deposits, 'confirming');
    });
    for (const { ref } of deposits) {
      await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
    }
    return {
      start: () => notifyAll(world, deposits),
      finish: () => untilEnded(world, deposits),
      again: () => readAgain(world, deposits),
    };
  },
  truth: depositsAtProvider,
  ours: depositsInJournal,
};
