import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { leg } from '../../src/domain/journal.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let worker: pg.Pool;
let superuser: pg.Pool;
let cli: CommandLine;
let purse: Purse;

beforeEach(async () => {
  database = await openTestDatabase();
  worker = createPool(database.urlFor('worker'), { max: 2, applicationName: 'test' });
  superuser = createPool(database.url, { max: 1, applicationName: 'test' });
  cli = openCommandLine(runWithConsole(database.urlFor('console')));
  purse = await openPurse(worker);
  await postNow(worker, movement([leg(purse.clearing, -2_500n), leg(purse.wallet, 2_500n)]));
});
afterEach(async () => {
  cli.remove();
  await worker.end();
  await superuser.end();
  await database.close();
});

/** What nobody can do in production: the triggers off, and an amount altered. */
async function damage(): Promise<void> {
  await superuser.query('alter table ledger.entry disable trigger all');
  const sql = 'update ledger.entry set amount = amount + 1 where account_id = $1';
  expect((await superuser.query(sql, [purse.wallet])).rowCount).toBe(1);
}

it('books that are whole end with 0 and say what was looked at', async () => {
  const whole = { object: 'ledger_verification', ok: true, findings: [] };
  expect(await cli.json(['ledger', 'verify'])).toEqual({
    ...whole,
    scope: 'books',
    checked: { accounts: 5, movements: 1, entries: 2 },
  });
  expect(await cli.json(['ledger', 'verify', '--full'])).toMatchObject({ ...whole, scope: 'full' });
  expect((await cli.run('ledger', 'verify')).stdout).toContain('The books are whole: 2 entries');
});

it('a damaged entry ends with 1 and is named, with its account and movement', async () => {
  await damage();
  for (const flags of [[], ['--full']]) {
    const found = await cli.json(['ledger', 'verify', ...flags], 1);
    expect(found).toMatchObject({ ok: false });
    const findings = found['findings'] as { kind: string }[];
    expect([...new Set(findings.map(({ kind }) => kind))].sort()).toEqual([
      'broken_chain',
      'head_differs',
      'unbalanced',
    ]);
    expect(findings[0]).toEqual({
      kind: 'broken_chain',
      account_id: String(purse.wallet),
      movement_id: expect.stringMatching(/^mov_/),
      detail: expect.any(String),
    });
  }
  const { code, stdout } = await cli.run('ledger', 'verify', '--full');
  expect(code).toBe(1);
  for (const word of ['broken_chain', 'head_differs', 'unbalanced', '3 findings']) expect(stdout).toContain(word);
});

it('every entry is looked at, also one that an hourly check has passed, and no mark of that check moves', async () => {
  await verifyLedger(worker, 'changed');
  const marks = () => superuser.query('select * from ledger.verified order by account_id').then(({ rows }) => rows);
  const before = await marks();
  expect(before).toHaveLength(2);
  expect(await cli.json(['ledger', 'verify'])).toMatchObject({ checked: { accounts: 5, movements: 1, entries: 2 } });
  await damage();
  expect(await cli.json(['ledger', 'verify'], 1)).toMatchObject({ ok: false });
  expect(await marks()).toEqual(before);
});

it('a movement that is named can be traced', async () => {
  await damage();
  const { findings } = await cli.json(['ledger', 'verify'], 1);
  const { movement_id } = (findings as { movement_id: string }[])[0] ?? {};
  expect(await cli.json(['trace', movement_id ?? ''])).toMatchObject({
    items: [{ kind: 'movement', movement: { id: movement_id } }],
  });
});
