import pg from 'pg';
import { withClient } from '../../src/local/postgres.js';
import { EXPECTED_FUNCTIONS, EXPECTED_RIGHTS } from '../support/expected-rights.js';
import { openTestDatabase, type TestDatabase, type TestRole } from '../support/test-database.js';

const ROLES = ['worker', 'gateway', 'relay', 'console', 'cabinet', 'reports', 'simulators'] as const;

/** Per verb, what is tried; nothing is touched where it is allowed. */
const VERBS = {
  r: (table: string) => `select from ${table} where false`,
  i: (table: string) => `insert into ${table} default values`,
  u: (table: string, column: string) => `update ${table} set ${column} = default where false`,
  d: (table: string) => `delete from ${table} where false`,
  t: (table: string) => `truncate ${table}`,
} as const;
const INSUFFICIENT_PRIVILEGE = '42501';

interface Relation {
  readonly name: string;
  readonly quoted: string;
  readonly column: string;
  readonly is_view: boolean;
}
interface Routine {
  readonly name: string;
  readonly call: string;
}

let database: TestDatabase;
let relations: Relation[];
let routines: Routine[];

beforeAll(async () => {
  database = await openTestDatabase();
  await withClient(database.url, async (client) => {
    relations = (
      await client.query<Relation>(
        `select n.nspname || '.' || c.relname as name, format('%I.%I', n.nspname, c.relname) as quoted,
            (select quote_ident(a.attname) from pg_attribute a where a.attrelid = c.oid and a.attnum = 1) as column,
            c.relkind <> 'r' as is_view
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname in ('ledger', 'sverka') and c.relkind in ('r', 'v', 'm', 'p', 'f') order by 1`,
      )
    ).rows;
    routines = (
      await client.query<Routine>(
        `select n.nspname || '.' || p.proname as name,
            format('%s %I.%I(%s)', case p.prokind when 'p' then 'call' else 'select' end, n.nspname, p.proname,
              (select string_agg('null::' || format_type(t.type, null), ', ' order by t.at)
                 from unnest(p.proargtypes::oid[]) with ordinality t(type, at))) as call
          from pg_proc p join pg_namespace n on n.oid = p.pronamespace
          where n.nspname in ('ledger', 'sverka') order by 1`,
      )
    ).rows;
  });
});
afterAll(() => database.close());

test('the expected rights name every table, view and function there is', () => {
  expect(Object.keys(EXPECTED_RIGHTS)).toEqual(relations.map(({ name }) => name));
  expect(Object.keys(EXPECTED_FUNCTIONS)).toEqual(routines.map(({ name }) => name));
});

describe.each(ROLES)('the role of %s', (role) => {
  test('does with each table what it is there for, and is refused the rest with 42501', async () => {
    const allowed: Record<string, string> = {};
    await asRole(role, async (refuses) => {
      for (const { name, quoted, column, is_view } of relations) {
        allowed[name] = '';
        for (const [letter, sql] of Object.entries(VERBS)) {
          // What a view refuses to everybody says nothing about the role.
          if (is_view && letter !== 'r') continue;
          if (!(await refuses(sql(quoted, column)))) allowed[name] += letter;
        }
      }
    });
    const expected = Object.entries(EXPECTED_RIGHTS).map(([name, rights]) => [name, rights[role] ?? '']);
    expect(allowed).toEqual(Object.fromEntries(expected));
  });

  test('executes the functions that are its own, and is refused the rest with 42501', async () => {
    const allowed: string[] = [];
    await asRole(role, async (refuses) => {
      for (const { name, call } of routines) if (!(await refuses(call))) allowed.push(name);
    });
    const expected = Object.entries(EXPECTED_FUNCTIONS).filter(([, roles]) => roles.includes(role));
    expect(allowed).toEqual(expected.map(([name]) => name));
  });

  test('cannot become an owner, make or change an object, or lift what it is bounded by', async () => {
    await asRole(role, async (refuses) => {
      for (const sql of [
        'set role sverka_owner',
        'set role sverka_ledger_owner',
        'create table ledger.mine (id int)',
        'create table sverka.mine (id int)',
        'create schema mine',
        'alter table ledger.entry disable trigger append_only',
        'drop table sverka.deposit',
        'create role mine',
        'set session_replication_role = replica',
      ]) {
        expect({ sql, refused: await refuses(sql) }).toEqual({ sql, refused: true });
      }
    });
  });
});

test('a right too many is seen', async () => {
  const other = await openTestDatabase();
  try {
    await withClient(other.url, (client) => client.query('grant delete on ledger.account to sverka_cabinet'));
    await withClient(other.url, (client) => client.query('grant usage on schema ledger to sverka_cabinet'));
    await withClient(other.url, (client) => client.query('alter table ledger.account disable trigger append_only'));
    const sql = VERBS.d('ledger.account');
    expect(await tried(other.urlFor('cabinet'), sql)).toBe('done');
    expect(await tried(database.urlFor('cabinet'), sql)).toBe(INSUFFICIENT_PRIVILEGE);
  } finally {
    await other.close();
  }
});

/** Runs `use` as that role; `refuses` tries one statement, takes it back, and tells whether the role was refused. */
async function asRole(role: TestRole, use: (refuses: (sql: string) => Promise<boolean>) => Promise<void>) {
  await withClient(database.urlFor(role), (client) =>
    use(async (sql) => (await outcome(client, sql)) === INSUFFICIENT_PRIVILEGE),
  );
}

async function tried(url: string, sql: string): Promise<string> {
  return withClient(url, (client) => outcome(client, sql));
}

/** `done`, or the SQLSTATE. */
async function outcome(client: pg.Client, sql: string): Promise<string> {
  await client.query('begin');
  try {
    await client.query(sql);
    return 'done';
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    return error.code ?? error.message;
  } finally {
    await client.query('rollback');
  }
}
