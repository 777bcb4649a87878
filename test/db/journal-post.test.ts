import type pg from 'pg';
import { post } from '../../src/db/journal.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction } from '../../src/db/transaction.js';
import { collectBehind, draw, guard, type Line, leg } from '../../src/domain/journal.js';
import { balanceOf, fund, keyOf, movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants, expectNothingChanges, sumOfEntries } from '../support/money-invariants.js';
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

describe('a movement', () => {
  it('is posted once, and answered like the first time when it comes again', async () => {
    const purse = await openPurse(pool);
    const credit = movement([leg(purse.clearing, -2_500n), leg(purse.wallet, 2_500n)]);
    const [first] = await postNow(pool, credit);
    expect(first).toEqual({
      outcome: 'posted',
      detail: null,
      movementId: expect.stringMatching(/^mov_[0-7][0-9a-z]{25}$/),
      moved: [-2_500n, 2_500n],
    });
    await expectNothingChanges(pool, async () => {
      expect(await postNow(pool, credit)).toEqual([{ ...first, outcome: 'duplicate' }]);
    });
    expect(await balanceOf(pool, purse.wallet)).toBe(2_500n);
    expect(await sumOfEntries(pool, { ...purse.owner, kind: 'wallet', asset: 'EUR' })).toBe(2_500n);
  });

  it('under a key that stands for another body is a conflict and moves nothing', async () => {
    const purse = await openPurse(pool);
    const key = keyOf();
    const body = [leg(purse.clearing, -10n), leg(purse.wallet, 10n)];
    const [first] = await postNow(pool, movement(body, { key }));
    const others: [Line[], string?][] = [
      [[leg(purse.clearing, -11n), leg(purse.wallet, 11n)]],
      [[leg(purse.clearing, -10n), leg(purse.hold, 10n)]],
      [[leg(purse.wallet, 10n), leg(purse.clearing, -10n)]],
      [[leg(purse.clearing, -10n), leg(purse.wallet, 10n), guard(purse.receivable)]],
    ];
    await expectNothingChanges(pool, async () => {
      for (const [lines] of others) {
        const [result] = await postNow(pool, movement(lines, { key }));
        expect(result).toEqual({ outcome: 'conflict', detail: null, movementId: first?.movementId, moved: [] });
      }
      const [otherKind] = await postNow(pool, movement(body, { key, kind: 'opening' }));
      expect(otherKind?.outcome).toBe('conflict');
    });
  });

  it('keeps subject, generation, reference, trace and the movement it compensates', async () => {
    const purse = await openPurse(pool);
    const key = keyOf();
    const again = { ...key, generation: 3, operation: 'orphan' };
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    await inTransaction(pool, (tx) =>
      post(
        tx,
        [
          movement([leg(purse.clearing, -7n), leg(purse.wallet, 7n)], { key, kind: 'deposit_credit' }),
          movement([leg(purse.wallet, -7n), leg(purse.clearing, 7n)], {
            key: again,
            kind: 'deposit_orphaned',
            compensates: key,
            reference: 'bonus',
            subject: { type: 'deposit', id: 'dep_1' },
          }),
        ],
        { traceId },
      ),
    );
    const { rows } = await pool.query(
      `select m.kind, m.book, m.merchant_id, m.subject_type, m.subject_id, m.generation, m.reference, m.trace_id,
              undone.kind as undone
         from ledger.movement m join ledger.movement undone on undone.key = m.compensates where m.merchant_id = $1`,
      [purse.owner.merchantId],
    );
    expect(rows).toEqual([
      {
        kind: 'deposit_orphaned',
        book: 'live',
        merchant_id: purse.owner.merchantId,
        subject_type: 'deposit',
        subject_id: 'dep_1',
        generation: 3,
        reference: 'bonus',
        trace_id: traceId,
        undone: 'deposit_credit',
      },
    ]);
  });

  it('is refused below the floor, and its key stays free for when there is money', async () => {
    const purse = await openPurse(pool);
    const spend = movement([leg(purse.wallet, -80n), leg(purse.clearing, 80n)]);
    await fund(pool, purse, { wallet: 79n });
    const [refused] = await postNow(pool, spend);
    expect(refused).toEqual({ outcome: 'insufficient', detail: String(purse.wallet), movementId: null, moved: [] });
    await fund(pool, purse, { wallet: 1n });
    expect((await postNow(pool, spend))[0]?.outcome).toBe('posted');
    expect(await balanceOf(pool, purse.wallet)).toBe(0n);
  });

  it('does not spoil the others of its batch when it is refused', async () => {
    const purse = await openPurse(pool);
    const results = await postNow(
      pool,
      movement([leg(purse.clearing, -5n), leg(purse.wallet, 5n)]),
      movement([leg(purse.wallet, -6n), leg(purse.clearing, 6n)]),
      movement([leg(purse.wallet, -1n)]),
      movement([leg(purse.wallet, -4n), leg(purse.clearing, 4n)]),
    );
    expect(results.map((result) => result.outcome)).toEqual(['posted', 'insufficient', 'invalid', 'posted']);
    expect(await balanceOf(pool, purse.wallet)).toBe(1n);
  });

  it('that stands twice in one batch is posted once', async () => {
    const purse = await openPurse(pool);
    const credit = movement([leg(purse.clearing, -5n), leg(purse.wallet, 5n)]);
    const other = { ...credit, lines: [leg(purse.clearing, -6n), leg(purse.wallet, 6n)] };
    const results = await postNow(pool, credit, credit, other);
    expect(results.map((result) => result.outcome)).toEqual(['posted', 'duplicate', 'conflict']);
    expect(results[1]?.moved).toEqual([-5n, 5n]);
    expect(await balanceOf(pool, purse.wallet)).toBe(5n);
  });

  it('of a withdrawal is refused at this door, whoever holds the worker’s credential', async () => {
    const purse = await openPurse(pool);
    const lines = [leg(purse.wallet, -1n), leg(purse.clearing, 1n)];
    const attempt = postNow(pool, movement(lines, { kind: 'withdrawal_settle' }));
    await expect(attempt).rejects.toMatchObject({ name: 'Refused', sqlstate: '42501' });
  });

  it('needs read committed', async () => {
    const purse = await openPurse(pool);
    const attempt = inTransaction(
      pool,
      (tx) => post(tx, [movement([guard(purse.wallet)])], { traceId: null }),
      'snapshot',
    );
    await expect(attempt).rejects.toMatchObject({ code: '25001' });
  });

  it('is not there when its transaction rolls back', async () => {
    const purse = await openPurse(pool);
    const credit = movement([leg(purse.clearing, -5n), leg(purse.wallet, 5n)]);
    await expectNothingChanges(pool, () =>
      expect(
        inTransaction(pool, async (tx) => {
          await post(tx, [credit], { traceId: null });
          throw new Error('later step failed');
        }),
      ).rejects.toThrow('later step failed'),
    );
    expect((await postNow(pool, credit))[0]?.outcome).toBe('posted');
  });
});

describe('draws', () => {
  it('take what the line above could not, each down to its floor, and the last takes the rest', async () => {
    const purse = await openPurse(pool);
    await fund(pool, purse, { card: 20n });
    await fund(pool, purse, { wallet: 70n });
    const forced = movement([
      leg(purse.card, -110n),
      draw(purse.wallet),
      draw(purse.receivable),
      leg(purse.clearing, 110n),
    ]);
    const [first] = await postNow(pool, forced);
    expect(first).toMatchObject({ outcome: 'posted', moved: [-20n, -70n, -20n, 110n] });
    await fund(pool, purse, { card: 500n });
    const [again] = await postNow(pool, forced);
    expect(again).toEqual({ ...first, outcome: 'duplicate' });
  });

  it('that need nothing leave no entry', async () => {
    const purse = await openPurse(pool);
    await fund(pool, purse, { card: 110n });
    const spend = movement([leg(purse.card, -110n), draw(purse.wallet), leg(purse.clearing, 110n)]);
    expect((await postNow(pool, spend))[0]?.moved).toEqual([-110n, 0n, 110n]);
    const { rows } = await pool.query('select from ledger.entry where account_id = $1', [purse.wallet]);
    expect(rows).toHaveLength(0);
  });

  it('are insufficient, naming the last account, where the chain does not end in the receivable', async () => {
    const purse = await openPurse(pool);
    await fund(pool, purse, { card: 40n });
    await fund(pool, purse, { wallet: 60n });
    const spend = movement([leg(purse.card, -101n), draw(purse.wallet), leg(purse.clearing, 101n)]);
    expect((await postNow(pool, spend))[0]).toMatchObject({ outcome: 'insufficient', detail: String(purse.wallet) });
  });
});

describe('guards and collect', () => {
  it('refuse money out while anything is owed, and let it go once money that came in has paid', async () => {
    const purse = await openPurse(pool);
    await fund(pool, purse, { wallet: 30n });
    const takeBack = movement([leg(purse.wallet, -50n), draw(purse.receivable), leg(purse.clearing, 50n)]);
    expect((await postNow(pool, takeBack))[0]?.moved).toEqual([-30n, -20n, 50n]);

    const credit = movement([leg(purse.clearing, -25n), leg(purse.wallet, 25n)]);
    const spend = movement([leg(purse.wallet, -1n), leg(purse.hold, 1n), guard(purse.receivable)]);
    const guarded = { outcome: 'guarded', detail: String(purse.receivable), movementId: null, moved: [] };
    expect((await postNow(pool, spend))[0]).toEqual(guarded);

    const results = await postNow(pool, credit, spend, collectBehind(credit, purse), spend);
    expect(results.map((result) => result.outcome)).toEqual(['posted', 'guarded', 'posted', 'posted']);
    expect(results[2]?.moved).toEqual([-20n, 20n]);
    expect(await balanceOf(pool, purse.receivable)).toBe(0n);
    expect(await balanceOf(pool, purse.wallet)).toBe(4n);
  });

  it('collect nothing where nothing is owed, leave the key free, and never collect twice for one credit', async () => {
    const purse = await openPurse(pool);
    const credit = movement([leg(purse.clearing, -25n), leg(purse.wallet, 25n)]);
    const both = [credit, collectBehind(credit, purse)] as const;
    expect((await postNow(pool, ...both)).map((result) => result.outcome)).toEqual(['posted', 'nothing']);
    await postNow(pool, movement([leg(purse.wallet, -40n), draw(purse.receivable), leg(purse.clearing, 40n)]));
    expect((await postNow(pool, ...both)).map((result) => result.outcome)).toEqual(['duplicate', 'nothing']);
    expect(await balanceOf(pool, purse.receivable)).toBe(-15n);
  });

  it('collect only as much as the wallet has', async () => {
    const purse = await openPurse(pool);
    await postNow(pool, movement([leg(purse.wallet, -100n), draw(purse.receivable), leg(purse.clearing, 100n)]));
    const credit = movement([leg(purse.clearing, -30n), leg(purse.wallet, 30n)]);
    const results = await postNow(pool, credit, collectBehind(credit, purse));
    expect(results[1]).toMatchObject({ outcome: 'posted', moved: [-30n, 30n] });
    expect(await balanceOf(pool, purse.receivable)).toBe(-70n);
  });

  it('say invalid before guarded, and guarded before insufficient', async () => {
    const purse = await openPurse(pool);
    await postNow(pool, movement([leg(purse.wallet, -1n), draw(purse.receivable), leg(purse.clearing, 1n)]));
    const poor = [leg(purse.wallet, -9n), leg(purse.clearing, 9n)];
    const results = await postNow(
      pool,
      movement([...poor, guard(purse.receivable)]),
      movement(poor),
      movement([leg(purse.wallet, -9n), leg(purse.clearing, 8n), guard(purse.receivable)]),
    );
    expect(results.map((result) => result.outcome)).toEqual(['guarded', 'insufficient', 'invalid']);
  });
});
