import { openAccounts } from '../../src/db/accounts.js';
import { createMerchant } from '../../src/db/merchants.js';
import { inTransaction, queriesOf } from '../../src/db/transaction.js';
import { draw, leg } from '../../src/domain/journal.js';
import {
  depositOf,
  expectDepositInvariants,
  expectNothingComesOf,
  openAlerts,
  pathOf,
} from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { balanceOf, movement, postNow } from '../support/journal-fixtures.js';

let world: DepositWorld;

beforeAll(async () => {
  world = await openDepositWorld();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await world.close();
});

describe('a completed deposit', () => {
  it('is credited and final at the first read, each move with its audit row and event, and never again', async () => {
    const at = await world.address({ customerRef: 'first' });
    const ref = await world.arrive(at, { amount: '25.5', status: 'completed' });
    const seen = await world.read(ref);
    expect(seen).toMatchObject({ state: 'final', ended: true, needsOperator: false, waitMs: expect.any(Number) });
    const facts = await depositOf(world.owner, ref);
    expect(facts).toMatchObject({
      state: 'final',
      credited: '25500000',
      asset: 'USDT-TRC20',
      reported: '25.5',
      generation: 0,
    });
    expect(facts.movements).toHaveLength(1);
    expect(await pathOf(world.owner, facts.id)).toEqual(['noticed', 'confirming', 'credited', 'final']);
    expect(await walletOf(world, at)).toBe('25.500000');
    await expectNothingComesOf(world, () => world.read(ref));
    await expectNothingComesOf(world, () => world.page());
    expect(await walletOf(world, at)).toBe('25.500000');
  });

  it('belongs to the owner of its address, whatever else the record says', async () => {
    const [mine, theirs] = [
      await world.address({ customerRef: 'mine' }),
      await world.address({ customerRef: 'theirs' }),
    ];
    const ref = await world.arrive(mine, { amount: '3' });
    await world.read(ref);
    expect((await depositOf(world.owner, ref)).customer).toBe(mine.customerId);
    // The custodian now names another address of ours: the money stays where it was booked.
    await world.change(ref, { address: theirs.address });
    await world.read(ref);
    expect((await depositOf(world.owner, ref)).customer).toBe(mine.customerId);
    expect([await walletOf(world, mine), await walletOf(world, theirs)]).toEqual(['3.000000', '0.000000']);
  });

  it('is credited in the currency that the custodian settled in, where the address says so', async () => {
    const at = await world.address({ customerRef: 'settled', settleIn: 'EUR' });
    const ref = await world.arrive(at, { amount: '10.009', settlement: null });
    expect(await world.read(ref)).toMatchObject({ state: 'confirming', reason: 'awaiting_settlement', ended: false });
    await world.change(ref, { settlement: { asset: 'EUR', amount: '9.20' } });
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    expect(await walletOf(world, { ...at, asset: 'EUR' })).toBe('9.20');
    expect(await walletOf(world, at)).toBe('0.000000');
  });
});

describe('what cannot be booked goes to a person', () => {
  it.each([
    ['another network', { network: 'ethereum' }, 'wrong_network'],
    ['another asset', { asset: 'USDC-ETH' }, 'wrong_asset'],
    ['a look-alike symbol', { asset: 'USDТ-TRC20' }, 'wrong_asset'],
    ['more digits than the asset has', { amount: '1.0000001' }, 'amount_too_precise'],
    ['more than the column holds', { amount: '9223372036854.775808' }, 'amount_out_of_range'],
    ['no transaction', { tx_hash: null }, 'no_transaction'],
    ['no position in its transaction', { output_index: null }, 'no_transaction'],
  ])('%s', async (name, body, reason) => {
    const at = await world.address({ customerRef: `parked-${name.replaceAll(/[^a-z]/g, '')}` });
    const ref = await world.arrive(at, { amount: '5', ...body });
    expect(await world.read(ref)).toMatchObject({
      state: 'parked',
      reason,
      needsOperator: true,
      ended: false,
      waitMs: null,
    });
    const facts = await depositOf(world.owner, ref);
    expect(facts).toMatchObject({ state: 'parked', reason, credited: null });
    expect(await openAlerts(world.owner)).toContain(`deposit_needs_person deposit:${facts.id}`);
    expect(await walletOf(world, at)).toBe('0.000000');
    await expectNothingComesOf(world, () => world.read(ref));
  });

  it('a settlement in another currency than the address has', async () => {
    const at = await world.address({ customerRef: 'wrong-settlement', settleIn: 'EUR' });
    const ref = await world.arrive(at, { amount: '5', settlement: { asset: 'USD', amount: '5.00' } });
    expect(await world.read(ref)).toMatchObject({ state: 'parked', reason: 'wrong_settlement_asset' });
  });

  it('a wallet that could not hold it, and its alert stays while it waits', async () => {
    const at = await world.address({ merchantId: await createMerchant(queriesOf(world.owner), 'Full') });
    const full = await world.arrive(at, { amount: '9223372036854.775807' });
    expect(await world.read(full)).toMatchObject({ state: 'final' });
    const over = await world.arrive(at, { amount: '0.000001' });
    expect(await world.read(over)).toMatchObject({ state: 'parked', reason: 'journal_out_of_range' });
    const alert = `deposit_needs_person deposit:${(await depositOf(world.owner, over)).id}`;
    expect(await openAlerts(world.owner)).toContain(alert);
    // A word that we do not know comes and goes: the deposit still needs its person.
    await world.change(over, { status: 'mystery' });
    await world.read(over);
    await world.change(over, { status: 'completed' });
    expect(await world.read(over)).toMatchObject({ state: 'parked', reason: 'journal_out_of_range' });
    expect(await openAlerts(world.owner)).toContain(alert);
  });

  it('a clearing account that could not hold it is named by a stable word, not by an account of ours', async () => {
    const merchantId = await createMerchant(queriesOf(world.owner), 'Two halves');
    const [one, two] = [await world.address({ merchantId, customerRef: 'a' }), await world.address({ merchantId })];
    const first = await world.arrive(one, { amount: '9223372036854.775807' });
    expect(await world.read(first)).toMatchObject({ state: 'final' });
    const second = await world.arrive(two, { amount: '2' });
    expect(await world.read(second)).toMatchObject({ state: 'parked', reason: 'journal_insufficient' });
  });
});

describe('what is no money', () => {
  it.each([
    ['zero', { amount: '0.000' }, 'rejected', 'zero_amount'],
    ['failed at the custodian', { status: 'failed' }, 'rejected', 'failed_at_provider'],
    ['replaced by another transaction', { status: 'replaced' }, 'dropped', 'replaced'],
  ])('%s', async (_name, body, state, reason) => {
    const at = await world.address({ customerRef: `none-${reason}` });
    const ref = await world.arrive(at, { amount: '5', ...body });
    expect(await world.read(ref)).toMatchObject({ state, reason, ended: true, needsOperator: false });
    expect(await walletOf(world, at)).toBe('0.000000');
    await expectNothingComesOf(world, () => world.read(ref));
  });

  it('an unconfirmed payment that was replaced stops waiting, and counts when it is mined after all', async () => {
    const at = await world.address({ customerRef: 'replaced' });
    const ref = await world.arrive(at, { amount: '0.1', status: 'seen' });
    expect(await world.read(ref)).toMatchObject({ state: 'confirming', ended: false });
    await world.change(ref, { status: 'replaced', replaced_by: 'cdp_other' });
    expect(await world.read(ref)).toMatchObject({ state: 'dropped', ended: true });
    await world.change(ref, { status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    const facts = await depositOf(world.owner, ref);
    expect(facts.generation).toBe(1);
    expect(await pathOf(world.owner, facts.id)).toEqual([
      'noticed',
      'confirming',
      'dropped',
      'confirming',
      'credited',
      'final',
    ]);
    expect(await walletOf(world, at)).toBe('0.100000');
  });

  it('a rejected deposit that is said to be completed stays rejected, flagged for a person', async () => {
    const at = await world.address({ customerRef: 'rejected-then' });
    const ref = await world.arrive(at, { amount: '5', status: 'failed' });
    await world.read(ref);
    await world.change(ref, { status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'rejected', reason: 'completed_after_rejection' });
    expect(await walletOf(world, at)).toBe('0.000000');
  });
});

describe('a record that contradicts what was booked moves nothing and is flagged', () => {
  it.each([
    ['another amount', { amount: '6' }, 'amount_changed_after_credit'],
    ['failed', { status: 'failed' }, 'failed_after_credit'],
    ['replaced', { status: 'replaced' }, 'failed_after_credit'],
    ['another asset', { asset: 'USDC-ETH' }, 'wrong_asset_after_credit'],
    ['another transaction', { tx_hash: 'f'.repeat(64) }, 'transaction_changed_after_credit'],
    ['another position', { output_index: 7 }, 'transaction_changed_after_credit'],
    ['a word that we do not know', { status: 'mystery' }, 'unknown_provider_status'],
  ])('%s', async (name, body, flag) => {
    const at = await world.address({ customerRef: `flag-${name.replaceAll(' ', '-')}` });
    const ref = await world.arrive(at, { amount: '5' });
    await world.read(ref);
    const before = await depositOf(world.owner, ref);
    const alert = `deposit_needs_person deposit:${before.id}`;
    expect(await openAlerts(world.owner)).not.toContain(alert);
    await world.change(ref, body);
    expect(await world.read(ref)).toMatchObject({ state: 'final', reason: flag, needsOperator: true });
    const after = await depositOf(world.owner, ref);
    // What was credited stays as it was, and so does the name of the output under which it was credited.
    expect(after).toEqual({ ...before, flag, status: 'status' in body ? body.status : 'completed' });
    expect(await openAlerts(world.owner)).toContain(alert);
    await expectNothingComesOf(world, () => world.read(ref));
    expect(await walletOf(world, at)).toBe('5.000000');
  });

  it('and the flag goes when the record agrees again', async () => {
    const at = await world.address({ customerRef: 'agrees-again' });
    const ref = await world.arrive(at, { amount: '5' });
    await world.read(ref);
    await world.change(ref, { amount: '6' });
    await world.read(ref);
    await world.change(ref, { amount: '5.0' });
    expect(await world.read(ref)).toMatchObject({ state: 'final', reason: null, needsOperator: false });
    const { id } = await depositOf(world.owner, ref);
    expect(await openAlerts(world.owner)).not.toContain(`deposit_needs_person deposit:${id}`);
  });

  it('a word that we do not know leaves a waiting deposit as it is, until the word is known again', async () => {
    const at = await world.address({ customerRef: 'word' });
    const ref = await world.arrive(at, { amount: '5', status: 'COMPLETED' });
    const seen = await world.read(ref);
    expect(seen).toMatchObject({
      state: 'noticed',
      reason: 'unknown_provider_status',
      needsOperator: true,
      ended: false,
    });
    expect(await walletOf(world, at)).toBe('0.000000');
    await world.change(ref, { status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'final', needsOperator: false });
    expect(await walletOf(world, at)).toBe('5.000000');
  });
});

describe('a waiting deposit that the custodian no longer shows', () => {
  it('keeps its state, is flagged with an alert when that lasts, and goes on when it is shown again', async () => {
    const at = await world.address({ customerRef: 'absent' });
    const ref = await world.arrive(at, { amount: '5', status: 'seen' });
    await world.read(ref);
    await world.owner.query(
      `update sverka.deposit set last_read_at = now() - interval '1 day' where provider_ref = $1`,
      [ref],
    );
    const { id } = await depositOf(world.owner, ref);
    const alert = `deposit_needs_person deposit:${id}`;
    await world.drive('POST', '/_sim/faults', { match: { reference: ref }, fault: 'not_found', times: 2 });
    expect(await world.read(ref)).toMatchObject({ state: 'not_found', ended: false, needsOperator: false });
    // It counts as read: the sweep does not come for it at every turn.
    const { rows } = await world.owner.query(
      `select last_read_at > now() - interval '1 minute' as fresh from sverka.deposit where provider_ref = $1`,
      [ref],
    );
    expect([rows, await openAlerts(world.owner)]).toEqual([[{ fresh: true }], expect.not.arrayContaining([alert])]);
    expect(await world.read(ref, { absentMs: 3_600_000 })).toMatchObject({ ended: true, needsOperator: true });
    expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'confirming', flag: 'not_at_provider' });
    expect(await openAlerts(world.owner)).toContain(alert);
    await world.change(ref, { status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'final', reason: null });
    expect(await openAlerts(world.owner)).not.toContain(alert);
    expect(await walletOf(world, at)).toBe('5.000000');
  });
});

it('what an owner owes is taken from a deposit that comes in, in the same commit', async () => {
  const at = await world.address({ customerRef: 'owes' });
  const owner = { book: 'live' as const, merchantId: world.merchantId, customerId: at.customerId, asset: 'USDT-TRC20' };
  const [wallet, receivable, clearing] = await inTransaction(world.pool, (tx) =>
    openAccounts(tx, [
      { ...owner, kind: 'wallet' },
      { ...owner, kind: 'receivable' },
      { ...owner, customerId: null, kind: 'clearing:custody' },
    ]),
  );
  const takeBack = movement([leg(wallet, -3_000_000n), draw(receivable), leg(clearing, 3_000_000n)]);
  expect(await postNow(world.pool, takeBack)).toMatchObject([{ outcome: 'posted' }]);
  const ref = await world.arrive(at, { amount: '5' });
  await world.read(ref);
  expect(await walletOf(world, at)).toBe('2.000000');
  expect(await balanceOf(world.pool, receivable)).toBe(0n);
  await expectNothingComesOf(world, () => world.read(ref));
});

it('eighteen decimals are credited and added to the last digit', async () => {
  const at = await world.address({ customerRef: 'wei', network: 'ethereum', asset: 'ETH' });
  for (const amount of ['12345678901234567890.123456789012345678', '0.000000000000000001']) {
    expect(await world.read(await world.arrive(at, { amount }))).toMatchObject({ state: 'final' });
  }
  expect(await walletOf(world, { ...at, asset: 'ETH' })).toBe('12345678901234567890.123456789012345679');
});
