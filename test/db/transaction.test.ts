import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { CommitUnknown, Refused, Retryable, Unavailable, UniqueViolation } from '../../src/db/errors.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { openTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let pool: pg.Pool;
let admin: pg.Pool;
let proxy: TcpProxy;
let errors: Error[];

beforeAll(async () => {
  database = await openTestDatabase();
  admin = createPool(database.url, { max: 2, applicationName: 'test-admin' });
  await admin.query('create table public.note (id int primary key, text text not null)');
});
beforeEach(async () => {
  errors = [];
  await admin.query('truncate public.note');
  proxy = await openTcpProxy(database.url);
  pool = createPool(proxy.url, { max: 2, applicationName: 'test', onError: (error) => errors.push(error) });
});
afterEach(async () => {
  await pool.end();
  await proxy.close();
});
afterAll(async () => {
  await admin.end();
  await database.close();
});

const notes = async () => (await admin.query<{ id: number }>('select id from public.note order by id')).rows;
const insert = (id: number) => `insert into public.note values (${id}, 'x')`;

it('commits what the work wrote, and answers what the work answered', async () => {
  const answer = await inTransaction(pool, async (tx) => {
    await tx.query(insert(1));
    return tx.query<{ id: number }>('select id from public.note where id = $1', [1]);
  });
  expect(answer).toEqual([{ id: 1 }]);
  expect(await notes()).toEqual([{ id: 1 }]);
});

it('rolls back and keeps the first error', async () => {
  const work = inTransaction(pool, async (tx) => {
    await tx.query(insert(1));
    throw new Error('the work failed');
  });
  await expect(work).rejects.toThrow('the work failed');
  expect(await notes()).toEqual([]);
  expect(await queriesOf(pool).query('select 1 as one')).toEqual([{ one: 1 }]);
});

it('keeps the first error also where the rollback fails, and does not use that connection again', async () => {
  const work = inTransaction(pool, async (tx) => {
    await tx.query(insert(1));
    proxy.cutAll();
    throw new Error('the work failed');
  });
  await expect(work).rejects.toThrow('the work failed');
  expect(pool.totalCount).toBe(0);
  expect(await queriesOf(pool).query('select 1 as one')).toEqual([{ one: 1 }]);
});

it('tells a COMMIT whose answer was lost from one that failed, and the row tells whether it happened', async () => {
  const lost = inTransaction(pool, async (tx) => {
    await tx.query(insert(1));
    proxy.cutBeforeTheNextAnswer();
  });
  await expect(lost).rejects.toBeInstanceOf(CommitUnknown);
  await until(async () => (await notes()).length === 1);

  await admin.query(
    `create function public.no() returns trigger language plpgsql as $$ begin raise sqlstate '40001'; end $$`,
  );
  await admin.query(`create constraint trigger no after insert on public.note deferrable initially deferred
    for each row execute function public.no()`);
  try {
    await expect(inTransaction(pool, (tx) => tx.query(insert(2)))).rejects.toBeInstanceOf(Retryable);
  } finally {
    await admin.query('drop function public.no cascade');
  }
  expect(await notes()).toEqual([{ id: 1 }]);
});

it('does not take the COMMIT of a failed transaction for a success', async () => {
  const work = inTransaction(pool, async (tx) => {
    await tx.query(insert(1));
    await tx.query('select 1/0').catch(() => []);
  });
  await expect(work).rejects.toThrow(/Nothing was committed/);
  expect(await notes()).toEqual([]);
});

it('a snapshot sees one moment, and may not write', async () => {
  await inTransaction(
    pool,
    async (tx) => {
      const count = () => tx.query<{ n: bigint }>('select count(*) as n from public.note');
      expect(await count()).toEqual([{ n: 0n }]);
      await admin.query(insert(1));
      expect(await count()).toEqual([{ n: 0n }]);
    },
    'snapshot',
  );
  await expect(inTransaction(pool, (tx) => tx.query(insert(2)), 'snapshot')).rejects.toMatchObject({ code: '25006' });
});

it('names what a caller can do about an error', async () => {
  await admin.query(insert(1));
  const query = (sql: string) => queriesOf(pool).query(sql);
  await expect(query(insert(1))).rejects.toBeInstanceOf(UniqueViolation);
  await expect(query(insert(1))).rejects.toMatchObject({ constraint: 'note_pkey', sqlstate: '23505' });
  const slow = inTransaction(pool, async (tx) => {
    await tx.query(`set local statement_timeout = '20ms'`);
    await tx.query('select pg_sleep(10)');
  });
  await expect(slow).rejects.toMatchObject({ name: 'Retryable', sqlstate: '57014' });
  const worker = createPool(database.urlFor('worker'), { max: 1, applicationName: 'test' });
  await expect(queriesOf(worker).query('delete from ledger.entry')).rejects.toBeInstanceOf(Refused);
  await worker.end();
});

it('the loser of a deadlock is told to try again', async () => {
  await admin.query(insert(1));
  await admin.query(insert(2));
  const lock = (id: number) => `select from public.note where id = ${id} for update`;
  let arrived = 0;
  const both = [
    [1, 2],
    [2, 1],
  ].map(([first, second]) =>
    inTransaction(pool, async (tx) => {
      await tx.query(lock(first as number));
      arrived += 1;
      await until(async () => arrived === 2);
      await tx.query(lock(second as number));
    }),
  );
  const failed = (await Promise.allSettled(both)).filter((result) => result.status === 'rejected');
  expect(failed.map((result) => result.reason)).toEqual([
    expect.objectContaining({ name: 'Retryable', sqlstate: '40P01' }),
  ]);
});

it('a connection that PostgreSQL ends, idle or busy, does not end the process, and the next query works', async () => {
  await queriesOf(pool).query('select 1');
  const busy = queriesOf(pool).query('select pg_sleep(30)');
  const ended = expect(busy).rejects.toBeInstanceOf(Unavailable);
  await until(async () => {
    const { rows } = await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where application_name = 'test' and datname = current_database() and query = 'select pg_sleep(30)'`,
    );
    return rows.length > 0;
  });
  await ended;
  await queriesOf(pool).query('select 1');
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'test' and datname = current_database()`,
  );
  await until(async () => pool.totalCount === 0);
  expect(errors.length).toBeGreaterThan(0);
  expect(await queriesOf(pool).query('select 1 as one')).toEqual([{ one: 1 }]);
});

it('a transaction that its process forgot is ended by PostgreSQL, and what it locked is free again', async () => {
  await admin.query(insert(1));
  const forgotten = inTransaction(pool, async (tx) => {
    await tx.query(`set local idle_in_transaction_session_timeout = '50ms'`);
    await tx.query('select from public.note where id = 1 for update');
    await until(async () => {
      const free = await admin.query('select from public.note where id = 1 for update skip locked');
      return free.rows.length === 1;
    });
    await tx.query(insert(2));
  });
  await expect(forgotten).rejects.toBeInstanceOf(Unavailable);
  expect(await notes()).toEqual([{ id: 1 }]);
});

it('no server at all is Unavailable', async () => {
  const nowhere = createPool('postgres://nobody:x@127.0.0.1:1/none', { max: 1, applicationName: 'test' });
  await expect(queriesOf(nowhere).query('select 1')).rejects.toBeInstanceOf(Unavailable);
  await expect(inTransaction(nowhere, async () => 1)).rejects.toBeInstanceOf(Unavailable);
  await nowhere.end();
});

it('a full pool answers Unavailable to those who wait too long, and works again when it is free', async () => {
  const small = createPool(proxy.url, { max: 1, applicationName: 'test', connectTimeoutMs: 1_000 });
  const waiting = await inTransaction(small, async () =>
    queriesOf(small)
      .query('select 1')
      .catch((error: unknown) => error),
  );
  expect(waiting).toBeInstanceOf(Unavailable);
  expect(await queriesOf(small).query('select 1 as one')).toEqual([{ one: 1 }]);
  await small.end();
});

it('a server that is slow to answer costs no place in the pool for good', async () => {
  const small = createPool(proxy.url, { max: 2, applicationName: 'test', connectTimeoutMs: 1_000 });
  proxy.holdNewConnections();
  const tries = await Promise.allSettled(Array.from({ length: 6 }, () => queriesOf(small).query('select 1')));
  for (const tried of tries) expect(tried).toMatchObject({ status: 'rejected', reason: expect.any(Unavailable) });
  proxy.letGo();
  const answers = await Promise.all(Array.from({ length: 6 }, () => queriesOf(small).query('select 1 as one')));
  expect(answers).toEqual(Array.from({ length: 6 }, () => [{ one: 1 }]));
  await small.end();
});

it('rows hold bigint for int8, text for numeric and days, also inside arrays', async () => {
  const [row] = await queriesOf(pool).query(
    `select 9007199254740993::int8 as big, 9223372036854775757::numeric as exact, date '2026-11-30' as day,
            array[9007199254740993, null]::int8[] as bigs, array[9223372036854775757, null]::numeric[] as exacts,
            timestamptz '2026-11-30 01:02:03.123+03' as moment, sum(x) as total, count(*) as n
       from unnest(array[9000000000000000000, 9000000000000000000]::int8[]) x`,
  );
  expect(row).toEqual({
    big: 9_007_199_254_740_993n,
    exact: '9223372036854775757',
    day: '2026-11-30',
    bigs: [9_007_199_254_740_993n, null],
    exacts: ['9223372036854775757', null],
    moment: new Date('2026-11-29T22:02:03.123Z'),
    total: '18000000000000000000',
    n: 2n,
  });
});

/** Waits for a fact. */
async function until(fact: () => Promise<boolean>): Promise<void> {
  while (!(await fact())) await pause(5);
}
