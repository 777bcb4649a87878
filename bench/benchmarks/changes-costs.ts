import { takeBalanceStep } from '../../src/activities/balance-checks.js';
import { loadConfig } from '../../src/config.js';
import { createPool } from '../../src/db/pool.js';
import { createProviders } from '../../src/providers/create-providers.js';
import { activityDeps } from '../support/activity-deps.js';
import type { BenchContext, Cost } from '../support/benchmark.js';
import { cursorAt } from '../support/cursor-at.js';
import { startProcess } from '../support/processes.js';
import { countRoundTrips } from '../support/round-trips.js';
import { BALANCES, settingsFor } from '../support/settings.js';
import { checkpoint, walBytesOf } from '../support/wal.js';

/** Items whose costs are counted; the large size replays a million, as the issue of the mirror asks. */
const COSTED = { small: 5_000, full: 1_000_000 } as const;
const ADDRESSES = 5_000;
const COUNTS = `select (select count(*) from sverka.balance_transaction) || ' transactions, newest '
  || (select max(xmin::text::bigint) from sverka.balance_transaction) || ', addresses '
  || (select count(*) || ' of ' || max(xmin::text::bigint) from sverka.balance_address) as counts`;

/**
 * What an item of the journal costs the database, new and known: the steps of a check in this process, through a
 * counter, on a database that nobody else writes to.
 */
export async function changesCosts({ servers, size }: BenchContext): Promise<Cost[]> {
  const items = COSTED[size];
  const database = await servers.openDatabase('changes_costs');
  const owner = createPool(database.url, { max: 1, applicationName: 'bench' });
  const journal = await startProcess(servers, { file: 'bench/pert-pages.ts', name: 'pert-pages-costs' });
  const counter = await countRoundTrips(database.urlFor('worker'));
  const { url: pertUrl } = (await journal.ask({ items, addresses: ADDRESSES })) as { url: string };
  const of = { database, namespace: 'default', role: 'worker', taskQueue: 'bench-costs', pertUrl } as const;
  const config = loadConfig({
    ...settingsFor(servers, { ...of, custodyUrl: 'http://127.0.0.1:9' }),
    DATABASE_URL: counter.url,
  });
  const pool = createPool(config.DATABASE_URL, { max: 2, applicationName: 'bench-counted' });
  const providers = createProviders(config);
  const deps = activityDeps({ pool, config, providers });
  /** Pages to the end of the journal, and stops before the comparison. */
  const page = async () => {
    counter.take();
    let read = 0;
    const bytes = await walBytesOf(owner, async () => {
      while (read < items) {
        const step = await takeBalanceStep(deps, BALANCES);
        if (step?.kind === 'page') read += step.page.items;
        else if (step?.kind !== 'begun') throw new Error(`A step of a check came to ${step?.kind}.`);
      }
    });
    return { bytes: bytes / items, trips: counter.take() / items };
  };
  try {
    await journal.ask({ head: 0 });
    while ((await takeBalanceStep(deps, BALANCES))?.kind !== 'ended');
    await journal.ask({ head: items });
    await owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
    const fresh = await page();
    const before = await owner.query(COUNTS);
    // The same journal once more within the same check, as after a position that was lost.
    await owner.query(`update sverka.source set cursor = '${cursorAt(0)}' where feed = 'changes'`);
    await checkpoint(owner);
    const known = await page();
    const after = await owner.query(COUNTS);
    const [was, is] = [before.rows[0]?.counts, after.rows[0]?.counts];
    if (was !== is) throw new Error(`Known items changed rows: ${was}, then ${is}.`);
    return [
      { what: 'WAL a new item', unit: 'bytes', value: fresh.bytes, budget: { atMost: 1_500 } },
      { what: 'WAL a known item', unit: 'bytes', value: known.bytes, budget: { atMost: 100 } },
      { what: 'round trips a new item', unit: 'round trips', value: fresh.trips, budget: { atMost: 0.05 } },
      { what: 'round trips a known item', unit: 'round trips', value: known.trips, budget: { atMost: 0.05 } },
    ];
  } finally {
    await Promise.all([providers.close(), pool.end()]);
    await journal.stop();
    await owner.end();
    await counter.close();
    await database.drop();
  }
}
