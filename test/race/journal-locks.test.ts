import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { Retryable, UniqueViolation } from '../../src/db/errors.js';
import { type PostResult, post } from '../../src/db/journal.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction } from '../../src/db/transaction.js';
import { draw, guard, leg, type MovementInstruction } from '../../src/domain/journal.js';
import { balanceOf, fund, movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { plantFault } from '../support/planted-fault.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeEach(async () => {
  database = await openTestDatabase();
  pool = createPool(database.urlFor('worker'), { max: 8, applicationName: 'test' });
});
afterEach(async () => {
  await pool.end();
  await database.close();
});

/**
 * Posts `held` and keeps its transaction open; starts `second`; waits until that is blocked or has answered; commits.
 * Answers what came of `second` and whether it had to wait.
 */
async function behindAnOpenTransaction(held: MovementInstruction, second: MovementInstruction) {
  const other: { settled: boolean; work?: Promise<PostResult[] | Error> } = { settled: false };
  let waited = false;
  await inTransaction(pool, async (tx) => {
    const [first] = await post(tx, [held], { traceId: null });
    expect(first?.outcome).toBe('posted');
    const [me] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
    other.work = postNow(pool, second)
      .catch((error: unknown) => error as Error)
      .finally(() => {
        other.settled = true;
      });
    while (!other.settled && !waited) {
      // On another connection: within a transaction, pg_stat_activity is read once and stays as it was.
      const blocked = await pool.query('select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))', [
        me?.pid,
      ]);
      waited = blocked.rows.length > 0;
      if (!waited) await pause(5);
    }
  });
  const answer = (await other.work) as PostResult[] | Error;
  return { waited, answer: answer instanceof Error ? answer : answer[0]?.outcome };
}

const LOCK = 'where a.id = any (accounts) order by a.id for no key update';

describe('a debit behind another whose transaction is open', () => {
  async function twoDebits() {
    const purse = await openPurse(pool);
    await fund(pool, purse, { wallet: 100n });
    const debit = () => movement([leg(purse.wallet, -80n), leg(purse.clearing, 80n)]);
    const seen = await behindAnOpenTransaction(debit(), debit());
    return { ...seen, left: await balanceOf(pool, purse.wallet) };
  }

  it('waits, and then decides from the balance that the first one left', async () => {
    expect(await twoDebits()).toEqual({ waited: true, answer: 'insufficient', left: 20n });
    await expectMoneyInvariants(pool);
  });

  it('without the lock is stopped by the sequence number alone', async () => {
    await plantFault(database.url, [LOCK, LOCK.replace(' for no key update', '')]);
    const { answer, left } = await twoDebits();
    expect(answer).toBeInstanceOf(UniqueViolation);
    expect(left).toBe(20n);
  });

  it('without the new statement behind the lock is stopped by the sequence number alone', async () => {
    await plantFault(
      database.url,
      [`perform from ledger.account a ${LOCK};`, ''],
      [
        'where a.id = any (accounts) order by a.id) x;',
        `where a.id = any (accounts) order by a.id for no key update of a) x;`,
      ],
    );
    expect((await twoDebits()).answer).toBeInstanceOf(UniqueViolation);
  });

  it('without the lock and without the sequence number overdraws, and the invariants turn red', async () => {
    await plantFault(database.url, [LOCK, LOCK.replace(' for no key update', '')]);
    const owner = createPool(database.url, { max: 1, applicationName: 'test' });
    await owner.query('alter table ledger.entry drop constraint entry_pkey').finally(() => owner.end());
    expect((await twoDebits()).answer).toBe('posted');
    await expect(expectMoneyInvariants(pool)).rejects.toThrow(/account \d+ \(wallet\)/);
  });
});

describe('a guarded debit behind the transaction that opens the debt', () => {
  async function debtAndDebit() {
    const purse = await openPurse(pool);
    await fund(pool, purse, { card: 50n });
    const debt = movement([leg(purse.wallet, -30n), draw(purse.receivable), leg(purse.clearing, 30n)]);
    return behindAnOpenTransaction(
      debt,
      movement([leg(purse.card, -50n), leg(purse.hold, 50n), guard(purse.receivable)]),
    );
  }

  it('waits for it, and is guarded', async () => {
    expect(await debtAndDebit()).toEqual({ waited: true, answer: 'guarded' });
  });

  it('would be posted beside the debt if guards were not locked', async () => {
    const legsOnly = `any (select accounts[g] from generate_subscripts(roles, 1) g where roles[g] <> 'guard')`;
    await plantFault(database.url, [LOCK, LOCK.replace('any (accounts)', legsOnly)]);
    expect(await debtAndDebit()).toEqual({ waited: false, answer: 'posted' });
  });
});

it('a debit that waits too long for a lock moves nothing and can be tried again', async () => {
  const purse = await openPurse(pool);
  await fund(pool, purse, { wallet: 10n });
  const debit = movement([leg(purse.wallet, -1n), leg(purse.clearing, 1n)]);
  await inTransaction(pool, async (tx) => {
    await post(tx, [movement([leg(purse.wallet, -2n), leg(purse.clearing, 2n)])], { traceId: null });
    const waiting = postNow(pool, debit);
    await expect(waiting).rejects.toBeInstanceOf(Retryable);
    await expect(waiting).rejects.toMatchObject({ sqlstate: '55P03' });
  });
  expect((await postNow(pool, debit))[0]?.outcome).toBe('posted');
  expect(await balanceOf(pool, purse.wallet)).toBe(7n);
});
