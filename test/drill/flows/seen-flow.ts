import {
  arriveMany,
  depositsAtProvider,
  depositsInJournal,
  notifyAll,
  readAgain,
  untilEnded,
  untilState,
} from '../deposit-truth.js';
import type { Flow } from '../flow.js';

/** A deposit that confirms, killed at its first sight. */
export const seenFlow: Flow = {
  name: 'deposit-seen',
  activities: ['providerReadDeposit'],
  atOnce: 18,
  async arrange(world, count) {
    const deposits = await arriveMany(world, count, { status: 'confirming' });
    return {
      start: () => notifyAll(world, deposits),
      async finish() {
        await untilState(world, deposits, 'confirming');
        for (const { ref } of deposits) {
          await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
        }
        await notifyAll(world, deposits);
        await untilEnded(world, deposits);
      },
      again: () => readAgain(world, deposits),
    };
  },
  truth: depositsAtProvider,
  ours: depositsInJournal,
};
