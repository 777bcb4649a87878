import type pg from 'pg';
import { type Admission, type Breaker, breakerOpenMs, createBreaker, listBreakers } from '../../src/db/breaker.js';
import { Refused } from '../../src/db/errors.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { breakersCheck } from '../../src/http/checks.js';
import { eventually } from '../support/simulated-custody.js';
import { openTcpProxy } from '../support/tcp-proxy.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

const LIMITS = { failuresMax: 5, windowMs: 30_000, openMs: 60_000, leaseMs: 10_000 };

let database: TestDatabase;
let owner: pg.Pool;
let pool: pg.Pool;
let names = 0;
let name: string;
let breaker: Breaker;

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  pool = createPool(database.urlFor('worker'), { max: 4, applicationName: 'sverka-worker' });
});
afterAll(async () => {
  await Promise.all([owner.end(), pool.end()]);
  await database.close();
});
beforeEach(() => {
  name = `custody:${(names += 1)}`;
  breaker = createBreaker(queriesOf(pool), name, LIMITS);
});

/** An admission; throws when the breaker is open. */
async function admitted(of = breaker): Promise<Admission> {
  const admission = await of.admit();
  if ('openForMs' in admission) throw new Error(`It is open for ${admission.openForMs} ms.`);
  return admission;
}
const isOpen = async (of = breaker) => 'openForMs' in (await of.admit());

async function fail(times: number, of = breaker): Promise<boolean[]> {
  const opened: boolean[] = [];
  for (let n = 0; n < times; n += 1) opened.push(await (await admitted(of)).failed());
  return opened;
}

async function stateOf(): Promise<string | undefined> {
  const { rows } = await owner.query<{ state: string }>('select state from sverka.breaker where name = $1', [name]);
  return rows[0]?.state;
}

/** Lets the time of one of its columns pass. */
async function pass(column: 'open_until' | 'probe_until'): Promise<void> {
  const { rowCount } = await owner.query(
    `update sverka.breaker set ${column} = clock_timestamp() where name = $1 and ${column} is not null`,
    [name],
  );
  expect(rowCount).toBe(1);
}

describe('a breaker in PostgreSQL', () => {
  it('opens at the fifth error and says so once; success in between writes nothing', async () => {
    expect(await fail(4)).toEqual([false, false, false, false]);
    await (await admitted()).succeeded();
    expect(await stateOf()).toBe('closed');
    expect(await fail(1)).toEqual([true]);
    const refused = await breaker.admit();
    expect('openForMs' in refused && refused.openForMs > 0 && refused.openForMs <= LIMITS.openMs).toBe(true);
  });

  it('is the same for every process: another connection of another role of ours sees it open', async () => {
    await fail(5);
    expect(await isOpen(createBreaker(queriesOf(owner), name, LIMITS))).toBe(true);
    const gateway = createPool(database.urlFor('gateway'), { max: 1, applicationName: 'test' });
    expect(await breakerOpenMs(queriesOf(gateway), name)).toBeGreaterThan(0);
    expect(await breakerOpenMs(queriesOf(gateway), 'custody:other')).toBe(0);
    await gateway.end();
  });

  it('makes the worker degraded while it is not closed', async () => {
    const check = breakersCheck(queriesOf(pool));
    await owner.query('delete from sverka.breaker');
    expect([check.required, await check.check()]).toEqual([false, null]);
    await fail(5);
    expect(await check.check()).toBe('open');
    await owner.query('delete from sverka.breaker');
    expect(await check.check()).toBeNull();
  });

  it('forgets errors that are older than its window', async () => {
    await fail(4);
    await owner.query(
      `update sverka.breaker set failed_at = array(select f - interval '30 seconds' from unnest(failed_at) f)
        where name = $1`,
      [name],
    );
    expect(await fail(4)).toEqual([false, false, false, false]);
    // The fifth within the window, although the ninth in all.
    expect(await fail(1)).toEqual([true]);
  });

  it('gives one probe when its time is over; its success closes it', async () => {
    await fail(5);
    await pass('open_until');
    const probe = await admitted();
    expect(await stateOf()).toBe('half_open');
    expect(await isOpen()).toBe(true);
    await probe.succeeded();
    expect(await stateOf()).toBe('closed');
    // And with a fresh count.
    expect(await fail(4)).toEqual([false, false, false, false]);
  });

  it('opens again when the probe fails, and does not say that it opened', async () => {
    await fail(5);
    await pass('open_until');
    expect(await (await admitted()).failed()).toBe(false);
    expect(await stateOf()).toBe('open');
    expect(await isOpen()).toBe(true);
  });

  it('gives a new probe when the lease of a lost one is over, and hears nothing of the lost one any more', async () => {
    await fail(5);
    await pass('open_until');
    const lost = await admitted();
    expect(await isOpen()).toBe(true);
    await pass('probe_until');
    const second = await admitted();
    await lost.succeeded();
    expect(await stateOf()).toBe('half_open');
    await lost.failed();
    expect(await stateOf()).toBe('half_open');
    await second.succeeded();
    expect(await stateOf()).toBe('closed');
  });

  it('hears nothing of calls that began before it opened', async () => {
    const before = await Promise.all([admitted(), admitted()]);
    await fail(5);
    expect(await before[0]?.failed()).toBe(false);
    await pass('open_until');
    const probe = await admitted();
    await before[1]?.succeeded();
    expect(await stateOf()).toBe('half_open');
    await probe.succeeded();
  });

  it('counts errors at once as what they are', async () => {
    const calls = await Promise.all(Array.from({ length: 4 }, () => admitted()));
    const opened = await Promise.all([...calls, await admitted()].map((call) => call.failed()));
    expect(opened.filter(Boolean)).toHaveLength(1);
  });

  it('is listed with what is known of it', async () => {
    await fail(2);
    const row = (await listBreakers(queriesOf(pool))).find((each) => each.name === name);
    expect(row).toMatchObject({ state: 'closed', recentFailures: 2, openUntil: null });
  });

  it('does not hide that a role has no right to it', async () => {
    const gateway = createPool(database.urlFor('gateway'), { max: 1, applicationName: 'test' });
    await expect(createBreaker(queriesOf(gateway), name, LIMITS).admit()).rejects.toBeInstanceOf(Refused);
    await gateway.end();
  });
});

it('while the database is away each process counts alone, and the row decides when it is back', async () => {
  const proxy = await openTcpProxy(database.urlFor('worker'));
  const away = createPool(proxy.url, { max: 2, applicationName: 'sverka-worker', connectTimeoutMs: 100 });
  const limits = { failuresMax: 3, windowMs: 30_000, openMs: 400, leaseMs: 30_000 };
  const alone = createBreaker(queriesOf(away), name, limits);
  const other = createBreaker(queriesOf(away), name, limits);
  try {
    await (await admitted(alone)).succeeded();
    proxy.holdNewConnections();
    proxy.cutAll();
    expect(await fail(3, alone)).toEqual([false, false, true]);
    expect(await isOpen(alone)).toBe(true);
    // Another process knows nothing of it: that is the price.
    expect(await isOpen(other)).toBe(false);
    // One probe when the time is over, and no second one beside it.
    const probe = await eventually(async () => {
      const admission = await alone.admit();
      return 'openForMs' in admission ? null : admission;
    });
    expect(await isOpen(alone)).toBe(true);
    expect(await probe.failed()).toBe(false);
    expect(await isOpen(alone)).toBe(true);
    expect(await stateOf()).toBeUndefined();
    proxy.letGo();
    expect(await isOpen(alone)).toBe(false);
  } finally {
    await away.end();
    await proxy.close();
  }
});
