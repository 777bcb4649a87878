import pg from 'pg';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

test('a clone has the whole schema, is its own, and lets every role in as itself', async () => {
  const [one, two] = await Promise.all([openTestDatabase(), openTestDatabase()]);
  try {
    await ask(one.url, 'CREATE TABLE only_here ()');
    expect(await ask(two.url, `SELECT to_regclass('only_here') AS found`)).toEqual([{ found: null }]);
    expect(await ask(two.url, `SELECT count(*) > 0 AS migrated FROM sverka.schema_migration`)).toEqual([
      { migrated: true },
    ]);
    for (const role of ['worker', 'gateway', 'relay', 'console', 'cabinet', 'reports', 'simulators'] as const) {
      expect(await ask(two.urlFor(role), 'SELECT current_user::text AS who')).toEqual([{ who: `sverka_${role}` }]);
    }
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
});

test('the server writes to the disk before it answers, so that races are real', async () => {
  const database = await openTestDatabase();
  const settings = await ask(
    database.url,
    `SELECT name, setting FROM pg_settings
      WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') ORDER BY name`,
  );
  await database.close();
  expect(settings).toEqual([
    { name: 'fsync', setting: 'on' },
    { name: 'full_page_writes', setting: 'on' },
    { name: 'synchronous_commit', setting: 'on' },
  ]);
});

test('a connection that a test left open fails the close by name, and the database goes all the same', async () => {
  const database: TestDatabase = await openTestDatabase();
  const forgotten = new pg.Client({ connectionString: database.urlFor('worker'), application_name: 'forgotten-pool' });
  const cut = new Promise((resolve) => forgotten.on('error', resolve));
  await forgotten.connect();
  await expect(database.close()).rejects.toThrow(/1 connections were still open[^]*sverka_worker \(forgotten-pool\)/);
  await cut;
  await expect(ask(database.url, 'SELECT 1')).rejects.toThrow('does not exist');
});
