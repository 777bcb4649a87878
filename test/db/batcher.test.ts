import type pg from 'pg';
import { Retryable, Unavailable } from '../../src/db/errors.js';
import { type AcceptOutcome, acceptDeliveries, type Delivery } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { BatcherBusy, createBatcher } from '../../src/http/relay/batcher.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let owner: pg.Pool;
let relay: pg.Pool;
/** Sizes of the batches that were written. */
let sizes: number[];

beforeAll(async () => {
  database = await openTestDatabase();
  owner = createPool(database.url, { max: 2, applicationName: 'test' });
  relay = createPool(database.urlFor('relay'), { max: 4, applicationName: 'test' });
});
beforeEach(async () => {
  await owner.query('delete from sverka.inbox');
  sizes = [];
});
afterAll(async () => {
  await Promise.all([owner.end(), relay.end()]);
  await database.close();
});

const isOutage = (error: unknown): boolean => error instanceof Unavailable || error instanceof Retryable;

function batcher(lanes: number, outage = isOutage): (item: Delivery) => Promise<AcceptOutcome> {
  const write = (batch: readonly Delivery[]) => {
    sizes.push(batch.length);
    return acceptDeliveries(queriesOf(relay), batch);
  };
  return createBatcher(write, { isOutage: outage, lanes });
}

const count = async () => (await owner.query<{ n: number }>('select count(*)::int as n from sverka.inbox')).rows[0]?.n;

it('writes what waits during a commit in one batch, at most a hundred, and answers each after its commit', async () => {
  const accept = batcher(1);
  const seen: boolean[] = [];
  const outcomes = await Promise.all(
    Array.from({ length: 250 }, async (_, n) => {
      const delivery = deliveryOf(`cdp_${n}`);
      const outcome = await accept(delivery);
      if (n % 25 === 0) {
        const { rows } = await owner.query('select from sverka.inbox where delivery_id = $1', [delivery.deliveryId]);
        seen.push(rows.length === 1);
      }
      return outcome;
    }),
  );
  expect(new Set(outcomes)).toEqual(new Set(['stored']));
  expect(seen).toEqual(seen.map(() => true));
  expect(await count()).toBe(250);
  expect(sizes).toEqual([100, 100, 50]);
});

it.each([
  ['of a book that is none', { book: 'nowhere' as never }],
  ['with a byte that PostgreSQL cannot keep', { deliveryId: 'a\u0000b' }],
  ['whose hash is too short', { bodyHash: Buffer.alloc(3) }],
])('a bad one (%s) fails alone: the others of its batch are stored', async (_name, bad) => {
  const accept = batcher(1);
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) => accept(deliveryOf(`cdp_${n}`, n === 7 ? bad : {}))),
  );
  expect(results.map((result) => result.status).filter((status) => status === 'rejected')).toHaveLength(1);
  expect(results[7]?.status).toBe('rejected');
  expect(await count()).toBe(19);
});

it('a failure that concerns all is not tried one by one', async () => {
  await owner.query('alter table sverka.inbox rename to away');
  const accept = batcher(1, () => true);
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, n) => accept(deliveryOf(`cdp_${n}`))));
  await owner.query('alter table sverka.away rename to inbox');
  expect(new Set(results.map((result) => result.status))).toEqual(new Set(['rejected']));
  expect(sizes).toEqual([20]);
});

it('goes on after a failure, and two lanes work at once', async () => {
  const accept = batcher(2);
  await accept(deliveryOf('cdp_1', { bodyHash: Buffer.alloc(1) })).catch(() => null);
  const outcomes = await Promise.all(Array.from({ length: 300 }, (_, n) => accept(deliveryOf(`cdp_${n}`))));
  expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(300);
  expect(await count()).toBe(300);
});

it('a writer that answers for fewer than it was given fails those that got no answer', async () => {
  const accept = createBatcher<number, string>(async (batch) => batch.slice(1).map(String), { isOutage, lanes: 1 });
  const results = await Promise.allSettled([accept(1), accept(2)]);
  expect(results.map((result) => result.status)).toEqual(['fulfilled', 'rejected']);
});

it('refuses at once what would wait behind too many, and answers the others', async () => {
  let go: () => void = () => undefined;
  const blocked = new Promise<void>((resolve) => {
    go = resolve;
  });
  const write = async (batch: readonly number[]) => {
    await blocked;
    return batch.map(String);
  };
  const accept = createBatcher<number, string>(write, { isOutage, lanes: 1, waitingMax: 3 });
  const first = accept(0);
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = [1, 2, 3].map((n) => accept(n));
  await expect(accept(4)).rejects.toThrow(BatcherBusy);
  go();
  expect(await Promise.all([first, ...waiting])).toEqual(['0', '1', '2', '3']);
  expect(await accept(5)).toBe('5');
});

it('answers within its deadline when the writer hangs, and forgets who has not begun', async () => {
  const begun: number[] = [];
  const write = (batch: readonly number[]) => {
    begun.push(...batch);
    return new Promise<string[]>(() => undefined);
  };
  const accept = createBatcher<number, string>(write, { isOutage, lanes: 1, waitingMax: 2, deadlineMs: 20 });
  await expect(accept(1)).rejects.toThrow(/waited_too_long/);
  const late = await Promise.allSettled([accept(2), accept(3)]);
  expect(late.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  // Their places are free again.
  await expect(accept(4)).rejects.toThrow(/waited_too_long/);
  expect(begun).toEqual([1]);
});
