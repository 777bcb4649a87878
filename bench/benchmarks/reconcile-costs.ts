import { MockActivityEnvironment } from '@temporalio/testing';
import type pg from 'pg';
import { createDepositActivities } from '../../src/activities/deposits.js';
import { loadConfig } from '../../src/config.js';
import type { DepositPages } from '../../src/contracts/messages.js';
import { createPool } from '../../src/db/pool.js';
import { createProviders } from '../../src/providers/create-providers.js';
import type { PagesOrder } from '../custody-pages.js';
import { activityDeps } from '../support/activity-deps.js';
import { openAddresses } from '../support/addresses.js';
import type { BenchContext, Cost } from '../support/benchmark.js';
import { startProcess } from '../support/processes.js';
import { countRoundTrips, type RoundTripCounter } from '../support/round-trips.js';
import { SOURCE, settingsFor } from '../support/settings.js';
import { walBytesOf } from '../support/wal.js';

/** Items of the feed whose costs are counted: the same in every size. */
const COSTED_ITEMS = 2_000;
const ADDRESSES = 100;

/**
 * What an item costs the database, new and known: the activity itself, in this process, through a counter, on a
 * database that no worker writes to.
 */
export async function reconcileCosts({ servers }: BenchContext): Promise<Cost[]> {
  const database = await servers.openDatabase('reconcile_costs');
  const owner = createPool(database.url, { max: 1, applicationName: 'bench' });
  const pages = await startProcess(servers, { file: 'bench/custody-pages.ts', name: 'custody-pages-costs' });
  const counter = await countRoundTrips(database.urlFor('worker'));
  try {
    const addresses = (await openAddresses(owner, ADDRESSES)).map(({ address }) => address);
    const order: PagesOrder = { items: COSTED_ITEMS, addresses };
    const { url: custodyUrl } = (await pages.ask(order)) as { url: string };
    const of = { database, namespace: 'default', role: 'worker' as const, taskQueue: 'bench-costs', custodyUrl };
    return await turnCosts({ owner, counter, settings: settingsFor(servers, of) });
  } finally {
    await pages.stop();
    await owner.end();
    await counter.close();
    await database.drop();
  }
}

async function turnCosts(of: {
  readonly owner: pg.Pool;
  readonly counter: RoundTripCounter;
  readonly settings: Readonly<Record<string, string>>;
}): Promise<Cost[]> {
  const { owner, counter } = of;
  const config = loadConfig({ ...of.settings, DATABASE_URL: counter.url });
  const pool = createPool(config.DATABASE_URL, { max: 1, applicationName: 'bench-counted' });
  const providers = createProviders(config);
  const { pageDepositChanges } = createDepositActivities(activityDeps({ pool, config, providers }));
  const pass = async (): Promise<{ bytes: number; trips: number }> => {
    await owner.query('update sverka.source set cursor = null');
    counter.take();
    const bytes = await walBytesOf(owner, async () => {
      for (let more = true; more; ) {
        const turn: DepositPages = await new MockActivityEnvironment().run(pageDepositChanges, { ...SOURCE });
        more = turn.more;
      }
    });
    return { bytes: bytes / COSTED_ITEMS, trips: counter.take() / COSTED_ITEMS };
  };
  try {
    const fresh = await pass();
    // Once for nothing: the first change of a page after a checkpoint logs it whole.
    await pass();
    const known = await pass();
    return [
      { what: 'WAL a new item', unit: 'bytes', value: fresh.bytes, budget: { atMost: 20_000 } },
      { what: 'WAL a known item', unit: 'bytes', value: known.bytes, budget: { atMost: 1_600 } },
      { what: 'round trips a new item', unit: 'round trips', value: fresh.trips, budget: { atMost: 0.15 } },
      { what: 'round trips a known item', unit: 'round trips', value: known.trips, budget: { atMost: 0.1 } },
    ];
  } finally {
    await Promise.all([providers.close(), pool.end()]);
  }
}
