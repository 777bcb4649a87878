import type pg from 'pg';
import { createIssuanceActivities } from '../../src/activities/issuances.js';
import { loadConfig } from '../../src/config.js';
import { createPool } from '../../src/db/pool.js';
import { createProviders } from '../../src/providers/create-providers.js';
import { activityDeps } from '../support/activity-deps.js';
import type { Cost } from '../support/benchmark.js';
import { type Buyer, cardInput } from '../support/buyers.js';
import type { BenchKeys } from '../support/keys.js';
import { countRoundTrips } from '../support/round-trips.js';
import type { BenchDatabase, BenchServers } from '../support/servers.js';
import { settingsFor } from '../support/settings.js';
import { checkpoint, walBytesOf } from '../support/wal.js';

/** The three activities of the straight path, in this process, through a counter. */
export async function databaseCosts(of: {
  readonly servers: BenchServers;
  readonly database: BenchDatabase;
  readonly namespace: string;
  readonly custodyUrl: string;
  readonly issuer: { readonly url: string; readonly keys: BenchKeys };
  readonly owner: pg.Pool;
  readonly buyers: readonly Buyer[];
  readonly count: number;
}): Promise<Cost[]> {
  const { servers, owner, buyers, count } = of;
  const config = loadConfig(settingsFor(servers, { ...of, role: 'worker', taskQueue: 'bench-costs' }));
  const counter = await countRoundTrips(config.DATABASE_URL);
  const pool = createPool(counter.url, { max: 2, applicationName: 'bench-counted' });
  const providers = createProviders(config);
  const activities = createIssuanceActivities(activityDeps({ pool, config, providers }));
  const issueMany = async () => {
    for (let n = 0; n < count; n += 1) {
      const buyer = buyers[n % buyers.length];
      if (!buyer) throw new Error('There are no buyers.');
      const input = cardInput(buyer);
      const { issuanceId } = await activities.databaseReserveIssuance(input);
      if (issuanceId === null) throw new Error('A card was refused.');
      const run = { id: issuanceId, traceId: input.traceId, runId: 'bench' };
      await activities.databaseSubmitIssuance(run);
      const { state } = await activities.providerCreateIssuance({ ...run, tries: 0 });
      if (state !== 'active') throw new Error(`A card ended ${state}.`);
    }
  };
  try {
    await checkpoint(owner);
    await issueMany();
    counter.take();
    const bytes = await walBytesOf(owner, issueMany);
    const trips = counter.take();
    return [
      { what: 'WAL an issuance', unit: 'bytes', value: bytes / count, budget: { atMost: 20_000 } },
      { what: 'round trips an issuance', unit: 'round trips', value: trips / count, budget: { atMost: 40 } },
    ];
  } finally {
    await Promise.all([providers.close(), pool.end()]);
    await counter.close();
  }
}
