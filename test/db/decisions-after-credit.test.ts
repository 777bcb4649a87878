import type pg from 'pg';
import { openAccounts } from '../../src/db/accounts.js';
import { createPool } from '../../src/db/pool.js';
import { inTransaction } from '../../src/db/transaction.js';
import { leg } from '../../src/domain/journal.js';
import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { depositOf, expectDepositInvariants, expectNothingComesOf, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { balanceOf, movement, postNow } from '../support/journal-fixtures.js';

let world: DepositWorld;
let console: pg.Pool;
let userId: string;
let customers = 0;
let at: MadeAddress;
let ref: string;
let id: string;

beforeAll(async () => {
  world = await openDepositWorld();
  console = createPool(world.database.urlFor('console'), { max: 2, applicationName: 'test' });
  userId = await makePerson(world.owner, 'operator');
});
beforeEach(async () => {
  at = await world.address({ customerRef: `customer-${(customers += 1)}` });
  ref = await world.arrive(at, { amount: '10' });
  await world.read(ref);
  id = (await depositOf(world.owner, ref)).id;
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await console.end();
  await world.close();
});

const decide = (choice: string) => decideAs(console, { type: 'deposit', id, choice, userId });
const outcome = (decision: string) => outcomeOf(world.owner, decision);
const facts = () => depositOf(world.owner, ref);
const alerts = async () => (await openAlerts(world.owner)).map((alert) => alert.split(' ')[0]);

/** The custodian says another thing now, and we have seen it. */
async function changed(change: Record<string, unknown>): Promise<void> {
  await world.change(ref, change);
  await world.read(ref);
}

/** The owner's wallet and receivable. */
async function accounts(): Promise<{ wallet: bigint; receivable: bigint; hold: bigint }> {
  const owner = { book: 'live' as const, merchantId: world.merchantId, customerId: at.customerId, asset: 'USDT-TRC20' };
  const [wallet, receivable, hold] = await inTransaction(world.pool, (tx) =>
    openAccounts(tx, [
      { ...owner, kind: 'wallet' },
      { ...owner, kind: 'receivable' },
      { ...owner, kind: 'hold', ref: 'spent' },
    ]),
  );
  return { wallet, receivable, hold };
}

async function spend(amount: bigint): Promise<void> {
  const { wallet, hold } = await accounts();
  const [result] = await postNow(world.pool, movement([leg(wallet, -amount), leg(hold, amount)]));
  expect(result?.outcome).toBe('posted');
}

async function eventsOf(type: string): Promise<unknown[]> {
  const { rows } = await world.owner.query<{ data: unknown }>(
    `select data from sverka.event where type = $1 and data->'owner'->>'id' = $2 order by created_at`,
    [type, at.customerId],
  );
  return rows.map((row) => row.data);
}

describe('a deposit that failed at the custodian after its credit', () => {
  it('stays credited until a person takes the money back', async () => {
    await changed({ status: 'failed' });
    expect(await facts()).toMatchObject({ state: 'final', flag: 'failed_after_credit' });
    expect(await walletOf(world, at)).toBe('10.000000');
    const decision = await decide('orphan');
    expect(await world.read(ref)).toMatchObject({ state: 'orphaned' });
    expect(await outcome(decision)).toBe('applied: orphan');
    expect(await facts()).toMatchObject({ state: 'orphaned', flag: null, generation: 0 });
    expect(await walletOf(world, at)).toBe('0.000000');
    expect(await alerts()).toEqual([]);
    await expectNothingComesOf(world, () => world.read(ref));
  });

  it('what the wallet no longer has is owed, told, and taken from what comes in later', async () => {
    await spend(7_000_000n);
    await changed({ status: 'failed' });
    await decide('orphan');
    await world.read(ref);
    const { receivable } = await accounts();
    expect(await walletOf(world, at)).toBe('0.000000');
    expect(await balanceOf(world.pool, receivable)).toBe(-7_000_000n);
    expect(await alerts()).toEqual(['receivable_open']);
    const owner = { type: 'customer', id: at.customerId, ref: `customer-${customers}` };
    const movement_id = expect.stringMatching(/^mov_/);
    const owed = (amount: string) => ({
      ...{ object: 'receivable', owner, movement_id, amount: { amount, asset: 'USDT-TRC20' } },
    });
    expect(await eventsOf('receivable.opened')).toEqual([owed('7.000000')]);

    await world.read(await world.arrive(at, { amount: '2' }));
    expect(await walletOf(world, at)).toBe('0.000000');
    expect(await balanceOf(world.pool, receivable)).toBe(-5_000_000n);
    expect(await eventsOf('receivable.settled')).toEqual([]);

    await world.read(await world.arrive(at, { amount: '6' }));
    expect(await walletOf(world, at)).toBe('1.000000');
    expect(await balanceOf(world.pool, receivable)).toBe(0n);
    expect(await alerts()).toEqual([]);
    expect(await eventsOf('receivable.settled')).toEqual([owed('0.000000')]);
    expect(await eventsOf('receivable.opened')).toHaveLength(1);
  });

  it('that completes after all is credited in the next generation', async () => {
    await changed({ status: 'failed' });
    await decide('orphan');
    await world.read(ref);
    await changed({ status: 'completed' });
    expect(await facts()).toMatchObject({ state: 'final', generation: 1, credited: '10000000' });
    expect(await walletOf(world, at)).toBe('10.000000');
    await expectNothingComesOf(world, () => world.read(ref));
  });

  it('and completes again before the decision is applied keeps its money: the decision is void', async () => {
    await changed({ status: 'failed' });
    const decision = await decide('orphan');
    await changed({ status: 'completed' });
    expect(await outcome(decision)).toBe('void: what was seen has changed');
    expect(await facts()).toMatchObject({ state: 'final', flag: null });
    expect(await walletOf(world, at)).toBe('10.000000');
  });
});

describe('a contradiction that a person accepts', () => {
  it('moves nothing, and is silent while it stays the same', async () => {
    await changed({ amount: '12' });
    expect(await facts()).toMatchObject({ state: 'final', flag: 'amount_changed_after_credit', reported: '10' });
    expect(await alerts()).toEqual(['deposit_needs_person']);
    const decision = await decide('accept');
    await world.read(ref);
    expect(await outcome(decision)).toBe('applied: accept');
    for (const again of [() => world.read(ref), () => world.page()]) {
      await expectNothingComesOf(world, again);
      expect(await facts()).toMatchObject({ state: 'final', flag: null, version: 4 });
      expect(await alerts()).toEqual([]);
    }
    expect(await walletOf(world, at)).toBe('10.000000');
  });

  it('is news again with another amount, and another still', async () => {
    for (const amount of ['12', '13']) {
      await changed({ amount });
      expect(await facts()).toMatchObject({ flag: 'amount_changed_after_credit' });
      expect(await alerts()).toEqual(['deposit_needs_person']);
      expect(await outcome(await decide('accept').then(async (made) => (await world.read(ref), made)))).toBe(
        'applied: accept',
      );
      expect(await facts()).toMatchObject({ flag: null });
    }
    await changed({ status: 'failed' });
    expect(await facts()).toMatchObject({ flag: 'failed_after_credit' });
    await changed({ status: 'completed', amount: '10' });
    expect(await facts()).toMatchObject({ flag: null });
    expect(await alerts()).toEqual([]);
  });

  it('may still be taken back: accepting a failure is not for ever', async () => {
    await changed({ status: 'failed' });
    await decide('accept');
    await world.read(ref);
    expect(await facts()).toMatchObject({ state: 'final', flag: null });
    const decision = await decide('orphan');
    await world.read(ref);
    expect(await outcome(decision)).toBe('applied: orphan');
    expect(await walletOf(world, at)).toBe('0.000000');
  });

  it.each([
    ['amount', { amount: '12' }],
    ['transaction', { tx_hash: 'e'.repeat(64) }],
  ])('of its %s cannot be taken back as if it had failed', async (_, change) => {
    await changed(change);
    const decision = await decide('orphan');
    await world.read(ref);
    expect(await outcome(decision)).toMatch(/^void: only a final deposit that the custodian says has failed/);
    expect(await facts()).toMatchObject({ state: 'final' });
    expect(await walletOf(world, at)).toBe('10.000000');
    await decide('accept');
    await world.read(ref);
  });
});
