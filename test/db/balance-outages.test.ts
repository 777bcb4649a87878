import { createMerchant } from '../../src/db/merchants.js';
import { type BalanceWorld, openBalanceWorld } from '../support/balance-world.js';
import { countMoneyRows } from '../support/money-invariants.js';
import type { ToldWebhook } from '../support/pert-webhooks.js';

/** Days pass by the rows' own clock and by what the provider's journal keeps: nothing here waits for either. */
const ADDRESSES = Array.from({ length: 40 }, (_, n) => `address-${n}`);
const MOVED_ON = 4_000;

let world: BalanceWorld;
let merchantId: string;
/** Told before the outage, and never delivered again until a test does. */
let old: readonly ToldWebhook[];
beforeEach(async () => {
  world = await openBalanceWorld();
  await move({ from: null, to: ADDRESSES, amount: '1000', count: ADDRESSES.length });
  await world.check();
  merchantId = await createMerchant(world.tx, 'Mirrored');
  await world.owner.query('update sverka.balance_source set merchant_id = $1', [merchantId]);
  await move({ from: ADDRESSES, to: ADDRESSES.toReversed(), amount: '1', count: 40, webhooks: true });
  old = await world.webhooks();
  await world.deliver(old.slice(0, 30));
  await world.drain();
  await world.check();
});
afterEach(async () => {
  await nothingIsPosted();
  await world.close();
});

/** A mirror never posts. */
async function nothingIsPosted(): Promise<void> {
  expect((await countMoneyRows(world.owner)).movements).toBe(0);
}

const move = (more: object) => world.move({ currency: 'USDT', webhooks: false, ...more });

/** Three days in which the worker is away: the provider moves on, and every webhook is lost. */
async function threeDaysPass(): Promise<void> {
  await world.owner.query(
    `update sverka.balance_source set checked_at = checked_at - interval '3 days',
       next_check_at = next_check_at - interval '3 days', created_at = created_at - interval '3 days'`,
  );
  await move({ from: ADDRESSES, to: ADDRESSES.toReversed(), amount: '0.01', count: MOVED_ON - 500 });
  await move({ from: null, to: ADDRESSES, amount: '0.5', count: 300 });
  await move({ from: ADDRESSES, to: null, amount: '0.25', count: 200 });
}
const lastCheck = async () => {
  const [row] = await world.tx.query(
    `select result, actions, changes_read as read, trigger from sverka.balance_check order by started_at desc limit 1`,
  );
  return row;
};
const lastAction = async () =>
  (await world.tx.query<{ last: string }>('select last_action as last from sverka.balance_source'))[0]?.last;
const staleOnes = async () =>
  (
    await world.owner.query(
      `select from sverka.balance_address a join sverka.balance_source s on s.id = a.source_id
        where a.resets < s.resets`,
    )
  ).rowCount;
const told = () =>
  world.tx.query<{ merchant: string; result: string }>(
    `select merchant_id as merchant, data ->> 'result' as result from sverka.event where type = 'balance.rebased'`,
  );

async function agrees(): Promise<void> {
  expect(await world.sums()).toEqual(await world.theirSums());
  expect(await world.addresses()).toEqual(await world.theirAddresses());
}

test('three days away, with a journal that still reaches back: it is back-filled, says so, and is healed', async () => {
  await threeDaysPass();
  expect(await world.check()).toBe('healed');
  expect(await lastCheck()).toEqual({
    ...{ result: 'healed', read: MOVED_ON, trigger: 'timer' },
    actions: ['compared', 'backfilled', 'compared'],
  });
  expect(await lastAction()).toBe('backfilled');
  expect(await staleOnes()).toBe(0);
  expect(await told()).toEqual([]);
  await agrees();
  // What was lost on its way turns up after all.
  await world.deliver(old);
  await world.drain();
  await agrees();
  expect(await world.check()).toBe('equal');
});

describe('three days away, and the journal no longer reaches back', () => {
  beforeEach(async () => {
    await threeDaysPass();
    await world.pert.drive('POST', '/_sim/retention', { keep: 100 });
  });

  test('it is reset, says so, and the merchant is told once', async () => {
    expect(await world.check()).toBe('rebased');
    expect(await lastCheck()).toMatchObject({ result: 'rebased', actions: ['compared', 'rebased'] });
    expect(await lastAction()).toBe('rebased');
    expect(await told()).toEqual([{ merchant: merchantId, result: 'rebased' }]);
    expect(await world.sums()).toEqual(await world.theirSums());
    expect(await world.check()).toBe('equal');
    expect(await told()).toHaveLength(1);
  });

  test('each address is stale until it is seen again, and no old version comes back', async () => {
    await world.check();
    const known = await world.addresses();
    expect(await staleOnes()).toBe(ADDRESSES.length);
    // All that was told before, once more: a repeat says nothing of what was missed.
    await world.deliver(old.map((each) => ({ ...each, deliveryId: `${each.deliveryId}-again` })));
    await world.drain();
    expect(await world.addresses()).toEqual(known);
    expect(await staleOnes()).toBe(ADDRESSES.length);
    const [seen, ...others] = ADDRESSES;
    await move({ from: null, to: seen, amount: '1', webhooks: true });
    await world.deliver(await world.webhooks());
    await world.drain();
    expect(await staleOnes()).toBe(others.length);
    await move({ from: null, to: others, amount: '1', count: others.length });
    expect(await world.check()).toBe('healed');
    expect(await staleOnes()).toBe(0);
    await agrees();
  });
});
