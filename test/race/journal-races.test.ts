import type pg from 'pg';
import { Retryable } from '../../src/db/errors.js';
import type { PostResult } from '../../src/db/journal.js';
import { createPool } from '../../src/db/pool.js';
import { collectBehind, draw, guard, leg, type MovementInstruction } from '../../src/domain/journal.js';
import { compareCallers } from '../support/journal-comparison.js';
import { balanceOf, fund, keyOf, movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openTestDatabase();
  pool = createPool(database.urlFor('worker'), { max: 32, applicationName: 'test' });
});
afterAll(async () => {
  await pool.end();
  await database.close();
});
afterEach(async () => {
  await expectMoneyInvariants(pool);
});

/** How often each outcome came. */
function tally(results: readonly (PostResult | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const result of results) counts[result?.outcome ?? 'none'] = (counts[result?.outcome ?? 'none'] ?? 0) + 1;
  return counts;
}

/** What a caller does with a `Retryable`: the same again. */
async function postAgain(...movements: MovementInstruction[]): Promise<PostResult[]> {
  for (;;) {
    try {
      return await postNow(pool, ...movements);
    } catch (error) {
      if (!(error instanceof Retryable)) throw error;
    }
  }
}

/** Starts all at once and waits for all. */
function together<T>(count: number, start: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => start(i)));
}

it('150 debits of 1 on a wallet of 100, by many callers: exactly 100 are posted', async () => {
  const purse = await openPurse(pool);
  await fund(pool, purse, { wallet: 100n });
  const results = await together(150, async () => {
    const [result] = await postNow(pool, movement([leg(purse.wallet, -1n), leg(purse.clearing, 1n)]));
    return result;
  });
  expect(tally(results)).toEqual({ posted: 100, insufficient: 50 });
  expect(await balanceOf(pool, purse.wallet)).toBe(0n);
});

it('two withdrawals of 80 that both saw a balance of 100: one is posted, one is insufficient', async () => {
  const purse = await openPurse(pool);
  await fund(pool, purse, { wallet: 100n });
  const results = await together(2, async () => {
    const [result] = await postNow(pool, movement([leg(purse.wallet, -80n), leg(purse.clearing, 80n)]));
    return result;
  });
  expect(tally(results)).toEqual({ posted: 1, insufficient: 1 });
  expect(await balanceOf(pool, purse.wallet)).toBe(20n);
});

it('one key on 32 connections: one is posted, 31 are answered as duplicates with the same split', async () => {
  const purse = await openPurse(pool);
  const credit = movement([leg(purse.clearing, -5_000n), leg(purse.wallet, 5_000n)]);
  const results = (await together(32, () => postNow(pool, credit))).flat();
  expect(tally(results)).toEqual({ posted: 1, duplicate: 31 });
  expect(new Set(results.map((result) => `${result.movementId} ${result.moved}`)).size).toBe(1);
  const { rows } = await pool.query('select from ledger.entry where account_id = $1', [purse.wallet]);
  expect(rows).toHaveLength(1);
});

it('one key with accounts that share nothing: never a second posting', async () => {
  for (let round = 0; round < 20; round += 1) {
    const purses = await together(4, () => openPurse(pool));
    const key = keyOf();
    const results = await Promise.all(
      purses.map((purse) => postAgain(movement([leg(purse.clearing, -1n), leg(purse.wallet, 1n)], { key }))),
    );
    expect(tally(results.flat())).toEqual({ posted: 1, conflict: 3 });
  }
});

it('200 transfers A to B against 200 B to A: all are posted at the first try, so no deadlock [CASES J07]', async () => {
  const a = await openPurse(pool);
  await fund(pool, a, { wallet: 400n });
  await fund(pool, a, { hold: 400n });
  const results = await together(400, async (i) => {
    const [from, to] = i % 2 === 0 ? [a.wallet, a.hold] : [a.hold, a.wallet];
    const [result] = await postNow(pool, movement([leg(from, -1n), leg(to, 1n)]));
    return result;
  });
  expect(tally(results)).toEqual({ posted: 400 });
  expect([await balanceOf(pool, a.wallet), await balanceOf(pool, a.hold)]).toEqual([400n, 400n]);
});

it('chains over the same accounts in opposite orders: no deadlock, and exactly what was there is spent', async () => {
  const purse = await openPurse(pool);
  await fund(pool, purse, { card: 40n });
  await fund(pool, purse, { wallet: 60n });
  const results = await together(160, async (i) => {
    const [first, second] = i % 2 === 0 ? [purse.card, purse.wallet] : [purse.wallet, purse.card];
    const [result] = await postNow(pool, movement([leg(first, -1n), draw(second), leg(purse.clearing, 1n)]));
    return result;
  });
  expect(tally(results)).toEqual({ posted: 100, insufficient: 60 });
});

it('two finalizers of one hold: both take from it, so one of them finds nothing', async () => {
  for (let round = 0; round < 20; round += 1) {
    const purse = await openPurse(pool);
    await fund(pool, purse, { wallet: 100n });
    await postNow(pool, movement([leg(purse.wallet, -100n), leg(purse.hold, 100n)]));
    const results = await Promise.all([
      postNow(pool, movement([leg(purse.hold, -100n), leg(purse.clearing, 100n)], { kind: 'issuance_settle' })),
      postNow(pool, movement([leg(purse.hold, -100n), leg(purse.wallet, 100n)], { kind: 'issuance_release' })),
    ]);
    expect(tally(results.flat())).toEqual({ posted: 1, insufficient: 1 });
    expect(await balanceOf(pool, purse.hold)).toBe(0n);
  }
});

it('a forced debit three times against a deposit twice: each is posted once, and nothing is owed', async () => {
  for (let round = 0; round < 25; round += 1) {
    const purse = await openPurse(pool);
    const debit = movement([leg(purse.wallet, -70n), draw(purse.receivable), leg(purse.clearing, 70n)]);
    const credit = movement([leg(purse.clearing, -100n), leg(purse.wallet, 100n)]);
    const collect = collectBehind(credit, purse);
    const [one, two, three, four, five] = await Promise.all([
      postAgain(debit),
      postAgain(credit, collect),
      postAgain(debit),
      postAgain(credit, collect),
      postAgain(debit),
    ]);
    expect(tally([one[0], three[0], five[0]])).toEqual({ posted: 1, duplicate: 2 });
    expect(tally([two[0], four[0]])).toEqual({ posted: 1, duplicate: 1 });
    expect(new Set([one, three, five].map(([result]) => String(result?.moved))).size).toBe(1);
    expect([await balanceOf(pool, purse.wallet), await balanceOf(pool, purse.receivable)]).toEqual([30n, 0n]);
  }
});

it('eight guarded debits against the debit that opens the debt: none is posted after it', async () => {
  for (let round = 0; round < 15; round += 1) {
    const purse = await openPurse(pool);
    await fund(pool, purse, { wallet: 100n });
    const debt = movement([leg(purse.wallet, -500n), draw(purse.receivable), leg(purse.clearing, 500n)]);
    const spend = () => movement([leg(purse.wallet, -1n), leg(purse.hold, 1n), guard(purse.receivable)]);
    const results = await together(9, (i) => postAgain(i === 4 ? debt : spend()));
    const { rows } = await pool.query<{ late: bigint }>(
      `select count(*) as late from ledger.entry e join ledger.entry d on d.account_id = $1
        where e.account_id = $2 and e.movement_id > d.movement_id`,
      [purse.receivable, purse.hold],
    );
    expect(rows[0]?.late).toBe(0n);
    expect(tally(results.flat()).insufficient).toBeUndefined();
  }
});

it('batches that cross each other in keys and accounts all end, each movement posted once', async () => {
  const purses = await together(5, () => openPurse(pool));
  const shared = purses.flatMap((purse) =>
    [1n, 2n, 3n].map((n) => movement([leg(purse.clearing, -n), leg(purse.wallet, n)])),
  );
  const results = await together(24, (i) => {
    const turned = [...shared.slice(i % shared.length), ...shared.slice(0, i % shared.length)];
    return postAgain(...(i % 2 === 0 ? turned : turned.reverse()));
  });
  expect(tally(results.flat())).toEqual({ posted: shared.length, duplicate: shared.length * 23 });
  for (const purse of purses) expect(await balanceOf(pool, purse.wallet)).toBe(6n);
});

it('eight callers at once are as good as one: replayed in id order, each split is the model’s', async () => {
  const alone = await openTestDatabase();
  const callers = createPool(alone.urlFor('worker'), { max: 8, applicationName: 'test' });
  try {
    const { difference, met } = await compareCallers(callers, { seed: 7, callers: 8, batches: 120 });
    expect(difference).toBeNull();
    expect([...met]).toEqual(expect.arrayContaining(['posted', 'duplicate', 'guarded', 'insufficient', 'nothing']));
    await expectMoneyInvariants(callers, 'any');
  } finally {
    await callers.end();
    await alone.close();
  }
});
