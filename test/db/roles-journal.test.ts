import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { inTransaction } from '../../src/db/transaction.js';
import { leg } from '../../src/domain/journal.js';
import { fund, movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { openTestDatabase, type TestDatabase, type TestRole } from '../support/test-database.js';

const ROLES = ['worker', 'gateway', 'relay', 'console', 'cabinet', 'reports', 'simulators'] as const;
const TABLES = ['asset', 'account', 'movement', 'entry', 'verified'] as const;
const SETS = {
  asset: 'decimals = 1',
  account: 'book = book',
  movement: 'book = book',
  entry: 'balance = 1',
  verified: 'balance = 1',
} as const;
const READS: Readonly<Record<TestRole, readonly string[]>> = {
  worker: [...TABLES, 'account_balance'],
  console: [...TABLES, 'account_balance'],
  gateway: ['asset', 'account', 'movement', 'entry', 'account_balance'],
  relay: [],
  cabinet: ['account', 'movement', 'entry', 'account_balance'],
  reports: [],
  simulators: [],
};
const FUNCTIONS: Readonly<Record<string, readonly TestRole[]>> = {
  post: ['worker'],
  open_accounts: ['worker'],
  mark_verified: ['worker'],
  post_any_kind: [],
  refuse_change: [],
};

let database: TestDatabase;
let owner: pg.Pool;
const pools = new Map<TestRole, pg.Pool>();

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  for (const role of ROLES) pools.set(role, createPool(database.urlFor(role), { max: 2, applicationName: 'test' }));
  const purse = await openPurse(owner);
  await fund(owner, purse, { wallet: 100n });
});
afterAll(async () => {
  await Promise.all([owner, ...pools.values()].map((pool) => pool.end()));
  await database.close();
});

/** `done`, or the SQLSTATE of what the role was told. */
async function tried(role: TestRole, sql: string): Promise<string> {
  const query = pools.get(role)?.query(sql);
  if (!query) throw new Error(`No pool for ${role}.`);
  return query.then(
    () => 'done',
    (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : String(error)),
  );
}

describe.each(ROLES)('the role of %s', (role) => {
  it('reads of the journal what is its own and nothing else', async () => {
    for (const table of [...TABLES, 'account_balance']) {
      const expected = READS[role].includes(table) ? 'done' : '42501';
      expect([table, await tried(role, `select * from ledger.${table} limit 1`)]).toEqual([table, expected]);
    }
  });

  it('may not INSERT, UPDATE, DELETE, TRUNCATE or lock any table of the journal', async () => {
    for (const table of TABLES) {
      for (const sql of [
        `insert into ledger.${table} default values`,
        `update ledger.${table} set ${SETS[table]}`,
        `delete from ledger.${table}`,
        `truncate ledger.${table} cascade`,
        `select from ledger.${table} for no key update`,
        `alter table ledger.${table} disable trigger all`,
        `drop table ledger.${table}`,
      ]) {
        expect([sql, await tried(role, sql)]).toEqual([sql, '42501']);
      }
    }
  });

  it('executes of the journal’s functions what is its own and nothing else', async () => {
    const { rows } = await owner.query<{ name: string; may: boolean }>(
      `select proname as name, has_function_privilege($1, oid, 'execute') as may
         from pg_proc where pronamespace = 'ledger'::regnamespace order by 1`,
      [`sverka_${role}`],
    );
    const expected = Object.entries(FUNCTIONS).map(([name, roles]) => ({ name, may: roles.includes(role) }));
    expect(rows).toEqual(expected.sort((a, b) => (a.name < b.name ? -1 : 1)));
    const call = `select ledger.post_any_kind('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')`;
    expect(await tried(role, call)).toBe('42501');
  });

  it('cannot become an owner, create anything here, or turn triggers off', async () => {
    for (const sql of [
      'set role sverka_ledger_owner',
      'set role sverka_owner',
      'create table ledger.mine (a int)',
      'create function ledger.mine() returns int language sql as $$ select 1 $$',
      'set session_replication_role = replica',
      'set session authorization postgres',
    ]) {
      expect([sql, await tried(role, sql)]).toEqual([sql, '42501']);
    }
  });

  it('is stopped when it holds a lock or a transaction for too long', async () => {
    const { rows } = await owner.query<{ settings: string[] }>(
      `select setconfig as settings from pg_db_role_setting s join pg_roles r on r.oid = s.setrole
        where s.setdatabase = 0 and r.rolname = $1`,
      [`sverka_${role}`],
    );
    expect(rows[0]?.settings.toSorted()).toEqual([
      'idle_in_transaction_session_timeout=10s',
      'lock_timeout=2s',
      'statement_timeout=5s',
    ]);
  });

  it('knows the schema’s version, unless it is the simulators’, who have no business here', async () => {
    const sql = 'select version from sverka.schema_version';
    expect(await tried(role, sql)).toBe(role === 'simulators' ? '42501' : 'done');
  });
});

it('the owners cannot log in, and none of our roles is a superuser or may pass by row security', async () => {
  const { rows } = await owner.query<{ rolname: string }>(
    `select rolname from pg_roles where rolname like 'sverka%'
        and (rolsuper or rolcreatedb or rolcreaterole or rolbypassrls or rolreplication
          or rolcanlogin <> (rolname not in ('sverka_owner', 'sverka_ledger_owner')))`,
  );
  expect(rows).toEqual([]);
});

it('the simulators see how long others hold a transaction, and nothing of what they hold', async () => {
  const worker = pools.get('worker') as pg.Pool;
  const seen = await inTransaction(worker, async (tx) => {
    const [me] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    const { rows } = await (pools.get('simulators') as pg.Pool).query<{ state: string; usename: string }>(
      'select state, usename from pg_stat_activity where pid = $1 and xact_start is not null',
      [me?.pid],
    );
    return rows;
  });
  expect(seen).toEqual([{ state: 'idle in transaction', usename: 'sverka_worker' }]);
});

it('the worker moves money through post, and that is the only way it has', async () => {
  const worker = pools.get('worker') as pg.Pool;
  const purse = await openPurse(worker);
  const [result] = await postNow(worker, movement([leg(purse.clearing, -1n), leg(purse.wallet, 1n)]));
  expect(result?.outcome).toBe('posted');
});
