import { createMerchant } from '../../src/db/merchants.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { CustodyDepositPage } from '../../src/providers/custody/schema.js';
import {
  depositOf,
  expectDepositInvariants,
  expectNothingComesOf,
  inboxOf,
  openAlerts,
} from '../support/deposit-facts.js';
import { CANARY_CARD, type DepositWorld, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
/** What the custodian's page becomes on its way, and how often one was asked for; the record is the real one. */
let onTheWay: (page: CustodyDepositPage) => CustodyDepositPage | Promise<CustodyDepositPage> = (page) => page;
let pagesAsked = 0;

beforeEach(async () => {
  onTheWay = (page) => page;
  pagesAsked = 0;
  world = await openDepositWorld({
    client: (real) => ({
      ...real,
      async readDepositChanges(...call) {
        pagesAsked += 1;
        return onTheWay(await real.readDepositChanges(...call));
      },
    }),
  });
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
  await world.close();
});

const cursorOf = async () =>
  (await world.owner.query<{ cursor: string | null }>('select cursor from sverka.source')).rows[0]?.cursor;
const statesOf = (refs: readonly string[]) =>
  Promise.all(refs.map(async (ref) => (await depositOf(world.owner, ref)).state));

it('reconciliation credits what no webhook told of, page by page, and finds nothing the second time', async () => {
  const at = await world.address();
  const refs = [];
  for (let n = 0; n < 205; n += 1) refs.push(await world.arrive(at, { amount: '0.01' }));
  expect(await world.page()).toEqual({ pages: 2, items: 205, changed: 205, unmatched: 0, unreadable: 0, more: false });
  expect(new Set(await statesOf(refs))).toEqual(new Set(['final']));
  expect(await walletOf(world, at)).toBe('2.050000');
  expect((await expectDepositInvariants(world.owner)).movements).toBe(205);
  const cursor = await cursorOf();
  await expectNothingComesOf(world, async () => {
    expect(await world.page()).toMatchObject({ pages: 1, items: 0, changed: 0 });
  });
  await world.owner.query('update sverka.source set cursor = null');
  await expectNothingComesOf(world, async () => {
    expect(await world.page()).toMatchObject({ items: 205, changed: 0 });
  });
  expect(await cursorOf()).toBe(cursor);
});

it('a deposit that stands twice in one page counts as it stands last', async () => {
  const at = await world.address();
  const ref = await world.arrive(at, { amount: '5' });
  onTheWay = ({ items, ...page }) => {
    const [item] = items;
    if (!item?.ok) throw new Error('The page is not as expected.');
    const early = { ok: true as const, record: { ...item.record, status: 'confirming' as const, amount: '4' } };
    return { ...page, items: [early, item] };
  };
  expect(await world.page()).toMatchObject({ items: 2, changed: 2 });
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final', credited: '5000000' });
});

it('a record outside the contract comes again alone, the others are applied, and the cursor passes', async () => {
  const at = await world.address();
  const good = [await world.arrive(at, { amount: '1' })];
  const bad = await world.arrive(at, { amount: `1e3 ${CANARY_CARD}` });
  const huge = await world.arrive(at, { amount: '123456789012345678901' });
  good.push(await world.arrive(at, { amount: '2' }));
  expect(await world.page()).toMatchObject({ items: 4, changed: 2, unreadable: 2, more: false });
  expect(await statesOf(good)).toEqual(['final', 'final']);
  expect(await inboxOf(world.owner)).toEqual(
    [
      { delivery: `due:deposit:${bad}`, ref: bad, status: 'pending', reason: 'unreadable_record', waits: null },
      { delivery: `due:deposit:${huge}`, ref: huge, status: 'pending', reason: 'amount_out_of_range', waits: null },
    ].sort((a, b) => (a.delivery < b.delivery ? -1 : 1)),
  );
  expect(await openAlerts(world.owner)).toEqual(['unreadable_record unreadable:custody:main-live']);
  expect(await world.page()).toMatchObject({ items: 0 });
  // Mended at the custodian, it comes again by itself.
  await world.change(bad, { amount: '3' });
  expect(await world.page()).toMatchObject({ items: 1, changed: 1 });
  expect(await walletOf(world, at)).toBe('6.000000');
});

it('an amount that would overflow the column when rounded does not fail the page', async () => {
  const at = await world.address();
  const over = await world.arrive(at, { amount: `${'9'.repeat(20)}.${'9'.repeat(30)}` });
  const good = await world.arrive(at, { amount: '1' });
  await world.page();
  expect(await depositOf(world.owner, over)).toMatchObject({
    state: 'parked',
    reason: 'amount_too_precise',
    reported: `${'9'.repeat(20)}.${'9'.repeat(30)}`,
  });
  expect(await statesOf([good])).toEqual(['final']);
});

it('thirty deposits that the journal refuses are parked, and the rest of their page is applied', async () => {
  const full = await world.address({ merchantId: await createMerchant(queriesOf(world.owner), 'Full') });
  const at = await world.address();
  await world.arrive(full, { amount: '9223372036854.775807' });
  const refused = [];
  for (let n = 0; n < 30; n += 1) refused.push(await world.arrive(full, { amount: '0.000001' }));
  const good = await world.arrive(at, { amount: '1' });
  await world.page();
  expect(new Set(await statesOf(refused))).toEqual(new Set(['parked']));
  expect(await statesOf([good])).toEqual(['final']);
  expect(await openAlerts(world.owner)).toHaveLength(30);
  await world.owner.query('update sverka.source set cursor = null');
  await expectNothingComesOf(world, () => world.page());
});

it('a deposit to an address that is not ours is kept unmatched, makes no money, and is alerted on once', async () => {
  const nowhere = `T${'9'.repeat(33)}`;
  const ref = await world.arrive(nowhere, { amount: '5', network: 'tron', asset: 'USDT-TRC20' });
  expect(await world.page()).toMatchObject({ items: 1, changed: 0, unmatched: 1 });
  expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'unmatched', reason: 'unknown_address' }]);
  expect(await expectDepositInvariants(world.owner)).toMatchObject({ movements: 0, accounts: 0 });
  await expectNothingComesOf(world, () => world.page());
});

it('a tag or address that only looks like ours is not ours', async () => {
  const at = await world.address();
  await world.arrive(at, { amount: '5', tag: '0' });
  await world.arrive(`${at.address} `, { amount: '5', network: 'tron', asset: 'USDT-TRC20' });
  await world.arrive(at.address.toLowerCase(), { amount: '5', network: 'tron', asset: 'USDT-TRC20' });
  expect(await world.page()).toMatchObject({ items: 3, changed: 0, unmatched: 3 });
  expect(await walletOf(world, at)).toBe('0.000000');
});

describe('the position', () => {
  it('stays where the page names no next one: items are stored, and repeating it is an alert (R3)', async () => {
    const at = await world.address();
    const first = await world.arrive(at, { amount: '1' });
    await world.page();
    const cursor = await cursorOf();
    const second = await world.arrive(at, { amount: '2' });
    onTheWay = (page) => ({ ...page, nextCursor: null });
    expect(await world.page()).toMatchObject({ changed: 1, more: false });
    expect(await statesOf([first, second])).toEqual(['final', 'final']);
    expect(await cursorOf()).toBe(cursor);
    expect(await openAlerts(world.owner)).toEqual([]);
    await expectNothingComesOf(world, () => world.page());
    expect(await openAlerts(world.owner)).toEqual(['cursor_missing cursor_missing:custody:main-live:deposits']);
    onTheWay = (page) => page;
    await world.page();
    expect(await cursorOf()).not.toBe(cursor);
    expect(await openAlerts(world.owner)).toEqual([]);
  });

  it('that leads back to itself is read no further, although the page says there is more', async () => {
    const at = await world.address();
    await world.arrive(at, { amount: '1' });
    await world.page();
    const cursor = (await cursorOf()) ?? '';
    onTheWay = (page) => ({ ...page, nextCursor: cursor, hasMore: true });
    pagesAsked = 0;
    expect(await world.page()).toMatchObject({ pages: 1, more: false });
    await world.page();
    expect(pagesAsked).toBe(2);
    expect(await openAlerts(world.owner)).toEqual(['cursor_missing cursor_missing:custody:main-live:deposits']);
  });

  it('that another reader moved meanwhile throws the page away', async () => {
    const at = await world.address();
    const ref = await world.arrive(at, { amount: '1' });
    let moved = false;
    onTheWay = async (page) => {
      if (!moved) await world.owner.query(`update sverka.source set cursor = 'elsewhere'`);
      moved = true;
      return page;
    };
    expect(await world.page()).toMatchObject({ items: 1, changed: 0 });
    expect(await cursorOf()).toBe('elsewhere');
    await expect(depositOf(world.owner, ref)).rejects.toThrow('There are 0 deposits');
    await world.owner.query('update sverka.source set cursor = null');
    expect(await world.page()).toMatchObject({ changed: 1 });
  });

  it('moves only with the effects of its page: when the commit fails, both are as before', async () => {
    const at = await world.address();
    const ref = await world.arrive(at, { amount: '1' });
    await world.page();
    const cursor = await cursorOf();
    const next = await world.arrive(at, { amount: '2' });
    await world.owner.query(`
      create function public.die() returns trigger language plpgsql security definer as $$
        begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
      create constraint trigger die after update on sverka.source deferrable initially deferred
        for each row execute function public.die()`);
    await expect(world.page()).rejects.toMatchObject({ name: expect.stringMatching(/^(CommitUnknown|Unavailable)$/) });
    expect(await cursorOf()).toBe(cursor);
    expect(await walletOf(world, at)).toBe('1.000000');
    await world.owner.query('drop trigger die on sverka.source');
    await world.page();
    expect(await statesOf([ref, next])).toEqual(['final', 'final']);
    expect(await walletOf(world, at)).toBe('3.000000');
  });
});

it('an answer that was overtaken while it was read is left as a due nudge, and nothing of it is applied', async () => {
  const at = await world.address();
  const ref = await world.arrive(at, { amount: '1', status: 'confirming' });
  onTheWay = async (page) => {
    await world.change(ref, { status: 'completed' });
    await world.read(ref);
    return page;
  };
  expect(await world.page()).toMatchObject({ items: 1, changed: 0 });
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final', status: 'completed' });
  expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'pending', reason: 'stale_answer' }]);
  // The next look settles it.
  await world.read(ref);
  expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'done' }]);
});

it('workflows are told of deposits that go on and of those that left waiting, once', async () => {
  const at = await world.address();
  const waits = await world.arrive(at, { amount: '1', status: 'seen' });
  await world.arrive(at, { amount: '1' });
  await world.page();
  expect(world.nudges).toEqual([{ ref: waits, start: true }]);
  await world.change(waits, { status: 'confirming' });
  await world.page();
  expect(world.nudges).toHaveLength(1);
  await world.change(waits, { status: 'completed' });
  await world.page();
  expect(world.nudges.slice(1)).toEqual([{ ref: waits, start: false }]);
});
