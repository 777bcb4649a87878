import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createPool } from '../../src/db/pool.js';
import type { CallerOrder } from '../support/journal-caller.js';
import { balanceOf, fund, openPurse } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestDatabase } from '../support/test-database.js';

const SCRIPT = join(import.meta.dirname, '../support/journal-caller.ts');
const PROCESSES = 5;
const DEBITS = 25;

it('125 debits of 1 on a wallet of 100 from five processes: exactly 100 are posted [CASES J09]', async () => {
  const database = await openTestDatabase();
  const pool = createPool(database.urlFor('worker'), { max: 2, applicationName: 'test' });
  const purse = await openPurse(pool);
  await fund(pool, purse, { wallet: 100n });
  const callers = Array.from({ length: PROCESSES }, (_none, caller) => {
    const order: CallerOrder = {
      url: database.urlFor('worker'),
      wallet: String(purse.wallet),
      clearing: String(purse.clearing),
      names: Array.from({ length: DEBITS }, (_, n) => `debit-${caller}-${n}`),
      hold: false,
    };
    const args = ['--import', 'tsx', SCRIPT, JSON.stringify(order)];
    return spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  });
  const outputs = callers.map((caller) => caller.stdout.setEncoding('utf8').toArray());
  for (const caller of callers) caller.stdin.write('go\n');
  const outcomes = (await Promise.all(outputs)).flat().join('').trim().split('\n');
  const count = (outcome: string) => outcomes.filter((each) => each === outcome).length;
  expect([outcomes.length, count('posted'), count('insufficient')]).toEqual([125, 100, 25]);
  expect(await balanceOf(pool, purse.wallet)).toBe(0n);
  const { rows } = await pool.query(`select count(*)::int as posted from ledger.movement where subject_type = 'debit'`);
  expect(rows).toEqual([{ posted: 100 }]);
  await expectMoneyInvariants(pool);
  await pool.end();
  await database.close();
});
