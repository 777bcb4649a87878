import { randomBytes } from 'node:crypto';
import { newId } from '../../../src/db/new-id.js';
import { CANARY_CARD } from '../../support/deposit-world.js';
import { arrive, makeKnownAddress } from '../../support/worker-rows.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import { depositsAtProvider, depositsInJournal } from '../deposit-truth.js';
import type { Flow } from '../flow.js';
import { resultOf } from '../result-of.js';
import { withWorker } from '../with-worker.js';

const DEPOSITS = 3;

/** A page of changes. Each account of ours pages the same changes into books of its own. */
export const pageFlow: Flow = {
  name: 'page',
  activities: ['pageDepositChanges'],
  atOnce: 18,
  async arrange(world, count) {
    const shared = await sharedPlace(world);
    const accounts = Array.from({ length: count }, () => `account-${randomBytes(4).toString('hex')}`);
    for (const account of accounts) await makeKnownAddress(world, { account, like: shared });
    let runs = 0;
    const run = async () => {
      runs += 1;
      for (const account of accounts) await startRun(world, account, runs);
    };
    const ended = async () => {
      for (const account of accounts) await resultOf(world, runIdOf(world, account, runs));
    };
    return {
      start: run,
      finish: ended,
      async again() {
        // From the first position: it is not the cursor that makes it once.
        await world.owner.query('delete from sverka.source where account = any ($1)', [accounts]);
        await withWorker(world, async () => {
          await run();
          await ended();
        });
      },
    };
  },
  truth: depositsAtProvider,
  ours: depositsInJournal,
};

const places = new WeakMap<WorkerWorld, { id: string; merchantId: string; address: string }>();

/** An address at the custodian, and deposits there, that stand in none of our books yet. */
async function sharedPlace(world: WorkerWorld) {
  const known = places.get(world);
  if (known) return known;
  const id = newId('depositAddress');
  const request = { reference: id, network: 'tron', asset: 'USDT-TRC20', settleIn: null };
  const place = { id, merchantId: 'none', address: (await world.custody.live.createAddress(request)).address };
  for (let n = 0; n < DEPOSITS; n += 1) await arrive(world, place, { replaced_by: CANARY_CARD });
  places.set(world, place);
  return place;
}

function runIdOf({ temporal }: WorkerWorld, account: string, run: number): string {
  return `reconcile-${temporal.taskQueue}-${account}-${run}`;
}

async function startRun(world: WorkerWorld, account: string, run: number): Promise<void> {
  const { client, taskQueue } = world.temporal;
  const input = { book: 'live', provider: 'custody', account } as const;
  await client.workflow.start('depositReconcile', {
    workflowId: runIdOf(world, account, run),
    taskQueue,
    args: [input],
  });
}
