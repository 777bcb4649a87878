import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type pg from 'pg';
import { createBreaker } from '../../src/db/breaker.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { BreakerOrder } from '../support/breaker-caller.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const SCRIPT = join(import.meta.dirname, '../support/breaker-caller.ts');
const [PROCESSES, CALLERS] = [4, 5];
const LIMITS = { failuresMax: 1, windowMs: 30_000, openMs: 60_000, leaseMs: 60_000 };

let database: TestDatabase;
let owner: pg.Pool;
let pool: pg.Pool;

beforeEach(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 1, applicationName: 'test' });
  pool = createPool(database.urlFor('worker'), { max: 1, applicationName: 'test' });
});
afterEach(async () => {
  await Promise.all([owner.end(), pool.end()]);
  await database.close();
});

type Caller = ChildProcessByStdio<Writable, Readable, null>;

/** Opens the breaker of that name and lets its time pass, then asks from all processes at once. */
async function askAtOnce(name: string): Promise<string[]> {
  const opening = await createBreaker(queriesOf(pool), name, LIMITS).admit();
  if (!('failed' in opening)) throw new Error('The breaker was not closed.');
  await opening.failed();
  const { rowCount } = await owner.query(
    `update sverka.breaker set open_until = clock_timestamp() where name = $1 and state = 'open'`,
    [name],
  );
  expect(rowCount).toBe(1);
  const order: BreakerOrder = { url: database.urlFor('worker'), name, callers: CALLERS, limits: LIMITS };
  const callers = Array.from(
    { length: PROCESSES },
    (): Caller =>
      spawn(process.execPath, ['--import', 'tsx', SCRIPT, JSON.stringify(order)], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
  );
  await Promise.all(callers.map((caller) => once(caller.stdout.setEncoding('utf8'), 'data')));
  const outputs = callers.map((caller) => caller.stdout.toArray());
  for (const caller of callers) caller.stdin.write('go\n');
  return (await Promise.all(outputs)).flat().join('').trim().split('\n');
}

it('of twenty callers in four processes exactly one has the probe', async () => {
  const answers = await askAtOnce('custody:live');
  expect(answers).toHaveLength(PROCESSES * CALLERS);
  expect(answers.filter((answer) => answer === 'admitted')).toHaveLength(1);
});

it('without the compare-and-set more than one would: that is what is tested here', async () => {
  // The look and the move are two steps then, with a pause that lets every caller look first.
  const { rows } = await owner.query<{ text: string }>(
    `select pg_get_functiondef('sverka.breaker_admit'::regproc) as text`,
  );
  const guarded =
    `    where name = of_name and (state = 'open' and open_until <= t ` +
    `or state = 'half_open' and probe_until <= t);`;
  const text = rows[0]?.text ?? '';
  expect(text).toContain(guarded);
  await owner.query(
    text
      .replace(guarded, `    where name = of_name and (b.state = 'open' and b.open_until <= t);`)
      .replace('  -- Whoever moves', '  perform pg_sleep(0.5);\n  -- Whoever moves'),
  );
  const answers = await askAtOnce('custody:test');
  expect(answers.filter((answer) => answer === 'admitted').length).toBeGreaterThan(1);
});
