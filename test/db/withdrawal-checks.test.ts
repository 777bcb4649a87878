import { findIlls } from '../../src/db/health.js';
import { editWithdrawal } from '../../src/db/request-withdrawal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type WithdrawalMoves, withdrawalMoves } from '../support/withdrawal-moves.js';
import { FEE, openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

const HASH = 'cd'.repeat(32);
let database: TestDatabase;
let it: Withdrawing;
let moves: WithdrawalMoves;
const ids: Record<string, string> = {};

/** One of each: what the checks must find nothing wrong with. */
beforeAll(async () => {
  database = await openTestDatabase();
  it = await openWithdrawing(database, { wallet: 100_000_000n });
  moves = withdrawalMoves(it);
  ids['edited'] = await it.request({ amount: 3_000_000n });
  await editWithdrawal(queriesOf(it.cabinet), {
    ...{ book: 'live', merchantId: it.merchantId, userId: it.requester, traceId: 'a'.repeat(32), id: ids['edited'] },
    ...{ seenVersion: 1, amount: 4_000_000n, seenFee: FEE, destinationId: it.destinationId, reference: null },
  });
  ids['rejected'] = await it.request({ amount: 3_000_000n });
  await moves.decide(ids['rejected'], 'reject', it.operator);
  for (const name of ['submitted', 'unknown', 'completed', 'failed', 'late']) {
    const id = await it.request({ amount: 5_000_000n });
    ids[name] = id;
    await moves.decide(id, 'approve', it.approver);
    await moves.submit(id);
  }
  for (const name of ['unknown', 'failed', 'late']) await moves.suspect(ids[name] ?? '');
  for (const name of ['failed', 'late']) await moves.decide(ids[name] ?? '', 'fail', it.operator);
  await moves.read(ids['completed'] ?? '', { id: 'cpo_1', txHash: HASH });
  // What it takes back is not there any more: a part of it is owed.
  await it.request({ amount: 71_000_000n });
  await moves.read(ids['late'] ?? '', { id: 'cpo_2', txHash: HASH.replaceAll('c', 'e') });
});
afterAll(async () => {
  await it.close();
  await database.close();
});

async function findings(): Promise<string[]> {
  const { findings: found } = await verifyLedger(it.console, 'all', { subjects: true });
  return [...new Set(found.map(({ kind }) => kind))].toSorted();
}

/** What nobody can do in production, and then back again: rows altered behind the back of all rules. */
async function behindTheBack(sql: string): Promise<string[]> {
  const client = await it.owner.connect();
  const tables = ['sverka.withdrawal', 'sverka.withdrawal_terms', 'sverka.audit', 'ledger.movement', 'ledger.entry'];
  try {
    for (const table of tables)
      await client.query(`create table if not exists public.kept_${table.replace('.', '_')} as table ${table}`);
    for (const table of tables) await client.query(`alter table ${table} disable trigger all`);
    expect((await client.query(sql)).rowCount).toBeGreaterThan(0);
    return await findings();
  } finally {
    for (const table of tables) {
      await client.query(`delete from ${table}`);
      await client.query(`insert into ${table} overriding system value table public.kept_${table.replace('.', '_')}`);
      await client.query(`drop table public.kept_${table.replace('.', '_')}`);
      await client.query(`alter table ${table} enable trigger all`);
    }
    client.release();
  }
}

describe('the full check', () => {
  test('finds nothing wrong with what was edited, rejected, paid, failed, or taken back in part', async () => {
    const { rows } = await it.owner.query(
      'select state, count(*)::int as n from sverka.withdrawal group by 1 order by 1',
    );
    expect(rows.map(({ state, n }) => `${state} ${n}`)).toEqual([
      ...['completed 1', 'failed 1', 'found_late 1', 'rejected 1', 'requested 2', 'submitted 1', 'unknown 1'],
    ]);
    const owed = await it.owner.query(`select from ledger.account_balance where kind = 'receivable' and balance < 0`);
    expect(owed.rowCount).toBe(1);
    expect(await findings()).toEqual([]);
  });

  test.each([
    ['a completed one that says it failed', `update sverka.withdrawal set state = 'failed' where id = $completed`],
    [
      'one that is given back and still says it waits',
      `update sverka.withdrawal set state = 'submitted' where id = $failed`,
    ],
    ['one whose take-back is denied', `update sverka.withdrawal set state = 'failed' where id = $late`],
  ])('names %s', async (_, sql) => {
    expect(await behindTheBack(filled(sql))).toEqual(
      expect.arrayContaining(['movement_without_withdrawal', 'state_without_audit']),
    );
  });

  test('names another amount, of the row and of its terms', async () => {
    const more = (table: string, id: string) =>
      `update sverka.${table} set amount = amount + 1 where ${id} = $completed`;
    expect(await behindTheBack(filled(more('withdrawal', 'id')))).toEqual(['withdrawal_terms_differ']);
    expect(await behindTheBack(filled(more('withdrawal_terms', 'withdrawal_id')))).toEqual([
      ...['movement_without_withdrawal', 'withdrawal_not_booked', 'withdrawal_terms_differ'],
    ]);
  });

  test('names another fee of the network, a movement that is gone, and a withdrawal that is gone', async () => {
    const fee = 'update sverka.withdrawal set payout_fee_amount = payout_fee_amount + 1 where id = $completed';
    expect(await behindTheBack(filled(fee))).toEqual(['movement_without_withdrawal', 'withdrawal_not_booked']);
    const gone = `delete from ledger.movement where kind = 'withdrawal_release' and subject_id = $rejected`;
    expect(await behindTheBack(filled(gone))).toEqual(expect.arrayContaining(['withdrawal_not_booked']));
    const row = 'delete from sverka.withdrawal where id = $unknown';
    expect(await behindTheBack(filled(row))).toEqual(['movement_without_withdrawal']);
  });
});

test('what may have been paid and has waited too long is ill, and nothing else is', async () => {
  const stuck = async () => {
    const ills = await findIlls(queriesOf(it.worker), { stuckMs: 3_600_000, pendingMs: 3_600_000 });
    return ills.filter(({ kind }) => kind === 'stuck');
  };
  expect(await stuck()).toEqual([]);
  await it.owner.query('alter table sverka.withdrawal disable trigger all');
  await it.owner.query(
    `update sverka.withdrawal set created_at = created_at - interval '2 hours', submitted_at = submitted_at - interval '2 hours'`,
  );
  await it.owner.query('alter table sverka.withdrawal enable trigger all');
  const found = await stuck();
  expect(found.map(({ subjectId }) => subjectId)).toEqual([ids['submitted'], ids['unknown']]);
  expect(found.map(({ detail }) => detail)).toEqual([
    expect.stringContaining("compare it with the custodian's record"),
    expect.stringContaining('ask the custodian by this id'),
  ]);
});

function filled(sql: string): string {
  return sql.replace(/\$([a-z]+)/, (_, name: string) => `'${ids[name]}'`);
}
