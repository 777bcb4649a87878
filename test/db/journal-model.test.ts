import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { compareHistory } from '../support/journal-comparison.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { plantFault } from '../support/planted-fault.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeEach(async () => {
  database = await openTestDatabase();
  pool = createPool(database.urlFor('worker'), { max: 4, applicationName: 'test' });
});
afterEach(async () => {
  await pool.end();
  await database.close();
});

const OUTCOMES = ['conflict', 'duplicate', 'guarded', 'insufficient', 'invalid', 'nothing', 'posted'];
const REASONS = ['unbalanced', 'mixed_books', 'mixed_merchants', 'account_twice', 'bad_draw', 'out_of_range'];

it.each([1, 20_261_130, 777_001])(
  'a random history of 2 000 movements over 20 accounts equals the model (seed %d)',
  async (seed) => {
    const { difference, met } = await compareHistory(pool, { seed, movements: 2_000 });
    expect(difference).toBeNull();
    expect([...OUTCOMES, ...REASONS].filter((each) => !met.has(each))).toEqual([]);
    await expectMoneyInvariants(pool, 'any');
  },
);

// Each guard of the function has its negative control: without it, the comparison has to turn red.
it.each<[string, readonly [string, string]]>([
  ['no floor', ['< acc_floors[p] then', '< acc_floors[p] - 1000000 then']],
  ['no cap', ['> acc_caps[p] or abs', '> acc_caps[p] + 1000000 or abs']],
  ['no guard', ['if acc_balances[p] <> 0 then owing', 'if acc_balances[p] > 0 then owing']],
  ['a draw that forgets the floor', ['coalesce(acc_floors[p] - acc_balances[p], asked)', 'asked']],
  [
    'a collect of all that the wallet has',
    ['acc_balances[p] - acc_floors[p], acc_caps', 'acc_balances[p], acc_balances[p] + acc_caps'],
  ],
  ['books that mix', ['acc_books[p] <> acc_books[first_p]', 'false']],
  ['merchants that mix', ['acc_merchants[p] <> acc_merchants[first_p]', 'false']],
  ['assets that do not sum to zero', ["when 0 <> any (sums) then 'unbalanced'", '']],
  ['a duplicate without its split', ['if repeated is not null then', 'if false then']],
  [
    'a key that is not looked at',
    ["case when key_hashes[i] = hashes[i] then 'duplicate' else 'conflict' end", "'duplicate'"],
  ],
  [
    'a key that its own batch does not remember',
    ['movement_ids[same] := new_id; key_hashes[same] := hashes[i];', 'null;'],
  ],
])('with a planted fault the comparison turns red: %s', async (_, fault) => {
  await plantFault(database.url, fault);
  const compared = compareHistory(pool, { seed: 1, movements: 1_000 }).then(({ difference }) => difference);
  await expect(compared.catch(String)).resolves.toMatch(/journal .*, model |taken meanwhile/);
});
