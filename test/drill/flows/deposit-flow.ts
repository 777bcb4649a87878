import {
  arriveMany,
  depositsAtProvider,
  depositsInJournal,
  notifyAll,
  readAgain,
  untilEnded,
} from '../deposit-truth.js';
import type { Flow } from '../flow.js';

/** A first deposit by webhook, completed at its first read. */
export const depositFlow: Flow = {
  name: 'deposit',
  activities: ['providerReadDeposit'],
  atOnce: 18,
  async arrange(world, count) {
    const deposits = await arriveMany(world, count);
    return {
      start: () => notifyAll(world, deposits),
      finish: () => untilEnded(world, deposits),
      again: () => readAgain(world, deposits),
    };
  },
  truth: depositsAtProvider,
  ours: depositsInJournal,
};
