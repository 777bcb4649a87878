import { copyFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate, schemaVersion } from '../../src/db/migrate.js';
import { withClient } from '../../src/local/postgres.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const FILES = join(import.meta.dirname, '../../migrations');
const names: string[] = [];
let folder: string;
let database: TestDatabase;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sverka-migrations-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
  await admin(async (query) => {
    for (const name of names.splice(0)) await query(`drop database if exists ${name} with (force)`);
  });
});

async function admin(work: (query: (sql: string) => Promise<unknown>) => Promise<void>): Promise<void> {
  await withClient(database.url, (client) => work((sql) => client.query(sql)));
}

/** A database with nothing in it. */
async function emptyDatabase(): Promise<string> {
  const name = `test_migrate_${process.pid}_${Date.now()}_${names.length}`;
  names.push(name);
  await admin(async (query) => {
    await query(`create database ${name} template template0`);
  });
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  return url.href;
}

const versionOf = (url: string) =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ version: number }>('select version from sverka.schema_version');
    return rows[0]?.version;
  });

it('many migrators of two fresh databases at once: each file is applied once, and nobody fails', async () => {
  const urls = [await emptyDatabase(), await emptyDatabase()];
  const results = await Promise.all([0, 1, 0, 1, 0, 1].map((i) => migrate(urls[i] ?? '')));
  const files = (await readdir(FILES)).map((name) => name.replace('.sql', '')).sort();
  for (const own of [results.filter((_, i) => i % 2 === 0), results.filter((_, i) => i % 2 === 1)]) {
    expect(own.map((result) => result.applied.length).sort((a, b) => a - b)).toEqual([0, 0, files.length]);
    expect(own.flatMap((result) => result.applied)).toEqual(files);
  }
  for (const url of urls) expect(await versionOf(url)).toBe(await schemaVersion());
});

it('a second run applies nothing, and leaves no lock of a session behind', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  expect(await migrate(url)).toEqual({ applied: [] });
  const held = await withClient(url, (client) =>
    client.query(`select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database
      where datname = current_database())`),
  );
  expect(held.rows).toHaveLength(0);
});

it('a file that fails leaves nothing of the run behind and is named; mended, the run goes through', async () => {
  const url = await emptyDatabase();
  await copyFile(join(FILES, '000001_roles.sql'), join(folder, '000001_roles.sql'));
  await copyFile(join(FILES, '000002_schemas.sql'), join(folder, '000002_schemas.sql'));
  expect((await migrate(url, folder)).applied).toHaveLength(2);

  await writeFile(join(folder, '000003_good.sql'), 'create table public.good (id int);');
  await writeFile(join(folder, '000004_bad.sql'), 'create table public.bad (id nonsense);');
  await expect(migrate(url, folder)).rejects.toThrow(/migrations\/000004_bad\.sql.*type "nonsense" does not exist/);
  expect(await versionOf(url)).toBe(2);

  await writeFile(join(folder, '000004_bad.sql'), 'create table public.bad (id int);');
  expect(await migrate(url, folder)).toEqual({ applied: ['000003_good', '000004_bad'] });
});

it('a file slipped in before one that was applied is refused', async () => {
  const url = await emptyDatabase();
  await copyFile(join(FILES, '000001_roles.sql'), join(folder, '000001_roles.sql'));
  await copyFile(join(FILES, '000002_schemas.sql'), join(folder, '000003_schemas.sql'));
  await migrate(url, folder);
  await writeFile(join(folder, '000002_late.sql'), 'select 1;');
  await expect(migrate(url, folder)).rejects.toThrow(/000002_late/);
});

it.each([
  ['0001_short.sql', /six digits/],
  ['000001_Name.sql', /six digits/],
  ['000001_down.down.sql', /six digits/],
  ['000001_code.ts', /six digits/],
])('%s is no name for a migration', async (name, message) => {
  await writeFile(join(folder, name), 'select 1;');
  await expect(migrate(database.url, folder)).rejects.toThrow(message);
});

it('a number that is there twice is refused', async () => {
  await writeFile(join(folder, '000001_a.sql'), 'select 1;');
  await writeFile(join(folder, '000001_b.sql'), 'select 1;');
  await expect(migrate(database.url, folder)).rejects.toThrow(/000001 is there twice/);
});

it('every migration gives its role back, so that the next one does not inherit it', async () => {
  const url = await emptyDatabase();
  await migrate(url);
  const { rows } = await withClient(url, (client) =>
    client.query(`select n.nspname, c.relname, pg_get_userbyid(c.relowner) as owner from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
      where n.nspname in ('ledger', 'sverka') and c.relkind in ('r', 'v', 'S') and pg_get_userbyid(c.relowner)
        <> case n.nspname when 'ledger' then 'sverka_ledger_owner' else 'sverka_owner' end order by 2`),
  );
  // The runner's own table, what counts its rows, and the view on it.
  expect(rows.map((row) => row.relname)).toEqual(['schema_migration', 'schema_migration_id_seq', 'schema_version']);
});
