import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { collectBehind, draw, leg } from '../../src/domain/journal.js';
import { fund, keyOf, movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

// Of the wallet, which has seven entries.
const FIRST = 'where account_id = $1 and seq = 1';
const AT = 'where account_id = $1 and seq = 3';
const LAST = 'where account_id = $1 and seq = 7';
const ITS_MOVEMENT = `where id = (select movement_id from ledger.entry ${AT})`;
const CHAIN = 'broken_chain head_differs';
const HALF = 'too_few_entries unbalanced';
const drop = (table: string, constraint: string) => `alter table ledger.${table} drop constraint ${constraint}`;

let database: TestDatabase;
let worker: pg.Pool;
let superuser: pg.Pool;
let purse: Purse;

beforeEach(async () => {
  database = await openTestDatabase();
  worker = createPool(database.urlFor('worker'), { max: 2, applicationName: 'test' });
  superuser = createPool(database.url, { max: 1, applicationName: 'test' });
  purse = await openPurse(worker);
  await fund(worker, purse, { wallet: 1_000n });
  for (let i = 1n; i <= 5n; i += 1n) await postNow(worker, movement([leg(purse.wallet, -i), leg(purse.hold, i)]));
  await postNow(worker, movement([leg(purse.card, -5n), draw(purse.wallet), leg(purse.clearing, 5n)]));
});
afterEach(async () => {
  await worker.end();
  await superuser.end();
  await database.close();
});

/** What nobody can do in production: triggers off, constraints off, history edited. */
async function damage(...statements: string[]): Promise<void> {
  const client = await superuser.connect();
  try {
    await client.query('begin');
    for (const table of ['account', 'movement', 'entry']) {
      await client.query(`alter table ledger.${table} disable trigger all`);
    }
    for (const sql of statements) {
      const { rowCount, command } = await client.query(sql, sql.includes('$1') ? [purse.wallet] : []);
      if (command !== 'ALTER') expect([sql, rowCount === 0]).toEqual([sql, false]);
    }
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function kindsFound(): Promise<string[]> {
  const { findings } = await verifyLedger(worker);
  return [...new Set(findings.map((finding) => finding.kind))].sort();
}

it('books that are whole have no findings, and the counts say what was looked at', async () => {
  expect(await verifyLedger(worker)).toEqual({ checked: { accounts: 5, movements: 7, entries: 14 }, findings: [] });
});

/** One damage each: its name, what does it, and every kind of finding that has to come of it. */
const DAMAGES: readonly (readonly [string, readonly string[], string])[] = [
  ['an amount altered', [`update ledger.entry set amount = amount - 1 ${AT}`], `${CHAIN} unbalanced`],
  ['an amount turned', [`update ledger.entry set amount = -amount ${AT}`], `${CHAIN} unbalanced`],
  ['a balance altered', [`update ledger.entry set balance = balance + 1 ${AT}`], 'broken_chain'],
  ['the last balance altered', [`update ledger.entry set balance = balance + 1 ${LAST}`], CHAIN],
  [
    'an amount altered and all later balances made to agree',
    [
      `update ledger.entry set amount = amount + 1 ${AT}`,
      'update ledger.entry set balance = balance + 1 where account_id = $1 and seq >= 3',
    ],
    'unbalanced',
  ],
  ['a row missing in the middle', [`delete from ledger.entry ${AT}`], `head_differs sequence_gap ${HALF}`],
  ['the first row missing', [`delete from ledger.entry ${FIRST}`], `head_differs sequence_gap ${HALF}`],
  ['the last row missing', [`delete from ledger.entry ${LAST}`], HALF],
  [
    'a row too many',
    [`insert into ledger.entry select account_id, 8, movement_id, 1, 981 from ledger.entry ${AT}`],
    'account_twice unbalanced',
  ],
  [
    'a row twice',
    [drop('entry', 'entry_pkey'), `insert into ledger.entry select * from ledger.entry ${AT}`],
    'account_twice head_differs sequence_gap unbalanced',
  ],
  [
    'a row moved to another account',
    [`update ledger.entry set account_id = (select id from ledger.account where kind = 'receivable') ${AT}`],
    'above_cap head_differs sequence_gap',
  ],
  ['a movement deleted', [`delete from ledger.movement ${ITS_MOVEMENT}`], 'movement_missing'],
  ['an account deleted', ['delete from ledger.account where id = $1'], 'account_missing unbalanced unpaired_wallet'],
  [
    'a movement without entries',
    [
      `insert into ledger.movement (key, body_hash, book, merchant_id, kind, subject_type, subject_id, generation)
         select sha256('x'), body_hash, book, merchant_id, kind, 'x', 'x', 0 from ledger.movement limit 1`,
    ],
    'too_few_entries',
  ],
  [
    'a movement given to another merchant',
    [`update ledger.movement set merchant_id = 'mer_x' ${ITS_MOVEMENT}`],
    'mixed_merchants',
  ],
  ['a movement given to the other book', [`update ledger.movement set book = 'test' ${ITS_MOVEMENT}`], 'mixed_books'],
  [
    'an account given to the other book',
    [`update ledger.account set book = 'test' where kind = 'hold'`],
    'mixed_books',
  ],
  [
    'an amount of zero',
    [drop('entry', 'entry_amount_check'), `update ledger.entry set amount = 0 ${AT}`],
    `bad_amount ${CHAIN} unbalanced`,
  ],
  [
    'an amount that is not a number',
    [drop('entry', 'entry_amount_check'), `update ledger.entry set amount = 'NaN' ${AT}`],
    `bad_amount ${CHAIN} unbalanced`,
  ],
  [
    'an amount with a fraction',
    ['alter table ledger.entry alter amount type numeric', `update ledger.entry set amount = 0.5 ${AT}`],
    `bad_amount ${CHAIN} unbalanced`,
  ],
  [
    'a key cut short',
    [drop('movement', 'movement_key_check'), 'update ledger.movement set key = substr(key, 1, 20) where id = 2'],
    'bad_key',
  ],
  [
    'a body hash lost',
    [drop('movement', 'movement_body_hash_check'), `update ledger.movement set body_hash = '' where id = 2`],
    'bad_body_hash',
  ],
  [
    'a key twice',
    [
      drop('movement', 'movement_compensates_fkey'),
      drop('movement', 'movement_key_key'),
      'update ledger.movement set key = (select key from ledger.movement where id = 1) where id = 2',
    ],
    'key_twice',
  ],
  [
    'a movement that compensates nothing',
    [`update ledger.movement set compensates = sha256('nothing') where id = 2`],
    'compensated_missing',
  ],
  ['a receivable lost', [`delete from ledger.account where kind = 'receivable'`], 'unpaired_wallet'],
  [
    'a floor lowered',
    [drop('account', 'never_below_zero'), `update ledger.account set floor = -100 where kind = 'hold'`],
    'wrong_bounds',
  ],
  [
    'a cap taken away',
    [drop('account', 'fits_bigint'), `update ledger.account set cap = null where kind = 'clearing:custody'`],
    'wrong_bounds',
  ],
  [
    'a balance below its floor',
    [`update ledger.entry set amount = amount - 2000, balance = balance - 2000 ${LAST}`],
    'below_floor unbalanced',
  ],
  [
    'a balance above its cap',
    [`insert into ledger.entry select id, 1, 2, 5, 5 from ledger.account where kind = 'receivable'`],
    'above_cap unbalanced',
  ],
];

it.each(DAMAGES)('%s is found and named', async (_, statements, expected) => {
  await damage(...statements);
  expect((await kindsFound()).join(' ')).toBe(expected);
});

it('a finding names account and movement, so that a person can look at them', async () => {
  await damage(`update ledger.entry set balance = balance + 1 ${AT}`);
  const { findings } = await verifyLedger(worker);
  expect(findings[0]).toEqual({
    kind: 'broken_chain',
    accountId: String(purse.wallet),
    movementId: expect.stringMatching(/^mov_/),
    detail: `seq 3 of account ${purse.wallet}: balance 998, amount -2, behind seq 2 with balance 999`,
  });
});

it('an owner who owes and has is found, until a collect has paid', async () => {
  const other = await openPurse(worker);
  await postNow(worker, movement([leg(other.wallet, -30n), draw(other.receivable), leg(other.clearing, 30n)]));
  const credit = movement([leg(other.clearing, -50n), leg(other.wallet, 50n)], { key: keyOf() });
  await postNow(worker, credit);
  const { findings } = await verifyLedger(worker);
  expect(findings).toEqual([
    {
      kind: 'owed_and_wallet',
      accountId: String(other.wallet),
      movementId: expect.stringMatching(/^mov_/),
      detail: `${other.owner.merchantId} owes 30 EUR and has 50 in the wallet`,
    },
  ]);
  await postNow(worker, collectBehind(credit, other));
  expect(await kindsFound()).toEqual([]);
});

describe('a check of what changed', () => {
  it('looks only at entries since the last one, and finds damage there', async () => {
    const first = await verifyLedger(worker, 'changed');
    expect(first).toEqual({ checked: { accounts: 3, movements: 7, entries: 14 }, findings: [] });
    expect((await verifyLedger(worker, 'changed')).checked).toEqual({ accounts: 0, movements: 0, entries: 0 });
    await postNow(worker, movement([leg(purse.wallet, -1n), leg(purse.hold, 1n)]));
    await damage('update ledger.entry set balance = balance + 1 where account_id = $1 and seq = 8');
    const { checked, findings } = await verifyLedger(worker, 'changed');
    expect(checked).toEqual({ accounts: 2, movements: 1, entries: 2 });
    expect(findings.map((finding) => finding.kind)).toEqual(['broken_chain', 'head_differs']);
    // What is not whole is not marked: it is found again.
    expect((await verifyLedger(worker, 'changed')).findings).toEqual(findings);
  });

  it('sees entries disappear from the end of an account, which no chain can show', async () => {
    await verifyLedger(worker, 'changed');
    await damage(
      `delete from ledger.entry where movement_id = (select movement_id from ledger.entry ${LAST})`,
      'delete from ledger.movement m where not exists (select from ledger.entry e where e.movement_id = m.id)',
    );
    expect(await kindsFound()).toEqual(['history_changed']);
    const { findings } = await verifyLedger(worker, 'changed');
    expect(findings.map((finding) => finding.kind)).toContain('history_changed');
  });

  it('and one of all leave the books as they are', async () => {
    const rows = async () => (await worker.query('select * from ledger.entry order by account_id, seq')).rows;
    const before = await rows();
    await verifyLedger(worker, 'changed');
    await verifyLedger(worker, 'all');
    expect(await rows()).toEqual(before);
  });
});
