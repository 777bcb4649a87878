import { takeBalanceStep } from '../../src/activities/balance-checks.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';
import type { ToldWebhook } from '../support/pert-webhooks.js';

let world: BalanceWorld;
beforeEach(async () => {
  world = await openBalanceWorld();
  await world.move({ from: null, to: 'a', currency: 'USDT', amount: '100' });
  await world.check();
  await world.webhooks();
});
afterEach(() => world.close());

const move = (amount: string, more: object = {}) =>
  world.move({ from: 'a', to: 'b', currency: 'USDT', amount, ...more });
const alerts = async () =>
  (await world.tx.query<{ kind: string }>(`select kind from sverka.alert where state = 'open' order by kind`)).map(
    ({ kind }) => kind,
  );
const fault = (body: object) => world.pert.drive('POST', '/_sim/faults', body);
/** A test whose fault was met by nobody has shown nothing. */
async function wasMet(id: string): Promise<void> {
  const { faults } = (await world.pert.drive('GET', '/_sim/faults')) as unknown as {
    faults: { id: string; hits: number }[];
  };
  expect(faults.find((each) => each.id === id)?.hits).toBeGreaterThan(0);
}
const CHANGES = { method: 'GET', path: '/transactions/changes' };

async function agrees(): Promise<void> {
  expect(await world.sums()).toEqual(await world.theirSums());
}

/** The same notification with other members. */
function altered({ deliveryId, body }: ToldWebhook, change: (text: string) => string): ToldWebhook {
  return { deliveryId: `${deliveryId}-altered`, body: Buffer.from(change(body.toString('utf8'))) };
}

describe('a difference', () => {
  /** What our sum is off by, although every page was read: as if a bug had moved it. */
  const spoil = () => world.owner.query(`update sverka.balance_currency set base = base + 5 where currency = 'USDT'`);

  test('that is over at the next check is never an alert [CASES D13]', async () => {
    await spoil();
    expect(await world.check()).toBe('differs');
    const rows = await world.tx.query(
      `select differs_since is not null as since from sverka.balance_currency where currency = 'USDT'`,
    );
    expect(rows).toEqual([{ since: true }]);
    await world.owner.query(`update sverka.balance_currency set base = base - 5 where currency = 'USDT'`);
    expect(await world.check()).toBe('equal');
    expect(await alerts()).toEqual([]);
    await agrees();
  });

  test('that lasts three checks is an alert, and theirs is the truth [CASES D13]', async () => {
    await spoil();
    expect([await world.check(), await world.check()]).toEqual(['differs', 'differs']);
    expect(await alerts()).toEqual([]);
    expect(await world.check()).toBe('differs');
    expect(await alerts()).toEqual(['balance_difference']);
    await agrees();
    const [last] = await world.tx.query(
      `select actions, consecutive_differences as consecutive, currencies from sverka.balance_check
        order by started_at desc limit 1`,
    );
    expect(last).toEqual({
      actions: ['compared', 'accepted'],
      consecutive: 3,
      currencies: [{ currency: 'USDT', ours: '105', theirs: '100', difference: '5' }],
    });
    expect(await world.check()).toBe('equal');
    expect(await alerts()).toEqual([]);
  });

  test('in what is frozen or held is none: like is compared with like', async () => {
    await move('10', { held: true });
    await world.pert.drive('PATCH', '/_sim/balances', { currency: 'USDT', frozen: '3' });
    expect(await world.check()).toBe('equal');
    const rows = await world.tx.query(
      `select confirmed::text, frozen::text, held::text, available::text from sverka.balance_currency
        where currency = 'USDT'`,
    );
    expect(rows).toEqual([{ confirmed: '100', frozen: '3', held: '10', available: '87' }]);
  });
});

describe('one version with two balances [CASES D10]', () => {
  test.each([[false], [true]])('is the later one, noted, and never a sum (turned: %s)', async (isTurned) => {
    await move('5');
    const [told] = await world.webhooks();
    if (!told) throw new Error('There is no webhook.');
    const other = altered(told, (text) => text.replaceAll('"95"', '"97"').replace(/"id":"([^"]+)"/, '"id":"$1-other"'));
    const both = isTurned ? [other, told] : [told, other];
    for (const one of both) {
      await world.deliver([one]);
      await world.drain();
    }
    expect((await world.addresses())['a USDT']).toBe(isTurned ? '95' : '97');
    const { rowCount } = await world.owner.query('select from sverka.balance_conflict');
    expect(rowCount).toBe(1);
    await world.check();
    await agrees();
  });
});

describe('a page', () => {
  test('without a next cursor is stored and keeps the position, and is told when it repeats [CASES D06]', async () => {
    const { id } = await fault({ fault: 'no_next_cursor', value: 'null', match: CHANGES });
    await move('1');
    expect(await world.check()).toBe('equal');
    await move('1');
    await world.check();
    await wasMet(id);
    await world.pert.drive('DELETE', `/_sim/faults/${id}`);
    await world.check();
    await agrees();
    expect((await world.addresses())['a USDT']).toBe('98');
  });

  test('with a bad item: kept and told, the others applied, and it is tried again [CASES D08]', async () => {
    const { id } = await fault({ fault: 'bad_item', index: 1, times: 1, match: CHANGES });
    for (const to of ['b', 'c', 'd']) await world.move({ from: 'a', to, currency: 'USDT', amount: '1' });
    await world.check();
    await wasMet(id);
    expect(await alerts()).toContain('unreadable_record');
    const rows = await world.tx.query<{ raw: string }>('select raw from sverka.balance_bad_item');
    expect(rows).toHaveLength(1);
    expect(await world.addresses()).toMatchObject({ 'a USDT': '97', 'b USDT': '1', 'd USDT': '1' });
    // The fault was met once: now its page has the item as it is, and the next check comes back for it.
    await world.check();
    expect(await alerts()).toEqual([]);
    await agrees();
    expect(await world.addresses()).toEqual(await world.theirAddresses());
  });

  test.each([['repeated_page'], ['lying_more'], ['silently_fewer'], ['growing']])(
    'that is %s ends, and heals',
    async (name) => {
      const { id } = await fault({ fault: name, value: true, match: CHANGES, times: 2 });
      for (let n = 0; n < 5; n += 1) await move('1');
      await world.check();
      await wasMet(id);
      await world.pert.drive('DELETE', `/_sim/faults/${id}`).catch(() => undefined);
      await move('1');
      await world.check();
      await world.check();
      await agrees();
      expect(await world.addresses()).toEqual(await world.theirAddresses());
    },
  );
});

test('a reset while newer webhooks land shows what they told, and no old version comes back [CASES D12]', async () => {
  await move('1');
  const old = await world.webhooks();
  await world.check();
  for (let n = 0; n < 8; n += 1) await move('1');
  const news = await world.webhooks();
  await world.pert.drive('POST', '/_sim/retention', { keep: 2 });
  await world.deliver(news.slice(-2));
  await world.drain();
  expect(await world.check()).toBe('rebased');
  await world.deliver(old);
  await world.drain();
  await agrees();
  expect(await world.addresses()).toMatchObject({ 'a USDT': '91', 'b USDT': '9' });
});

test('two workers on one source apply each page once', async () => {
  for (let n = 0; n < 40; n += 1) await move('1');
  await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
  const run = async () => {
    for (let steps = 0; steps < 30; steps += 1) {
      const step = await takeBalanceStep(world.deps, SOURCE).catch(() => null);
      if (step?.kind === 'ended') return;
    }
  };
  await Promise.all([run(), run()]);
  await world.check();
  await agrees();
  expect(await world.addresses()).toEqual({ 'a USDT': '60', 'b USDT': '40' });
});

test.each(['unauthorized', 'garbage', 'truncated'])('a call that is answered by %s changes nothing', async (name) => {
  await move('1');
  const { id } = await fault({ fault: name, match: CHANGES });
  await expect(world.check()).rejects.toThrow(/readChanges/);
  await wasMet(id);
  await world.pert.drive('DELETE', `/_sim/faults/${id}`);
  expect(await world.check()).toBe('equal');
  await agrees();
});
