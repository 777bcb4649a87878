import type pg from 'pg';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { draw, guard, type Line, leg } from '../../src/domain/journal.js';
import { balanceOf, fund, keyOf, movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openTestDatabase();
  pool = createPool(database.urlFor('worker'), { max: 4, applicationName: 'test' });
});
afterAll(async () => {
  await expectMoneyInvariants(pool);
  await pool.end();
  await database.close();
});

const collect = (from: bigint, to: bigint): Line[] => [
  { role: 'collect', account: from },
  { role: 'collect', account: to },
];

describe('an instruction that is not sound is invalid with a reason and moves nothing [CASES J13]', () => {
  let purse: Purse;
  let yen: Purse;
  let stranger: Purse;
  let testBook: Purse;
  beforeAll(async () => {
    purse = await openPurse(pool);
    yen = await openPurse(pool, { asset: 'JPY', merchantId: purse.owner.merchantId });
    stranger = await openPurse(pool);
    testBook = await openPurse(pool, { book: 'test', merchantId: purse.owner.merchantId });
    await fund(pool, purse, { wallet: 1_000n });
  });

  it.each<[string, () => Line[]]>([
    ['too_few_legs', () => []],
    ['too_few_legs', () => [leg(purse.wallet, -1n)]],
    ['too_many_legs', () => Array.from({ length: 101 }, () => leg(purse.wallet, 1n))],
    ['unknown_account', () => [leg(purse.wallet, -1n), leg(987_654_321n, 1n)]],
    ['account_twice', () => [leg(purse.wallet, -1n), leg(purse.wallet, 1n)]],
    ['bad_amount', () => [leg(purse.wallet, 0n), leg(purse.clearing, 0n)]],
    ['bad_amount', () => [leg(purse.wallet, -(10n ** 38n)), leg(purse.clearing, 10n ** 38n)]],
    ['unbalanced', () => [leg(purse.wallet, -10n), leg(purse.clearing, 9n)]],
    ['unbalanced', () => [leg(purse.wallet, -10n), leg(yen.clearing, 10n)]],
    ['mixed_books', () => [leg(purse.wallet, -1n), leg(testBook.clearing, 1n)]],
    ['mixed_books', () => [leg(purse.wallet, -1n), leg(purse.clearing, 1n), guard(testBook.receivable)]],
    ['mixed_merchants', () => [leg(purse.wallet, -1n), leg(stranger.wallet, 1n)]],
    ['mixed_merchants', () => [leg(purse.wallet, -1n), leg(purse.clearing, 1n), guard(stranger.receivable)]],
    ['bad_draw', () => [draw(purse.wallet), leg(purse.clearing, 1n)]],
    ['bad_draw', () => [leg(purse.clearing, 1n), draw(purse.wallet), leg(purse.hold, -1n)]],
    ['bad_draw', () => [leg(purse.wallet, -1n), draw(yen.wallet), leg(purse.clearing, 1n)]],
    ['bad_draw', () => [leg(purse.wallet, -1n), guard(purse.receivable), draw(purse.card)]],
    ['bad_guard', () => [guard(purse.receivable), leg(purse.wallet, -1n), leg(purse.clearing, 1n)]],
    ['bad_collect', () => [{ role: 'collect', account: purse.wallet }, leg(purse.receivable, 1n)]],
    ['bad_collect', () => collect(purse.wallet, yen.receivable)],
    ['bad_collect', () => collect(yen.receivable, purse.receivable)],
    ['out_of_range', () => [leg(purse.clearing, -(2n ** 63n - 1n)), leg(purse.wallet, 2n ** 63n - 1n)]],
  ])('%s (%#)', async (reason, lines) => {
    await expectNothingChanges(pool, async () => {
      const [result] = await postNow(pool, movement(lines()));
      expect(result).toEqual({ outcome: 'invalid', detail: reason, movementId: null, moved: [] });
    });
  });

  it('bad_compensates, for a movement that is not there or is another merchant’s', async () => {
    const key = keyOf();
    await postNow(pool, movement([leg(stranger.clearing, -1n), leg(stranger.wallet, 1n)], { key }));
    for (const compensates of [key, keyOf('nobody')]) {
      const [result] = await postNow(
        pool,
        movement([leg(purse.wallet, -1n), leg(purse.clearing, 1n)], { compensates }),
      );
      expect(result).toMatchObject({ outcome: 'invalid', detail: 'bad_compensates' });
    }
  });

  it.each(['NaN', '0.5', '1e38', '-Infinity', null])('amount %s, by SQL, is bad_amount [CASES C12]', async (amount) => {
    await expectNothingChanges(pool, async () => {
      const { rows } = await pool.query<{ details: string[] }>(
        `select details from ledger.post(
           array[sha256('a'), sha256('b')], array[sha256('a'), sha256('b')], '{transfer,transfer}', '{2,2}',
           '{x,x}', '{x,x}', '{0,0}', '{null,null}', '{null,null}',
           array[$1, $2, $1, $2]::bigint[], array[$3::numeric, 1, -1, $3::numeric], '{leg,leg,leg,leg}')`,
        [purse.wallet, purse.clearing, amount],
      );
      expect(rows[0]?.details).toEqual(['bad_amount', 'bad_amount']);
    });
  });

  it('and splits evenly where three legs sum to zero: 10 = 3 + 3 + 4', async () => {
    const [result] = await postNow(
      pool,
      movement([leg(purse.wallet, -1_000n), leg(purse.hold, 333n), leg(purse.card, 333n), leg(purse.clearing, 334n)]),
    );
    expect(result?.outcome).toBe('posted');
  });
});

describe('amounts', () => {
  it('above 2^53 come back to the last digit', async () => {
    const purse = await openPurse(pool);
    const amount = 2n ** 63n - 51n;
    const [result] = await postNow(pool, movement([leg(purse.clearing, -amount), leg(purse.wallet, amount)]));
    expect(result?.moved).toEqual([-amount, amount]);
    expect(await balanceOf(pool, purse.wallet)).toBe(amount);
  });

  it('that would leave BIGINT for a fiat asset are refused at posting, in both directions', async () => {
    const purse = await openPurse(pool);
    const large = 9_000_000_000_000_000_000n;
    await fund(pool, purse, { wallet: large });
    const [more] = await postNow(pool, movement([leg(purse.clearing, -large), leg(purse.hold, large)]));
    expect(more).toMatchObject({ outcome: 'insufficient', detail: String(purse.clearing) });
    const other = await openPurse(pool, { merchantId: newId('merchant') });
    const [up] = await postNow(pool, movement([leg(other.clearing, 2n ** 63n), leg(other.receivable, -(2n ** 63n))]));
    expect(up).toMatchObject({ outcome: 'invalid', detail: 'out_of_range' });
  });

  it('of an 18-decimal token go past BIGINT', async () => {
    const purse = await openPurse(pool, { asset: 'ETH' });
    const amount = 12_345_678_901_234_567_890_123_456_789_012_345_678n;
    await fund(pool, purse, { wallet: amount });
    await fund(pool, purse, { wallet: 1n });
    expect(await balanceOf(pool, purse.wallet)).toBe(amount + 1n);
    const [over] = await postNow(
      pool,
      movement([leg(purse.clearing, -(9n * 10n ** 37n)), leg(purse.wallet, 9n * 10n ** 37n)]),
    );
    expect(over).toMatchObject({ outcome: 'invalid', detail: 'out_of_range' });
  });
});
