import type pg from 'pg';
import { createMerchant } from '../../src/db/merchants.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { decideAs, makePerson, outcomeOf, seenNow } from '../support/decisions.js';
import {
  depositOf,
  expectDepositInvariants,
  expectNothingComesOf,
  inboxOf,
  openAlerts,
  pathOf,
} from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let console: pg.Pool;
let userId: string;
let customers = 0;
let at: MadeAddress;

beforeAll(async () => {
  world = await openDepositWorld();
  console = createPool(world.database.urlFor('console'), { max: 2, applicationName: 'test' });
  userId = await makePerson(world.owner, 'operator');
});
beforeEach(async () => {
  at = await world.address({ customerRef: `customer-${(customers += 1)}` });
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await console.end();
  await world.close();
});

const FINE = '0.0000001';
const factsOf = (ref: string) => depositOf(world.owner, ref);

/** A deposit that was read once. */
async function arrived(body: Record<string, unknown>): Promise<{ ref: string; id: string }> {
  const ref = await world.arrive(at, body);
  await world.read(ref);
  return { ref, id: (await factsOf(ref)).id };
}

const decide = (id: string, choice: string, seenHash?: Buffer) =>
  decideAs(console, { type: 'deposit', id, choice, userId, ...(seenHash ? { seenHash } : {}) });
const outcome = (decision: string) => outcomeOf(world.owner, decision);
const alertOf = async (id: string) => (await openAlerts(world.owner)).filter((alert) => alert.includes(id));

describe('a parked deposit', () => {
  it('that is tried again after the record was corrected is credited, once', async () => {
    const { ref, id } = await arrived({ amount: FINE });
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reason: 'amount_too_precise' });
    expect(await alertOf(id)).toEqual([`deposit_needs_person deposit:${id}`]);
    await world.change(ref, { amount: '3' });
    await world.read(ref);
    // The record is fine now, and still nothing happens by itself.
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reported: '3' });
    const decision = await decide(id, 'retry');
    expect(await world.read(ref)).toMatchObject({ state: 'final', ended: true });
    expect(await outcome(decision)).toBe('applied: retry');
    expect(await pathOf(world.owner, id)).toEqual(['noticed', 'parked', 'confirming', 'credited', 'final']);
    const { rows } = await world.owner.query(
      `select actor, reason from sverka.audit where subject_id = $1 and to_state = 'confirming'`,
      [id],
    );
    expect(rows).toEqual([{ actor: `user:${userId}`, reason: 'by_decision' }]);
    expect(await walletOf(world, at)).toBe('3.000000');
    expect(await alertOf(id)).toEqual([]);
    await expectNothingComesOf(world, () => world.read(ref));
  });

  it('that is tried again although nothing was corrected is parked again, and a person may decide anew', async () => {
    const { ref, id } = await arrived({ amount: FINE });
    const first = await decide(id, 'retry');
    await world.read(ref);
    expect(await outcome(first)).toBe('applied: retry');
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reason: 'amount_too_precise' });
    expect(await alertOf(id)).toHaveLength(1);
    const second = await decide(id, 'reject');
    expect(await world.read(ref)).toMatchObject({ state: 'rejected', reason: 'by_decision' });
    expect(await outcome(second)).toBe('applied: reject');
    expect(await alertOf(id)).toEqual([]);
    expect(await walletOf(world, at)).toBe('0.000000');
  });

  it('that the journal would not book is parked again as long as it would not', async () => {
    const full = await world.address({ merchantId: await createMerchant(queriesOf(world.owner), 'Full') });
    await world.read(await world.arrive(full, { amount: '9223372036854.775807' }));
    const ref = await world.arrive(full, { amount: '1' });
    await world.read(ref);
    const { id, reason } = await factsOf(ref);
    expect(reason).toBe('journal_out_of_range');
    const decision = await decide(id, 'retry');
    await world.read(ref);
    expect(await outcome(decision)).toBe('applied: retry');
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reason: 'journal_out_of_range' });
  });

  it('whose output was credited before under another id is not credited again by a person either', async () => {
    const output = { tx_hash: `${'c'.repeat(63)}1`, output_index: 0 };
    await arrived({ amount: '2', ...output });
    const { ref, id } = await arrived({ amount: '3', ...output });
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reason: 'output_differs' });
    const decision = await decide(id, 'retry');
    await world.read(ref);
    expect(await outcome(decision)).toBe('applied: retry');
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reason: 'output_differs' });
    expect(await walletOf(world, at)).toBe('2.000000');
  });

  it('of another network and asset is credited as what the corrected record says', async () => {
    const { ref, id } = await arrived({ amount: '4', network: 'ethereum', asset: 'ETH' });
    expect(await factsOf(ref)).toMatchObject({ state: 'parked', reason: 'wrong_network' });
    await world.change(ref, { network: 'tron', asset: 'USDT-TRC20' });
    await world.read(ref);
    await decide(id, 'retry');
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    expect(await walletOf(world, at)).toBe('4.000000');
    // The output is taken under its right name: another record of it is a copy, and it can be taken back.
    const { hash } = await factsOf(ref);
    const copy = await arrived({ amount: '4', tx_hash: hash, output_index: 0 });
    expect(await factsOf(copy.ref)).toMatchObject({ state: 'dropped', reason: 'same_output' });
    await world.change(ref, { status: 'failed' });
    await world.read(ref);
    await decide(id, 'orphan');
    expect(await world.read(ref)).toMatchObject({ state: 'orphaned' });
    expect(await walletOf(world, at)).toBe('0.000000');
  });

  it('that a person rejected raises no flag for being completed, which was known', async () => {
    const { ref, id } = await arrived({ amount: '3', asset: 'USDC-ETH' });
    await world.change(ref, { asset: 'USDT-TRC20' });
    await world.read(ref);
    await decide(id, 'reject');
    await world.read(ref);
    expect(await factsOf(ref)).toMatchObject({ state: 'rejected', flag: null });
    await world.read(ref);
    expect(await factsOf(ref)).toMatchObject({ state: 'rejected', flag: null });
    // What comes later is news.
    await world.change(ref, { amount: '4' });
    await world.read(ref);
    expect(await factsOf(ref)).toMatchObject({ state: 'rejected', flag: 'completed_after_rejection' });
  });
});

describe('a decision is bound to what was seen', () => {
  it.each<[string, Record<string, unknown>]>([
    ['the amount', { amount: '0.00000012' }],
    ['the asset', { asset: 'USDC-ETH' }],
    ['the network', { network: 'ethereum' }],
    ['the status', { status: 'failed' }],
    ['a status that we do not know', { status: 'mystery' }],
    ['the transaction', { tx_hash: 'd'.repeat(64) }],
    ['the output', { output_index: 7 }],
  ])('%s that changes at the custodian voids it, whoever reads first', async (_, change) => {
    const { ref, id } = await arrived({ amount: FINE });
    const decision = await decide(id, 'retry');
    await world.change(ref, change);
    await world.read(ref);
    expect(await outcome(decision)).toBe('void: what was seen has changed');
    expect(await factsOf(ref)).toMatchObject({ state: 'parked' });
    // A person looks again, and what is decided then is applied.
    const again = await decide(id, 'reject');
    await world.read(ref);
    expect(await outcome(again)).toBe('applied: reject');
  });

  it('one that was made on an older look is void, also when the record stands still', async () => {
    const { ref, id } = await arrived({ amount: FINE });
    const seen = await seenNow(world.owner, { type: 'deposit', id });
    await world.change(ref, { amount: '3' });
    await world.read(ref);
    const decision = await decide(id, 'retry', seen);
    await world.read(ref);
    expect(await outcome(decision)).toBe('void: what was seen has changed');
    expect(await walletOf(world, at)).toBe('0.000000');
  });

  it('one on a deposit that waits for nobody is void', async () => {
    const { ref, id } = await arrived({ amount: '3' });
    for (const choice of ['retry', 'reject', 'orphan', 'accept']) {
      const decision = await decide(id, choice);
      await world.read(ref);
      expect(await outcome(decision)).toMatch(/^void: /);
    }
    expect(await factsOf(ref)).toMatchObject({ state: 'final', version: 4 });
  });

  it('of eight readers at once one applies it, and it is applied once', async () => {
    const { ref, id } = await arrived({ amount: FINE });
    await world.change(ref, { amount: '3' });
    await world.read(ref);
    const decision = await decide(id, 'retry');
    await Promise.all(Array.from({ length: 8 }, () => world.read(ref)));
    expect(await outcome(decision)).toBe('applied: retry');
    expect(await walletOf(world, at)).toBe('3.000000');
  });
});

describe('the sweep', () => {
  it('makes a decision one due notification, which is done when it was applied', async () => {
    const { ref, id } = await arrived({ amount: FINE });
    const decision = await decide(id, 'reject');
    world.nudges.length = 0;
    await world.sweep();
    await world.sweep();
    expect(world.nudges.filter((nudge) => nudge.ref === ref)).toEqual([{ ref, start: true }]);
    const mine = () => inboxOf(world.owner, `subject_ref = '${ref}'`);
    expect(await mine()).toEqual([
      { delivery: `decision:${decision}`, ref, status: 'pending', reason: 'decided', waits: null },
    ]);
    await world.read(ref);
    expect(await mine()).toMatchObject([{ status: 'done' }]);
    expect(await outcome(decision)).toBe('applied: reject');
    world.nudges.length = 0;
    await world.sweep();
    expect(world.nudges.filter((nudge) => nudge.ref === ref)).toEqual([]);
  });

  it('asks again when nobody came for it, and a page of reconciliation applies it as well', async () => {
    const { ref, id } = await arrived({ amount: FINE });
    const decision = await decide(id, 'reject');
    await world.sweep();
    world.nudges.length = 0;
    await world.owner.query(
      `update sverka.inbox set next_attempt_at = clock_timestamp(), received_at = received_at - interval '1 minute'
        where delivery_id = $1`,
      [`decision:${decision}`],
    );
    await world.sweep();
    expect(world.nudges).toContainEqual({ ref, start: true });
    await world.page();
    expect(await outcome(decision)).toBe('applied: reject');
    expect(await inboxOf(world.owner, `subject_ref = '${ref}'`)).toMatchObject([{ status: 'done' }]);
  });
});
