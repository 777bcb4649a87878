import { eventually } from '../../support/simulated-custody.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import { addressesAtProvider, addressesInRows, reserveAgain, startAll, untilMade, wishMany } from '../address-truth.js';
import type { Flow } from '../flow.js';

/** A create that was done and whose answer was lost: noted as unknown, then found by our reference. */
export const lostCreateFlow: Flow = {
  name: 'lost-create',
  activities: ['databaseSuspectDepositAddress', 'providerReadDepositAddress'],
  atOnce: 18,
  async arrange(world, count) {
    const inputs = await wishMany(world, count);
    let fault: string | null = null;
    return {
      async start() {
        const match = { method: 'POST', path: '/v1/addresses' };
        const before = await posts(world);
        fault = (await world.custody.drive('POST', '/_sim/faults', { fault: 'lost_answer', match })).id;
        await startAll(world, inputs);
        await eventually(async () => (await posts(world)) >= before + count);
      },
      async finish() {
        if (fault !== null) await world.custody.drive('DELETE', `/_sim/faults/${fault}`);
        fault = null;
        await untilMade(world, inputs);
      },
      again: () => reserveAgain(world, inputs),
    };
  },
  truth: addressesAtProvider,
  ours: addressesInRows,
};

async function posts({ custody }: WorkerWorld): Promise<number> {
  return (await custody.truth()).requests['POST /v1/addresses'] ?? 0;
}
