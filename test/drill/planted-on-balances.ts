import { plantedInWorker } from '../support/planted-in-worker.js';
import type { WorkerWorld } from '../support/worker-world.js';
import type { Control } from './controls.js';
import { balanceFlow, balanceRebaseFlow } from './flows/balance-flow.js';
import { planted } from './planted-in-database.js';
import { unguarded } from './unguarded.js';
import { withWorker } from './with-worker.js';

const LOSES_PAGES = 'moves a position without its page';

/** Faults of a mirror of balances, each with the line that it is for. */
export const BALANCE_FAULTS: readonly Control[] = [
  {
    name: LOSES_PAGES,
    flow: balanceFlow,
    caughtBy: /^only the provider says: account-\w+: \d+ transactions/,
    async play(world, bundlePath) {
      const subjects = await balanceFlow.arrange(world, 1);
      const both = async () => {
        await subjects.start();
        await subjects.finish();
      };
      await withWorker(world, both, { bundlePath, plant: (deps) => plantedInWorker(LOSES_PAGES, deps) });
    },
  },
  caught('a transaction is added to a sum twice', /^only we say: account-\w+ USDT: /, ({ owner }) =>
    owner.query(`update sverka.balance_currency set moved = moved + 0.25 where currency = 'USDT'`),
  ),
  caught('an old version of an address comes back', /^only we say: account-\w+ address-00 BTC: /, ({ owner }) =>
    owner.query(
      `update sverka.balance_address set balance = balance + 1, version = version - 1
        where address = 'address-00' and currency = 'BTC'`,
    ),
  ),
  caught('a position passes what was not read', /^only we say: account-\w+: stands at /, ({ owner }) =>
    owner.query(`update sverka.source set cursor = cursor || 'b'`),
  ),
  {
    ...planted('a reset of which the merchant was not told', balanceRebaseFlow, (world) =>
      unguarded(world, 'sverka.event', `delete from sverka.event where type = 'balance.rebased'`),
    ),
    caughtBy: /^only the provider says: told 1$/,
  },
];

function caught(name: string, caughtBy: RegExp, plant: (world: WorkerWorld) => Promise<unknown>): Control {
  return {
    ...planted(name, balanceFlow, async (world) => {
      await plant(world);
    }),
    caughtBy,
  };
}
