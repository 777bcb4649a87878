import {
  balancesAtProvider,
  balancesOfOurs,
  mirrorAgain,
  mirrorMany,
  nudgeAll,
  type Scene,
  untilMirrored,
} from '../balance-truth.js';
import type { Flow } from '../flow.js';
import { withWorker } from '../with-worker.js';

/** One check in a cell, in one turn of its activity however slow the machine; one that failed comes again at once. */
const SETTINGS = {
  SVERKA_BALANCE_CHECK_INTERVAL: '1h',
  SVERKA_BALANCE_RECHECK_INTERVAL: '300ms',
  SVERKA_PAGE_TURN: '60s',
};

const PAGED: Scene = { silent: 1_100, told: 24, waiting: false, keep: null, due: true };

/** A check that pages the journal: its snapshot, pages of 500, 500 and 124 changes, and the comparison. */
export const balanceFlow: Flow = flowOf('balance', 'pageBalances', PAGED);

/** A check that finds the journal no longer reaches back so far: a fresh snapshot is the truth. */
export const balanceRebaseFlow: Flow = flowOf('balance-rebase', 'pageBalances', { ...PAGED, keep: 100 });

/** What webhooks have told; no check is due. */
export const balanceDrainFlow: Flow = flowOf('balance-drain', 'databaseDrainBalances', {
  ...{ silent: 0, told: 40, waiting: true, keep: null, due: false },
});

function flowOf(name: string, activity: string, scene: Scene): Flow {
  return {
    name,
    activities: [activity],
    atOnce: 12,
    pert: true,
    settings: SETTINGS,
    async arrange(world, count) {
      const keys = await mirrorMany(world, count, scene);
      return {
        start: () => nudgeAll(world, keys),
        finish: () => untilMirrored(world, keys),
        again: () =>
          withWorker(world, async () => {
            await mirrorAgain(world, keys);
            await untilMirrored(world, keys, scene.due ? 2 : 0);
          }),
      };
    },
    truth: balancesAtProvider,
    ours: balancesOfOurs,
  };
}
