import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { leg } from '../../src/domain/journal.js';
import { movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let superuser: pg.Pool;
let purse: Purse;

beforeAll(async () => {
  database = await openTestDatabase();
  superuser = createPool(database.url, { max: 2, applicationName: 'test' });
  purse = await openPurse(superuser);
  await postNow(superuser, movement([leg(purse.clearing, -100n), leg(purse.wallet, 100n)]));
});
afterAll(async () => {
  await superuser.end();
  await database.close();
});

const SETS = { asset: 'decimals = 3', account: "book = 'test'", movement: "book = 'test'", entry: 'amount = 1' };
const CHANGES = Object.entries(SETS).flatMap(([table, set]) => [
  `update ledger.${table} set ${set}`,
  `delete from ledger.${table}`,
  `truncate ledger.${table} cascade`,
]);

/** What PostgreSQL says to a change that is rolled back whatever it says. */
async function tried(before: string, sql: string): Promise<string> {
  const client = await superuser.connect();
  try {
    await client.query('begin');
    await client.query(before);
    await client.query(sql);
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? `${String(error.code)} ${error.message}` : String(error);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

describe('history is never edited', () => {
  it.each(CHANGES)('%s is refused to the owner of the tables [CASES J11]', async (sql) => {
    expect(await tried('set local role sverka_ledger_owner', sql)).toMatch(/^42501 the journal is append-only/);
  });

  it.each(CHANGES)('%s is refused to a superuser, also one that plays the replica', async (sql) => {
    expect(await tried('select 1', sql)).toMatch(/^42501 the journal is append-only/);
    expect(await tried('set local session_replication_role = replica', sql)).toMatch(/^42501 /);
  });

  it('negative control: with the trigger disabled the same statement goes through', async () => {
    expect(await tried('alter table ledger.entry disable trigger append_only', 'delete from ledger.entry')).toBe(
      'done',
    );
  });
});

describe('the tables themselves refuse, even from their owner', () => {
  const entry = (columns: string) => `insert into ledger.entry (account_id, seq, movement_id, amount, balance)
    select account_id, ${columns} from ledger.entry where amount > 0`;

  it.each([
    ['an amount that is not a number', entry(`2, movement_id, 'NaN', 1`), '23514'],
    ['an amount of zero', entry('2, movement_id, 0, 100'), '23514'],
    ['a balance that is not a number', entry(`2, movement_id, 1, 'NaN'`), '23514'],
    ['a second entry of one number', entry('1, movement_id, 1, 101'), '23505'],
    ['a number below 1', entry('0, movement_id, 1, 101'), '23514'],
    ['an entry of no movement', entry('2, 999999, 1, 101'), '23503'],
    ['an amount past 38 digits', entry('2, movement_id, 1e38, 101'), '22003'],
  ])('%s', async (_, sql, code) => {
    expect((await tried('set local role sverka_ledger_owner', sql)).slice(0, 5)).toBe(code);
  });

  const account = (values: string) =>
    `insert into ledger.account (book, merchant_id, kind, ref, asset, decimals, floor, cap)
      select 'live', merchant_id, ${values} from ledger.account limit 1`;
  const whole = '-9223372036854775808, 9223372036854775807';

  it.each([
    ['a wallet that may go below zero', account(`'wallet', '', 'JPY', 0, ${whole}`), '23514'],
    ['a wallet without a floor', account(`'wallet', '', 'ETH', 18, null, null`), '23514'],
    ['a receivable that may go above zero', account(`'receivable', '', 'JPY', 0, ${whole}`), '23514'],
    ['a fiat account without bounds', account(`'fees', '', 'JPY', 0, null, null`), '23514'],
    ['a fiat account past BIGINT', account(`'fees', '', 'JPY', 0, -1, 9223372036854775808`), '23514'],
    ['an asset with other decimals than its own', account(`'fees', '', 'JPY', 2, ${whole}`), '23503'],
    ['a hold without a subject', account(`'hold', '', 'JPY', 0, 0, 9223372036854775807`), '23514'],
    ['fees with a subject', account(`'fees', 'iss_1', 'JPY', 0, ${whole}`), '23514'],
    ['a kind that is not on the list', account(`'savings', '', 'JPY', 0, ${whole}`), '23514'],
    ['zero outside the bounds', account(`'fees', '', 'JPY', 0, 1, 9223372036854775807`), '23514'],
  ])('%s', async (_, sql, code) => {
    expect((await tried('set local role sverka_ledger_owner', sql)).slice(0, 5)).toBe(code);
  });

  it('negative control: a sound account is taken', async () => {
    expect(await tried('set local role sverka_ledger_owner', account(`'fees', '', 'JPY', 0, ${whole}`))).toBe('done');
  });
});

it('none of it left a trace', async () => {
  expect(await expectMoneyInvariants(superuser)).toMatchObject({ accounts: 5, movements: 1, entries: 2 });
});
