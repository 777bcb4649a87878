import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { leg } from '../../src/domain/journal.js';
import type { CallerOrder } from '../support/journal-caller.js';
import { balanceOf, fund, movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const SCRIPT = join(import.meta.dirname, '../support/journal-caller.ts');

let database: TestDatabase;
let pool: pg.Pool;
let purse: Purse;

beforeEach(async () => {
  database = await openTestDatabase();
  pool = createPool(database.urlFor('worker'), { max: 2, applicationName: 'test' });
  purse = await openPurse(pool);
  await fund(pool, purse, { wallet: 100n });
});
afterEach(async () => {
  await expectMoneyInvariants(pool);
  await pool.end();
  await database.close();
});

type Caller = ChildProcessByStdio<Writable, Readable, null>;

function startCaller(names: readonly string[], hold = false): Caller {
  const { wallet, clearing } = purse;
  const url = database.urlFor('worker');
  const order: CallerOrder = { url, wallet: String(wallet), clearing: String(clearing), names, hold };
  return spawn(process.execPath, ['--import', 'tsx', SCRIPT, JSON.stringify(order)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
}

it('four processes with the same 60 debits: each is posted once and a duplicate three times', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `debit-${i}`);
  const callers = names.slice(0, 4).map(() => startCaller(names));
  const outputs = callers.map((caller) => caller.stdout.setEncoding('utf8').toArray());
  for (const caller of callers) caller.stdin.write('go\n');
  const outcomes = (await Promise.all(outputs)).flat().join('').trim().split('\n');
  expect(outcomes.filter((outcome) => outcome === 'posted')).toHaveLength(60);
  expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(180);
  expect(await balanceOf(pool, purse.wallet)).toBe(40n);
});

it('a process killed between post and COMMIT moved nothing, and the wallet is free at once', async () => {
  const caller = startCaller(['killed'], true);
  caller.stdin.write('go\n');
  const [said] = await once(caller.stdout, 'data');
  expect(String(said)).toBe('held\n');
  const waiting = postNow(pool, movement([leg(purse.wallet, -100n), leg(purse.clearing, 100n)]));
  caller.kill('SIGKILL');
  expect((await waiting)[0]?.outcome).toBe('posted');
  expect(await balanceOf(pool, purse.wallet)).toBe(0n);
  const { rows } = await pool.query(`select from ledger.movement where subject_id = 'killed'`);
  expect(rows).toHaveLength(0);
});
