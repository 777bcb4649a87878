import { setTimeout as pause } from 'node:timers/promises';
import { cancelWithdrawal } from '../../src/db/request-withdrawal.js';
import { retrying } from '../../src/db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../../src/db/transaction.js';
import { setWithdrawalPolicy } from '../../src/db/withdrawal-book.js';
import {
  applyWithdrawalDecision,
  applyWithdrawalPayout,
  expireWithdrawal,
  submitWithdrawal,
} from '../../src/db/withdrawal-doors.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TESTER } from '../support/tester.js';
import { ADDRESS, ASSET, openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

const ROUNDS = 20;
const FUNDS = 1_000_000_000n;
const AMOUNT = 20_000_000n;

let database: TestDatabase;
let it: Withdrawing;
beforeAll(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  it = await openWithdrawing(database, { wallet: FUNDS });
});
afterEach(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
});
afterAll(() => database.close());

const asWorker = (work: (tx: Tx) => Promise<unknown>) => retrying(() => inTransaction(it.worker, work));
const of = (id: string) => ({ id, traceId: newTraceId() });
const record = (id: string) => readWithdrawal(queriesOf(it.owner), id);

/** How often each outcome was met, over all rounds. */
async function play(round: (n: number) => Promise<string>): Promise<Map<string, number>> {
  const met = new Map<string, number>();
  for (let n = 0; n < ROUNDS; n += 1) {
    const outcome = await round(n);
    met.set(outcome, (met.get(outcome) ?? 0) + 1);
  }
  process.stdout.write(`${[...met].map(([name, count]) => `${name}: ${count}`).join(', ')}\n`);
  return met;
}

async function movesOf(id: string): Promise<string[]> {
  const { rows } = await it.owner.query<{ to_state: string }>(
    'select to_state from sverka.audit where subject_id = $1 and from_state is distinct from to_state order by id',
    [id],
  );
  return rows.map(({ to_state }) => to_state);
}

test('approved, cancelled by its merchant and expired at once, it makes one of these moves', async () => {
  await setWithdrawalPolicy(queriesOf(it.owner), { book: 'live', coolingOffMs: 0, expiresAfterMs: 30 }, TESTER);
  const met = await play(async (n) => {
    const id = await it.request({ amount: AMOUNT });
    const asked = { book: 'live', merchantId: it.merchantId, userId: it.requester, traceId: newTraceId() } as const;
    await Promise.all([
      it
        .decide(id, 'approve', { by: it.approver })
        .then(() => asWorker((tx) => applyWithdrawalDecision(tx, of(id), null))),
      pause((n % 5) * 15).then(() => cancelWithdrawal(queriesOf(it.cabinet), { ...asked, id, seenVersion: 1 })),
      pause(30).then(() => asWorker((tx) => expireWithdrawal(tx, of(id)))),
    ]);
    // Whatever is left over is applied, or its time is over.
    await asWorker((tx) => applyWithdrawalDecision(tx, of(id), null));
    await asWorker((tx) => expireWithdrawal(tx, of(id)));
    const { state, reason } = await record(id);
    expect(await movesOf(id)).toEqual(['requested', state]);
    return `${state} ${reason ?? ''}`;
  });
  // One that always ends the same way has met no race.
  expect(met.size).toBeGreaterThan(1);
  const approved = met.get('approved ') ?? 0;
  expect(await balanceOf(it.owner, it.purse.wallet)).toBe(FUNDS - BigInt(approved) * (AMOUNT + 1_000_000n));
});

test('declared failed and paid out at once, its money leaves once: settled, or given back and taken back', async () => {
  await play(async () => {
    const id = await it.request({ amount: AMOUNT });
    await it.decide(id, 'approve', { by: it.approver });
    await asWorker((tx) => applyWithdrawalDecision(tx, of(id), null));
    for (const runId of ['one', 'another']) await asWorker((tx) => submitWithdrawal(tx, { ...of(id), runId }));
    expect((await record(id)).state).toBe('unknown');
    const payout = { id: `cpo_${id}`, status: 'completed', txHash: 'ab'.repeat(32), fee: null };
    const transfer = { network: 'tron', asset: ASSET, to: ADDRESS, tag: null, amount: AMOUNT, status: 'completed' };
    const read = async () => {
      const [drawn] = await queriesOf(it.worker).query<{ n: bigint }>(`select nextval('sverka.read_ticket') as n`);
      const answer = { ...of(id), ticket: drawn?.n ?? 0n, payout, transfer, declined: null, needsPerson: false };
      await asWorker((tx) => applyWithdrawalPayout(tx, answer));
    };
    await Promise.all([
      it
        .decide(id, 'fail', { by: it.operator })
        .then(() => asWorker((tx) => applyWithdrawalDecision(tx, of(id), null))),
      read(),
    ]);
    await read();
    const { state } = await record(id);
    expect(['completed', 'found_late']).toContain(state);
    return state;
  });
  expect(await balanceOf(it.owner, it.purse.wallet)).toBe(FUNDS - BigInt(ROUNDS) * (AMOUNT + 1_000_000n));
});
