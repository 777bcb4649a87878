import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StateMove } from '../../src/domain/states.js';
import { withClient } from '../../src/local/postgres.js';
import { dumpSchema } from '../support/schema-dump.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

function rows<Row extends object>(sql: string): Promise<Row[]> {
  return withClient(database.url, async (client) => (await client.query<Row>(sql)).rows);
}

test('schema.sql is what the migrations make; after a new one, run `node scripts/dump-schema.mjs`', async () => {
  expect(await dumpSchema(database.url)).toBe(readFileSync(join(REPOSITORY_ROOT, 'schema.sql'), 'utf8'));
});

test.each([
  ['a column', 'alter table sverka.merchant add column note text'],
  ['a default', 'alter table sverka.deposit alter column spendable set default true'],
  ['a constraint', 'alter table ledger.account drop constraint never_below_zero'],
  ['an index', 'drop index sverka.deposit_output'],
  ['a trigger that only some sessions fire', 'alter table ledger.entry enable trigger append_only'],
  ['a function', 'alter function ledger.post set lock_timeout = 0'],
  ['a grant', 'grant insert on ledger.entry to sverka_worker'],
  ['a grant on a column', 'grant update (name) on sverka.merchant to sverka_gateway'],
  ['a grant to everyone', 'grant execute on function sverka.seal to public'],
  ['an owner', 'alter table ledger.entry owner to sverka_owner'],
])('the dump tells a database with another %s', async (_, change) => {
  const other = await openTestDatabase();
  try {
    const before = await dumpSchema(other.url);
    await withClient(other.url, (client) => client.query(change));
    expect(await dumpSchema(other.url)).not.toBe(before);
  } finally {
    await other.close();
  }
});

test('the moves of each state in src/domain and in sverka.state_move are the same', async () => {
  const inDatabase = await rows<{ text: string }>(
    `select subject_type || ': ' || coalesce(from_state, 'birth') || ' → ' || to_state
       || case when by_decision then ' by decision' else '' end as text from sverka.state_move`,
  );
  expect((await domainMoves()).toSorted()).toEqual(inDatabase.map(({ text }) => text).toSorted());
});

test('every table with a state is watched in every session: moves, an audit row of each, no row removed', async () => {
  const watched = await rows<{ name: string; triggers: string[] | null }>(
    `select c.relname as name, array_agg(t.tgname::text order by t.tgname) filter (where t.tgenabled = 'A') as triggers
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'version'
       join pg_attribute s on s.attrelid = c.oid and s.attname = 'state'
       left join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
       where c.relnamespace = 'sverka'::regnamespace and c.relkind = 'r' group by c.relname`,
  );
  expect(watched.length).toBeGreaterThan(0);
  const three = ['audit_move', 'guard_move', 'keep_rows'];
  const unwatched = watched.filter(({ triggers }) => !three.every((name) => triggers?.includes(name)));
  expect(unwatched).toEqual([]);
});

test('every function that runs with its owner’s rights fixes its search_path', async () => {
  const loose = await rows<{ name: string }>(
    `select p.oid::regprocedure::text as name from pg_proc p join pg_namespace n on n.oid = p.pronamespace
       where n.nspname in ('ledger', 'sverka') and p.prosecdef
         and not coalesce(p.proconfig, '{}') && array['search_path=pg_catalog, pg_temp', 'search_path=""']`,
  );
  expect(loose).toEqual([]);
});

/** The tables `<SUBJECT>_MOVES` of all files of src/domain. */
async function domainMoves(): Promise<string[]> {
  const folder = join(REPOSITORY_ROOT, 'src/domain');
  const found: string[] = [];
  for (const file of readdirSync(folder)) {
    const exported = (await import(join(folder, file))) as Record<string, readonly StateMove<string>[]>;
    for (const [name, moves] of Object.entries(exported)) {
      const subject = /^([A-Z_]+)_MOVES$/.exec(name)?.[1]?.toLowerCase();
      if (!subject) continue;
      for (const { from, to, byDecision } of moves) {
        found.push(`${subject}: ${from ?? 'birth'} → ${to}${byDecision ? ' by decision' : ''}`);
      }
    }
  }
  return found;
}
