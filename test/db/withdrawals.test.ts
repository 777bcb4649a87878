import { toWithdrawal } from '../../src/contracts/withdrawal.js';
import { readDecisionOutcome } from '../../src/db/decisions.js';
import { cancelWithdrawal, editWithdrawal } from '../../src/db/request-withdrawal.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { addWithdrawalDestination, setWithdrawalPolicy } from '../../src/db/withdrawal-book.js';
import {
  applyWithdrawalDecision,
  applyWithdrawalPayout,
  expireWithdrawal,
  submitWithdrawal,
  suspectWithdrawal,
  type TransferReading,
} from '../../src/db/withdrawal-doors.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { TESTER } from '../support/tester.js';
import { ADDRESS, ASSET, FEE, openWithdrawing, seenWithdrawal, type Withdrawing } from '../support/withdrawal-rows.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
let database: TestDatabase;
let it: Withdrawing;
beforeAll(async () => {
  database = await openTestDatabase();
});
beforeEach(async () => {
  it = await openWithdrawing(database, { wallet: 100_000_000n });
});
afterEach(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
});
afterAll(() => database.close());

const wallet = () => balanceOf(it.owner, it.purse.wallet);
const state = async (id: string) => (await readWithdrawal(queriesOf(it.owner), id)).state;
/** As the worker does. */
const apply = (id: string, transfer: TransferReading | null = null) =>
  inTransaction(it.worker, (tx) => applyWithdrawalDecision(tx, { id, traceId: TRACE }, transfer));

async function came(decision: string): Promise<string> {
  const outcome = await readDecisionOutcome(queriesOf(it.owner), decision);
  return outcome ? `${outcome.outcome}: ${outcome.detail}` : 'open';
}

async function decided(id: string, ...of: Parameters<Withdrawing['decide']> extends [string, ...infer R] ? R : never) {
  const decision = await it.decide(id, ...of);
  await apply(id);
  return came(decision);
}

async function ticket(): Promise<bigint> {
  const rows = await queriesOf(it.worker).query<{ n: bigint }>(`select nextval('sverka.read_ticket') as n`);
  return rows[0]?.n ?? 0n;
}

async function approved(of: { amount?: bigint; route?: string } = {}): Promise<string> {
  const id = await it.request(of);
  expect(await decided(id, 'approve', { by: it.approver, argument: of.route ?? 'custody' })).toBe('applied: approve');
  return id;
}

const PAID = { id: 'cpo_1', status: 'completed', txHash: 'ab'.repeat(32), fee: { asset: ASSET, amount: 300_000n } };
const transfer = (amount = 20_000_000n): TransferReading => ({
  ...{ network: 'tron', asset: ASSET, to: ADDRESS, tag: null, amount, status: 'completed' },
});

describe('a request', () => {
  test('holds amount and fee in the commit of its row, and is told as the API shows it', async () => {
    const id = await it.request();
    expect(await wallet()).toBe(79_000_000n);
    const record = await readWithdrawal(queriesOf(it.owner), id);
    const { rows } = await it.owner.query('select data, type from sverka.event where subject_id = $1', [id]);
    expect(rows).toEqual([{ type: 'withdrawal.requested', data: { ...toWithdrawal(record) } }]);
    const audit = await it.owner.query('select actor, to_state from sverka.audit where subject_id = $1', [id]);
    expect(audit.rows).toEqual([{ actor: `user:${it.requester}`, to_state: 'requested' }]);
  });

  test('made twice by one form is one; two of 80 out of 100 at once are one', async () => {
    const key = 'form-0123456789-form';
    expect(await it.request({ key })).toBe(await it.request({ key }));
    await cancelWithdrawal(queriesOf(it.cabinet), {
      ...{ book: 'live', merchantId: it.merchantId, userId: it.requester, traceId: TRACE },
      ...{ id: await it.request({ key }), seenVersion: 1 },
    });
    expect(await wallet()).toBe(100_000_000n);
    const two = await Promise.allSettled([it.request({ amount: 80_000_000n }), it.request({ amount: 80_000_000n })]);
    expect(two.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await wallet()).toBe(19_000_000n);
  });

  test('is refused, and leaves nothing, for what the wallet, the offer or the destination do not allow', async () => {
    await expect(it.request({ amount: 100_000_000n })).rejects.toThrow('insufficient_funds');
    await expect(it.request({ amount: 1n })).rejects.toThrow('amount_too_small');
    await expect(it.request({ seenFee: FEE - 1n })).rejects.toThrow('fee_changed');
    await expect(it.request({ destinationId: 'wdd_none' })).rejects.toThrow('destination_unknown');
    const cooling = { book: 'live', coolingOffMs: 60_000, expiresAfterMs: 86_400_000 } as const;
    await setWithdrawalPolicy(queriesOf(it.owner), cooling, TESTER);
    const fresh = await addWithdrawalDestination(queriesOf(it.cabinet), {
      ...{ book: 'live', merchantId: it.merchantId, userId: it.requester, label: 'New', network: 'tron' },
      ...{ address: 'TNewAddress', tag: null },
    });
    await expect(it.request({ destinationId: fresh.id })).rejects.toThrow('destination_cooling_off');
    expect(await wallet()).toBe(100_000_000n);
    const { rows } = await it.owner.query('select from sverka.withdrawal where merchant_id = $1', [it.merchantId]);
    expect(rows).toHaveLength(0);
  });

  test('that nobody decides on in time gives its money back, once', async () => {
    const waiting = await it.request({ amount: 2_000_000n });
    const policy = { book: 'live', coolingOffMs: 0 } as const;
    await setWithdrawalPolicy(queriesOf(it.owner), { ...policy, expiresAfterMs: 1 }, TESTER);
    const id = await it.request();
    await inTransaction(it.worker, (tx) => expireWithdrawal(tx, { id: waiting, traceId: TRACE }));
    for (let n = 0; n < 2; n += 1) await inTransaction(it.worker, (tx) => expireWithdrawal(tx, { id, traceId: TRACE }));
    expect([await state(waiting), await state(id), await wallet()]).toEqual(['requested', 'cancelled', 97_000_000n]);
  });
});

describe('an approval', () => {
  test('of the one who asked is refused by the database, also after a promotion and with another login', async () => {
    const id = await it.request();
    await it.owner.query(`update sverka."user" set merchant_id = null, roles = '{approver}' where id = $1`, [
      it.requester,
    ]);
    await expect(it.decide(id, 'approve', { by: it.requester })).rejects.toThrow('asked for the withdrawal');
    await it.owner.query('select sverka.join_persons($1, $2)', [it.requester, it.approver]);
    await expect(it.decide(id, 'approve', { by: it.approver })).rejects.toThrow('asked for the withdrawal');
    expect(await decided(id, 'approve', { by: it.approver2 })).toBe('applied: approve');
  });

  test('takes the role, and above the threshold two people of one mind', async () => {
    await fundMore(2_000_000_000n);
    const id = await it.request({ amount: 1_000_000_000n });
    await expect(it.decide(id, 'approve', { by: it.operator })).rejects.toThrow('may not decide');
    expect(await decided(id, 'approve', { by: it.approver })).toBe('applied: approve: the first of two');
    expect(await state(id)).toBe('requested');
    expect(await decided(id, 'approve', { by: it.approver })).toBe('void: this person has approved it already');
    expect(await decided(id, 'approve', { by: it.approver2, argument: 'manual' })).toBe(
      'void: the first approval is of another way to pay',
    );
    expect(await decided(id, 'approve', { by: it.approver2 })).toBe('applied: approve');
    expect(await state(id)).toBe('approved');
  });

  test('is void when the terms were edited after they were seen', async () => {
    const id = await it.request();
    const seenHash = await seenWithdrawal(it.console, id);
    const edited = await editWithdrawal(queriesOf(it.cabinet), {
      ...{ book: 'live', merchantId: it.merchantId, userId: it.requester, traceId: TRACE, id, seenVersion: 1 },
      ...{ amount: 30_000_000n, seenFee: FEE, destinationId: it.destinationId, reference: null },
    });
    expect([edited, await wallet()]).toEqual(['edited', 69_000_000n]);
    expect(await decided(id, 'approve', { by: it.approver, seenHash })).toBe('void: what was seen has changed');
    expect(await state(id)).toBe('requested');
    expect(await decided(id, 'approve', { by: it.approver })).toBe('applied: approve');
  });

  test('by ten calls of two people at once is one decision and one move', async () => {
    const id = await it.request();
    const calls = Array.from({ length: 10 }, (_, n) =>
      it.decide(id, 'approve', { by: n % 2 === 0 ? it.approver : it.approver2, stage: '1' }),
    );
    const all = await Promise.allSettled(calls);
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await Promise.all([apply(id), apply(id)]);
    const moves = await it.owner.query(`select from sverka.audit where subject_id = $1 and to_state = 'approved'`, [
      id,
    ]);
    expect(moves.rowCount).toBe(1);
  });
});

describe('a payout by the custodian', () => {
  const submit = (id: string, runId = 'run') =>
    inTransaction(it.worker, (tx) => submitWithdrawal(tx, { id, runId, traceId: TRACE }));
  const read = async (id: string, of: { payout?: typeof PAID | null; transfer?: TransferReading | null }) => {
    const answer = { id, ticket: await ticket(), declined: null, needsPerson: false, traceId: TRACE };
    const { payout = PAID, transfer: seen = transfer() } = of;
    await inTransaction(it.worker, (tx) => applyWithdrawalPayout(tx, { ...answer, payout, transfer: seen }));
  };

  test('needs the approval, settles hold, fee and difference once, and is proven by its transaction', async () => {
    const unapproved = await it.request({ amount: 2_000_000n });
    await submit(unapproved);
    expect(await state(unapproved)).toBe('requested');
    const id = await approved();
    await submit(id);
    expect(await state(id)).toBe('submitted');
    await read(id, { transfer: transfer(20_000_001n) });
    expect(await readWithdrawal(queriesOf(it.owner), id)).toMatchObject({
      state: 'submitted',
      flag: 'payout_mismatch',
    });
    await read(id, {});
    await read(id, {});
    expect(await readWithdrawal(queriesOf(it.owner), id)).toMatchObject({ state: 'completed', flag: null });
    const { rows } = await it.owner.query(
      `select a.kind, b.balance::text from ledger.account a join ledger.account_balance b on b.account_id = a.id
        where a.merchant_id = $1 and a.kind in ('fees', 'clearing:payout') order by 1`,
      [it.merchantId],
    );
    // The quoted fee of 1.0 is ours, of which the network took 0.3.
    expect(rows).toEqual([
      { kind: 'clearing:payout', balance: '20300000' },
      { kind: 'fees', balance: '700000' },
    ]);
  });

  test('of another run is unknown; declared failed and paid after all, it is taken back', async () => {
    const id = await approved();
    await submit(id);
    await submit(id, 'another run');
    expect(await state(id)).toBe('unknown');
    await read(id, { payout: null, transfer: null });
    expect(await decided(id, 'fail', { by: it.operator })).toBe('applied: fail');
    expect(await wallet()).toBe(100_000_000n);
    await read(id, {});
    await read(id, {});
    expect([await state(id), await wallet()]).toEqual(['found_late', 79_000_000n]);
  });

  test('declared failed, shown as queued and paid only then, it is taken back, once', async () => {
    const id = await approved();
    await submit(id);
    await submit(id, 'another run');
    expect(await decided(id, 'fail', { by: it.operator })).toBe('applied: fail');
    await read(id, { payout: { ...PAID, status: 'queued' }, transfer: null });
    expect([await state(id), await wallet()]).toEqual(['failed', 100_000_000n]);
    await read(id, {});
    await read(id, {});
    expect([await state(id), await wallet()]).toEqual(['found_late', 79_000_000n]);
  });

  test('that was asked for cannot be cancelled, and one that is shown cannot be declared failed', async () => {
    const id = await approved();
    await submit(id);
    expect(await decided(id, 'cancel', { by: it.operator })).toBe('void: it is paid out already');
    await inTransaction(it.worker, (tx) => suspectWithdrawal(tx, { id, traceId: TRACE }));
    await read(id, { payout: { ...PAID, status: 'broadcast' }, transfer: null });
    expect(await decided(id, 'fail', { by: it.operator })).toBe('void: the custodian shows its payout');
  });
});

async function fundMore(amount: bigint): Promise<void> {
  const { fund } = await import('../support/journal-fixtures.js');
  await fund(it.owner, it.purse, { wallet: amount });
}
