import type pg from 'pg';
import { migrate } from '../../src/db/migrate.js';
import { createPool } from '../../src/db/pool.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { leg } from '../../src/domain/journal.js';
import { compareCallers } from '../support/journal-comparison.js';
import { balanceOf, fund, movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { canRunPgBouncer, type PgBouncer, startPgBouncer } from '../support/pgbouncer.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const describeIfThere = canRunPgBouncer() ? describe : describe.skip;

describeIfThere('through PgBouncer in transaction mode (skipped where pgbouncer is not on PATH)', () => {
  let database: TestDatabase;
  let bouncer: PgBouncer;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await openTestDatabase();
    bouncer = await startPgBouncer([database.urlFor('worker'), database.url], 4);
    pool = createPool(bouncer.through(database.urlFor('worker')), { max: 16, applicationName: 'test' });
  });
  afterAll(async () => {
    await pool.end();
    await bouncer.close();
    await database.close();
  });

  it('150 debits of 1 on a wallet of 100 by 16 clients on 4 connections: exactly 100 are posted', async () => {
    const purse = await openPurse(pool);
    await fund(pool, purse, { wallet: 100n });
    const results = await Promise.all(
      Array.from({ length: 150 }, () => postNow(pool, movement([leg(purse.wallet, -1n), leg(purse.clearing, 1n)]))),
    );
    expect(results.filter(([result]) => result?.outcome === 'posted')).toHaveLength(100);
    expect(await balanceOf(pool, purse.wallet)).toBe(0n);
    await expectMoneyInvariants(pool);
  });

  it('migrates and verifies, and leaves neither locks nor settings on a connection that others get next', async () => {
    expect(await migrate(bouncer.through(database.url))).toEqual({ applied: [] });
    expect((await verifyLedger(pool, 'changed')).findings).toEqual([]);
    expect((await verifyLedger(pool)).findings).toEqual([]);
    const settings = await Promise.all(
      Array.from({ length: 16 }, () =>
        pool.query(
          `select current_setting('transaction_isolation') as isolation, current_setting('lock_timeout') as lock,
                  current_setting('statement_timeout') as statement, current_setting('enable_seqscan') as seqscan,
                  current_setting('plan_cache_mode') as plans,
                  (select count(*)::int from pg_locks where locktype = 'advisory') as locks,
                  (select count(*)::int from pg_prepared_statements where name <> '') as statements`,
        ),
      ),
    );
    for (const { rows } of settings) {
      expect(rows).toEqual([
        {
          isolation: 'read committed',
          lock: '2s',
          statement: '5s',
          seqscan: 'on',
          plans: 'auto',
          locks: 0,
          statements: 0,
        },
      ]);
    }
  });

  it('eight callers at once are as good as one', async () => {
    const alone = await openTestDatabase();
    const callers = createPool(bouncer.through(alone.urlFor('worker')), { max: 8, applicationName: 'test' });
    try {
      const { difference, met } = await compareCallers(callers, { seed: 11, callers: 8, batches: 40 });
      expect(difference).toBeNull();
      expect(met).toContain('posted');
    } finally {
      await callers.end();
    }
    await bouncer.close();
    await alone.close();
  });
});
