import { post } from '../../src/db/journal.js';
import { inTransaction } from '../../src/db/transaction.js';
import { leg } from '../../src/domain/journal.js';
import { notification } from '../support/deposit-deliveries.js';
import {
  depositOf,
  expectDepositInvariants,
  expectNothingComesOf,
  inboxOf,
  openAlerts,
  pathOf,
} from '../support/deposit-facts.js';
import { openTestRelay, type TestRelay } from '../support/deposit-relay.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { balanceOf, fund, keyOf, movement, openPurse } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';

/** A hundred reads at once take their time on a busy machine. */
const PATIENT = { SVERKA_SWEEP_GRACE: '1ms', SVERKA_PROVIDER_TIMEOUT: '50s', SVERKA_BREAKER_LEASE: '70s' };

let world: DepositWorld;
let relay: TestRelay;
let at: MadeAddress;
let customers = 0;

beforeAll(async () => {
  world = await openDepositWorld({ env: { ...PATIENT, SVERKA_UNMATCHED_ALERT_AGE: '1h' } });
  relay = await openTestRelay(world.database);
});
beforeEach(async () => {
  await world.owner.query('delete from sverka.inbox_conflict; delete from sverka.inbox; delete from sverka.alert');
  world.nudges.length = 0;
  at = await world.address({ customerRef: `c${(customers += 1)}` });
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await relay.close();
  await world.close();
});

const countOf = async (table: string) =>
  (await world.owner.query<{ n: number }>(`select count(*)::int as n from ${table}`)).rows[0]?.n;
const owners = async () => ({
  merchants: await countOf('sverka.merchant'),
  customers: await countOf('sverka.customer'),
  accounts: await countOf('ledger.account'),
  movements: await countOf('ledger.movement'),
});
/** Faults apply to one path each, so the read that follows meets them in this order. */
const failing = (ref: string, fault: Record<string, unknown>) =>
  world.drive('POST', '/_sim/faults', { match: { path: `/v1/deposits/${ref}` }, times: 1, ...fault });

it('of a hundred that wait, the one whose record cannot be read is set aside, 99 are booked [CASES A14]', async () => {
  const refs: string[] = [];
  for (let n = 1; n <= 100; n += 1) refs.push(await world.arrive(at, { amount: n === 37 ? 'much' : '1' }));
  const bodies = refs.map((ref) => notification(ref));
  const answers = await Promise.all(bodies.map((body) => relay.post(body)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await world.owner.query(`update sverka.inbox set received_at = received_at - interval '1 minute'`);
  expect(await world.sweep()).toMatchObject({ claimed: 100 });
  expect(new Set(world.nudges.map(({ ref }) => ref))).toEqual(new Set(refs));
  const reads: PromiseSettledResult<unknown>[] = [];
  for (let from = 0; from < refs.length; from += 10) {
    reads.push(...(await Promise.allSettled(refs.slice(from, from + 10).map((ref) => world.read(ref)))));
  }
  expect(reads.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  expect(await walletOf(world, at)).toBe('99.000000');
  expect(await inboxOf(world.owner, `status <> 'done'`)).toMatchObject([
    { ref: refs[36], status: 'pending', reason: 'unreadable_record' },
  ]);
  await world.change(refs[36] ?? '', { amount: '1' });
  await world.read(refs[36] ?? '');
  expect(await walletOf(world, at)).toBe('100.000000');
});

describe('a notice for what we do not know', () => {
  it('a deposit, an address or a merchant is kept and makes neither money nor owner [CASES A07]', async () => {
    const nowhere = await world.arrive(`T${'8'.repeat(33)}`, { amount: '5', network: 'tron', asset: 'USDT-TRC20' });
    const before = await owners();
    const strangers = [
      notification('cdp_never_was'),
      notification(nowhere),
      notification('cdp_of_a_stranger', { merchant_id: 'mer_nobody', amount: '1000000', status: 'completed' }),
    ];
    for (const body of strangers) expect((await relay.post(body)).status).toBe(200);
    for (const ref of ['cdp_never_was', nowhere, 'cdp_of_a_stranger']) await world.read(ref);
    expect(await owners()).toEqual(before);
    expect((await inboxOf(world.owner)).map(({ status, reason }) => [status, reason])).toEqual([
      ['unmatched', 'not_at_provider'],
      ['unmatched', 'unknown_address'],
      ['unmatched', 'not_at_provider'],
    ]);
    expect(await openAlerts(world.owner)).toEqual([]);
    // Past the bound a person is told, once for each.
    await world.owner.query(`update sverka.inbox set received_at = received_at - interval '2 hours'`);
    await world.sweep();
    await world.sweep();
    expect((await openAlerts(world.owner)).filter((alert) => alert.startsWith('unmatched '))).toHaveLength(3);
    expect(await owners()).toEqual(before);
  });

  it('a record answered 404, 404, then 200 is one credit and never a rejection [CASES A08]', async () => {
    const ref = await world.arrive(at, { amount: '5' });
    await relay.post(notification(ref));
    await failing(ref, { fault: 'not_found', times: 2 });
    expect([(await world.read(ref)).state, (await world.read(ref)).state]).toEqual(['not_found', 'not_found']);
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    expect(await pathOf(world.owner, (await depositOf(world.owner, ref)).id)).not.toContain('rejected');
    expect(await inboxOf(world.owner)).toMatchObject([{ status: 'done' }]);
    expect(await walletOf(world, at)).toBe('5.000000');
  });
});

it('a custodian that is limited, broken, cut, garbled and slow, one after the other: one credit', async () => {
  const slow = await openDepositWorld({ env: { SVERKA_PROVIDER_TIMEOUT: '1s' } });
  try {
    const to = await slow.address();
    const ref = await slow.arrive(to, { amount: '5' });
    const faults: [Record<string, unknown>, string][] = [
      [{ fault: 'status', status: 429, retry_after: 7 }, 'rate_limited'],
      [{ fault: 'status', status: 500 }, 'unavailable'],
      [{ fault: 'status', status: 503 }, 'unavailable'],
      [{ fault: 'truncated' }, 'unavailable'],
      [{ fault: 'garbage' }, 'garbage'],
      [{ fault: 'slow', ms: 3_000 }, 'unavailable'],
      [{ fault: 'timeout_after' }, 'unavailable'],
    ];
    for (const [fault, kind] of faults) {
      const match = { path: `/v1/deposits/${ref}` };
      await slow.drive('POST', '/_sim/faults', { match, times: 1, ...fault });
      await expect(slow.read(ref)).rejects.toMatchObject({ name: 'ProviderError', kind });
      expect(await slow.owner.query('select from sverka.deposit')).toMatchObject({ rowCount: 0 });
    }
    expect(await slow.read(ref)).toMatchObject({ state: 'final' });
    await expectNothingComesOf(slow, () => slow.read(ref));
    expect(await walletOf(slow, to)).toBe('5.000000');
  } finally {
    await slow.close();
  }
});

it('one connection is enough for everything, and it is free while the custodian hangs [CASES K10]', async () => {
  const narrow = await openDepositWorld({ connections: 1, env: PATIENT });
  try {
    const to = await narrow.address();
    const refs = await Promise.all([1, 2, 3, 4].map(() => narrow.arrive(to, { amount: '5' })));
    await narrow.drive('POST', '/_sim/faults', { match: { method: 'GET' }, fault: 'slow', ms: 400, times: 5 });
    const work = Promise.all([...refs.map((ref) => narrow.read(ref)), narrow.page(), narrow.sweep()]);
    await eventually(async () => {
      const { faults } = JSON.parse(JSON.stringify(await narrow.drive('GET', '/_sim/faults')));
      return faults[0].hits > 0;
    });
    // Others get the one connection meanwhile, and the custodian sees no transaction that waits for him.
    expect(await walletOf(narrow, to)).toBe('0.000000');
    await work;
    expect((await narrow.truth()).open_transactions).toMatchObject({ max: 0, measured: 5 });
    expect(await walletOf(narrow, to)).toBe('20.000000');
    await expectDepositInvariants(narrow.owner);
  } finally {
    await narrow.close();
  }
});

it('our own sweep of an address into a wallet of the custodian’s is no deposit of anybody [CASES H11]', async () => {
  const came = await world.arrive(at, { amount: '50', tx_hash: 'aa'.repeat(32), output_index: 0 });
  await world.read(came);
  const before = await owners();
  // The hot wallet is watched, too, so the custodian lists what comes in there; its address is nobody's of ours.
  const swept = await world.arrive(`T${'7'.repeat(33)}`, {
    ...{ amount: '50', network: 'tron', asset: 'USDT-TRC20', tx_hash: 'bb'.repeat(32), output_index: 0 },
  });
  await relay.post(notification(swept));
  expect(await world.read(swept)).toMatchObject({ state: 'unmatched', reason: 'unknown_address' });
  await world.page();
  expect(new Set((await inboxOf(world.owner)).map((row) => `${row.ref} ${row.status}`))).toContain(
    `${swept} unmatched`,
  );
  expect(await owners()).toEqual(before);
  expect(await walletOf(world, at)).toBe('50.000000');
});

it('a delivery that comes again after its row is gone is stored anew, read, and changes nothing', async () => {
  const ref = await world.arrive(at, { amount: '5' });
  const body = notification(ref);
  await relay.post(body);
  await world.read(ref);
  await world.owner.query('delete from sverka.inbox');
  const before = await expectDepositInvariants(world.owner);
  expect((await relay.post(body)).status).toBe(200);
  await world.read(ref);
  await world.page();
  expect(await expectDepositInvariants(world.owner)).toEqual(before);
  expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'done' }]);
  expect(await walletOf(world, at)).toBe('5.000000');
});

describe('amounts come through the whole way as they are written', () => {
  it.each([
    ['JPY', '500', 'final', '500'],
    ['JPY', '500.0', 'final', '500'],
    ['JPY', '0.5', 'parked', '0'],
    ['KWD', '1.234', 'final', '1.234'],
    ['BHD', '0.001', 'final', '0.001'],
    ['KWD', '1.2345', 'parked', '0.000'],
    ['EUR', '19.99', 'final', '19.99'],
    ['EUR', '4.35', 'final', '4.35'],
    ['EUR', '1.005', 'parked', '0.00'],
  ])('%s %s is %s with %s on the wallet [CASES C01 C03 C09]', async (settleIn, amount, state, shown) => {
    const to = await world.address({ customerRef: `money-${customers}`, settleIn });
    const ref = await world.arrive(to, { amount: '5', settlement: { asset: settleIn, amount } });
    expect(await world.read(ref)).toMatchObject({ state });
    expect(await walletOf(world, { ...to, asset: settleIn })).toBe(shown);
  });

  it.each(['-0', '-0.00', '-5', '0', '0.000'])('%s is never a movement [CASES C10]', async (amount) => {
    const ref = await world.arrive(at, { amount });
    await world.read(ref).catch((error: unknown) => expect(error).toMatchObject({ kind: 'garbage' }));
    expect(await walletOf(world, at)).toBe('0.000000');
  });

  it('the smallest and the largest of eighteen decimals never turn into an exponent [CASES C05 C06]', async () => {
    const to = await world.address({ customerRef: `eth-${customers}`, network: 'ethereum', asset: 'ETH' });
    const of = { network: 'ethereum', asset: 'ETH' };
    for (const amount of ['0.0000001', '12345678901234567890.123456789012345678']) {
      await world.read(await world.arrive(to, { ...of, amount }));
    }
    expect(await walletOf(world, { ...to, asset: 'ETH' })).toBe('12345678901234567890.123456889012345678');
    const exponent = '"[0-9.]+[eE][-+]?[0-9]+"';
    const { rows } = await world.owner.query('select from sverka.event e where e::text ~ $1', [exponent]);
    expect(rows).toEqual([]);
  });
});

describe('one hold settled and released at once, while another reservation has funds', () => {
  const race = async (shared: boolean) => {
    const purse = await openPurse(world.pool);
    await fund(world.pool, purse, { wallet: 200n });
    const second = shared ? purse.hold : purse.card;
    const move = (from: bigint, to: bigint, amount: bigint) =>
      movement([leg(from, -amount), leg(to, amount)], { key: keyOf() });
    const run = (...movements: ReturnType<typeof move>[]) =>
      inTransaction(world.pool, (tx) => post(tx, movements, { traceId: null }));
    await run(move(purse.wallet, purse.hold, 100n), move(purse.wallet, second, 100n));
    const results = await Promise.all([
      run(move(purse.hold, purse.clearing, 100n)),
      run(move(purse.hold, purse.wallet, 100n)),
    ]);
    await expectMoneyInvariants(world.owner);
    return {
      outcomes: new Set(results.map(([result]) => result?.outcome)),
      other: await balanceOf(world.pool, second),
    };
  };

  it('one of the two finds nothing, and the other reservation is whole [CASES G16]', async () => {
    expect(await race(false)).toEqual({ outcomes: new Set(['insufficient', 'posted']), other: 100n });
  });

  it('with one account for both reservations the second is spent: an account of its own is the guard', async () => {
    expect(await race(true)).toEqual({ outcomes: new Set(['posted']), other: 0n });
  });
});
