import { createPool } from '../../src/db/pool.js';
import { expectDepositInvariants } from '../support/deposit-facts.js';
import { canRunPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { openProductWorld, type ProductWorld } from '../support/product-world.js';
import { eventually } from '../support/simulated-custody.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const describeIfThere = canRunPgBouncer() ? describe : describe.skip;
const ROLES = ['gateway', 'relay', 'worker'] as const;
/** Connections to the server for each role: fewer than the processes want. */
const POOL_SIZE = 2;

describeIfThere('gateway, relay and worker behind PgBouncer (skipped where pgbouncer is not on PATH)', () => {
  let database: TestDatabase;
  let bouncer: PgBouncer;
  let world: ProductWorld;

  beforeAll(async () => {
    database = await openTestDatabase();
    const urls = ROLES.map((role) => database.urlFor(role));
    bouncer = await startPgBouncer(urls, POOL_SIZE);
    world = await openProductWorld({
      database: { url: database.url, urlFor: (role) => bouncer.through(database.urlFor(role)) },
      settings: { SVERKA_DATABASE_POOL: '8', SVERKA_DRIFT_CHECK_INTERVAL: '1s', SVERKA_RECONCILE_INTERVAL: '1s' },
    });
  });
  afterAll(async () => {
    await world?.close();
    await bouncer?.close();
    await database?.close();
  });

  it('addresses, webhooks, credits, checks and pages work on a few connections in turn [CASES K07]', async () => {
    const addresses = await Promise.all(Array.from({ length: 5 }, () => world.address()));
    expect(new Set(addresses).size).toBe(1);
    await Promise.all(Array.from({ length: 30 }, () => world.arrive(addresses[0] ?? '')));
    await eventually(async () => (await world.available()) === '30.000000');
    await eventually(async () => (await checksThatRan()).length >= 2);
    expect(await world.ready()).toEqual(Array(3).fill(expect.stringMatching(/ok|degraded/)));
    await expectDepositInvariants(world.owner);
    // Nobody but PgBouncer is there, and it was never more than it may have.
    const { rows } = await world.owner.query<{ role: string; sessions: number }>(
      `select usename as role, count(*)::int as sessions from pg_stat_activity
        where datname = current_database() and usename like 'sverka\\_%' group by usename`,
    );
    expect(rows.length).toBe(ROLES.length);
    for (const { sessions } of rows) expect(sessions).toBeLessThanOrEqual(POOL_SIZE);
  });

  it('no session keeps a lock, a setting or a named statement for whoever gets it next [CASES K07]', async () => {
    const plain = await settingsOf(database.urlFor('worker'), 1);
    expect(await settingsOf(bouncer.through(database.urlFor('worker')), 12)).toEqual(plain);
    const { rows } = await world.owner.query(
      `select l.pid from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
        where l.locktype = 'advisory'`,
    );
    expect(rows).toEqual([]);
  });

  async function checksThatRan(): Promise<string[]> {
    const { rows } = await world.owner.query<{ name: string }>('select distinct name from sverka.check_run');
    return rows.map((row) => row.name);
  }
});

/** What stands in the sessions that `count` callers get, the same ones once. */
async function settingsOf(url: string, count: number): Promise<unknown[]> {
  const pool = createPool(url, { max: count, applicationName: 'test' });
  const answers = await Promise.all(
    Array.from({ length: count }, () =>
      pool.query(
        `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock,
           current_setting('statement_timeout') as statement, current_setting('search_path') as path,
           current_setting('TimeZone') as zone, current_setting('plan_cache_mode') as plans,
           (select count(*)::int from pg_prepared_statements where name <> '') as statements`,
      ),
    ),
  );
  await pool.end();
  return [...new Set(answers.map(({ rows }) => JSON.stringify(rows)))];
}
