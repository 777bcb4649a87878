import { type BalanceWorld, openBalanceWorld } from '../support/balance-world.js';

/** The last position of two letters is 399: behind it cursors have three. */
const BEFORE_THREE_LETTERS = 397;
const CHANGES = { method: 'GET', path: '/transactions/changes' };
const ADDRESSES = ['a', 'b', 'c', 'd'];

let world: BalanceWorld;
afterEach(() => world.close());

async function open(firstPosition?: number): Promise<void> {
  world = await openBalanceWorld({}, firstPosition === undefined ? {} : { firstPosition });
  await world.move({ from: null, to: 'a', currency: 'USDT', amount: '1000', webhooks: false });
  await world.check();
}
const move = (count: number, more: object = {}) =>
  world.move({ from: null, to: ADDRESSES, currency: 'USDT', amount: '1', count, webhooks: false, ...more });
const retain = (keep: number) => world.pert.drive('POST', '/_sim/retention', { keep });
const fault = async (body: object) => (await world.pert.drive('POST', '/_sim/faults', { match: CHANGES, ...body })).id;
const mend = (id: string) => world.pert.drive('DELETE', `/_sim/faults/${id}`);
const hitsOf = async (id: string) => {
  const { faults } = (await world.pert.drive('GET', '/_sim/faults')) as unknown as {
    faults: { id: string; hits: number }[];
  };
  return faults.find((each) => each.id === id)?.hits ?? 0;
};
const positionOf = async () =>
  (await world.tx.query<{ cursor: string }>('select cursor from sverka.source'))[0]?.cursor ?? '';
const alerts = async () =>
  (await world.tx.query<{ kind: string }>(`select kind from sverka.alert where state = 'open' order by kind`)).map(
    ({ kind }) => kind,
  );
const stored = async () => (await world.owner.query('select from sverka.balance_transaction')).rowCount;

async function agrees(): Promise<void> {
  expect(await world.sums()).toEqual(await world.theirSums());
  expect(await world.addresses()).toEqual(await world.theirAddresses());
}

describe('a position', () => {
  /** Cursors as they are: the position, and the oldest that can still be read. */
  const ends = async () => [await positionOf(), (await world.pert.live.readCurrencies()).minCursor];

  test('that is the oldest the journal still reaches is read on from', async () => {
    await open();
    await move(8);
    await retain(8);
    const [position, min] = await ends();
    expect(position).toBe(min);
    expect(await world.check()).toBe('healed');
    await agrees();
  });

  test.each([
    ['told', []],
    ['silent', ['silently_fewer']],
  ] as const)('one byte below it is too old, and a reset (the provider is %s about it)', async (_, faults) => {
    await open();
    for (const name of faults) await fault({ fault: name });
    await move(8);
    await retain(7);
    const [position = '', min = ''] = await ends();
    expect([position.length, position.slice(0, -1)]).toEqual([min.length, min.slice(0, -1)]);
    expect(await world.check()).toBe('rebased');
    expect(await world.sums()).toEqual(await world.theirSums());
    await move(4);
    expect(await world.check()).toBe('healed');
    await agrees();
  });

  test('that is shorter is older, whatever its letters: a reset', async () => {
    await open(BEFORE_THREE_LETTERS);
    await move(1);
    await world.check();
    await move(8);
    await retain(7);
    const [position = '', min = ''] = await ends();
    expect([position.length, min.length]).toEqual([2, 3]);
    // As text alone it would be the newer one.
    expect(position > min).toBe(true);
    expect(await world.check()).toBe('rebased');
    await move(4);
    expect(await world.check()).toBe('healed');
    await agrees();
  });

  test('is paged across the place at which cursors become longer, and stops at the snapshot', async () => {
    await open(BEFORE_THREE_LETTERS);
    await move(40);
    expect(await world.check()).toBe('healed');
    expect((await positionOf()).length).toBe(3);
    await agrees();
  });

  test('far below the oldest is a reset, and what an old webhook tells then does not come back', async () => {
    await open();
    await world.move({ from: 'a', to: 'b', currency: 'USDT', amount: '1' });
    const old = await world.webhooks();
    await world.check();
    await move(900);
    await retain(4);
    expect(await world.check()).toBe('rebased');
    await move(4);
    expect(await world.check()).toBe('healed');
    await world.deliver(old);
    await world.drain();
    await agrees();
  });
});

describe('a page without a next cursor', () => {
  test.each(['absent', 'null', ''])(
    '(%j) is stored once, and the position is where the snapshot was',
    async (value) => {
      await open();
      const id = await fault({ fault: 'no_next_cursor', value });
      await move(20);
      expect(await world.check()).toBe('healed');
      expect(await stored()).toBe(20);
      await agrees();
      await mend(id);
      await move(4);
      expect(await world.check()).toBe('healed');
      await agrees();
    },
  );

  test.each([
    ['sums that stay', { from: ADDRESSES, to: [...ADDRESSES].reverse(), amount: '0.001' }],
    ['sums that change', {}],
  ])('that does not reach the snapshot keeps the old one, is told when it repeats, and ends (%s)', async (_, more) => {
    await open();
    await move(4, { amount: '1' });
    await world.check();
    const before = await positionOf();
    const id = await fault({ fault: 'no_next_cursor' });
    await move(1_100, more);
    const found = [await world.check(), await world.check()];
    expect(await positionOf()).toBe(before);
    expect(await stored()).toBe(504);
    expect(await alerts()).toEqual(['cursor_missing']);
    expect(new Set(found).size).toBe(1);
    // Meanwhile what webhooks tell goes on.
    await world.move({ from: null, to: 'e', currency: 'USDT', amount: '3' });
    await world.deliver(await world.webhooks());
    await world.drain();
    expect((await world.addresses())['e USDT']).toBe('3');
    expect(await hitsOf(id)).toBeGreaterThan(1);
    await mend(id);
    expect(await world.check()).toMatch(/^(equal|healed)$/);
    expect(await alerts()).toEqual([]);
    expect(await stored()).toBe(1_105);
    await agrees();
  });

  test('for ever is a difference in three checks: theirs is the truth, and the addresses are stale', async () => {
    await open();
    const id = await fault({ fault: 'no_next_cursor' });
    await move(600);
    expect([await world.check(), await world.check(), await world.check()]).toEqual(['differs', 'differs', 'differs']);
    expect(await alerts()).toEqual(['balance_difference', 'cursor_missing']);
    expect(await world.sums()).toEqual(await world.theirSums());
    const fresh = await world.tx.query(
      `select 1 from sverka.balance_address a join sverka.balance_source s on s.id = a.source_id
        where a.resets = s.resets`,
    );
    expect(fresh).toEqual([]);
    await mend(id);
  });
});

describe('a page that leads back', () => {
  test('is the one before: nothing of it is counted twice, and the next check heals', async () => {
    await open();
    await move(20);
    await world.check();
    await move(8);
    const before = await positionOf();
    const id = await fault({ fault: 'repeated_page', times: 1 });
    await world.check();
    expect(await hitsOf(id)).toBe(1);
    expect(await positionOf()).toBe(before);
    expect(await world.check()).toBe('healed');
    await agrees();
    expect(await stored()).toBe(28);
  });

  test('to a place before ours moves the position neither back nor for ever', async () => {
    await open();
    await move(20);
    await world.check();
    // Asked for by hand: what is answered again is a page from long before.
    const start = (await world.pert.live.readCurrencies()).minCursor;
    await world.pert.live.readChanges({ sinceCursor: start, limit: 3 });
    await move(8);
    const before = await positionOf();
    const id = await fault({ fault: 'repeated_page' });
    expect(await world.check()).toBe('differs');
    expect(await positionOf()).toBe(before);
    expect(await hitsOf(id)).toBeLessThan(5);
    await mend(id);
    expect(await world.check()).toBe('healed');
    await agrees();
  });
});

test.each([[false], [true]])(
  'a page that begins with the item at the position itself counts it no second time (told again: %s)',
  async (isTold) => {
    await open();
    await move(4);
    await world.check();
    await move(3);
    expect(await world.check()).toBe('healed');
    // From there a page holds the next move's transaction, also once more.
    const before = await positionOf();
    await move(1, { webhooks: isTold });
    expect(await world.check()).toBe('healed');
    await world.owner.query(`update sverka.source set cursor = $1 where feed = 'changes'`, [before]);
    if (isTold) await world.deliver(await world.webhooks());
    await world.drain();
    await move(2);
    expect(await world.check()).toBe('healed');
    await agrees();
    expect(await stored()).toBe(10);
  },
);

test.each([[true], [false]])('more than two pages are read to their end where has_more is always %s', async (value) => {
  await open();
  const id = await fault({ fault: 'lying_more', value });
  await move(1_100);
  expect(await world.check()).toBe('healed');
  expect(await hitsOf(id)).toBeGreaterThan(2);
  expect(await stored()).toBe(1_100);
  await agrees();
  expect(await world.check()).toBe('equal');
});
