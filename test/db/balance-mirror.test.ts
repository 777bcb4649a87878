import { lockBalanceSource, mirrorTransactions } from '../../src/db/balance-mirror.js';
import { inTransaction } from '../../src/db/transaction.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';

let world: BalanceWorld;
beforeEach(async () => {
  world = await openBalanceWorld();
  await world.move({ from: null, to: 'a', currency: 'USDT', amount: '100' });
  await world.move({ from: null, to: 'b', currency: 'BTC', amount: '0.5' });
});
afterEach(() => world.close());

async function agrees(): Promise<void> {
  expect(await world.sums()).toEqual(await world.theirSums());
}

describe('the mirror', () => {
  test('begins with a snapshot, and pages from its cursor: what was before it counts in the sums alone', async () => {
    expect(await world.check()).toBe('rebased');
    await agrees();
    expect(await world.addresses()).toEqual({});
    await world.move({ from: 'a', to: 'c', currency: 'USDT', amount: '30.25' });
    // Within one currency nothing was missing from the sum; the journal was read all the same.
    expect(await world.check()).toBe('equal');
    await agrees();
    expect(await world.addresses()).toEqual({ 'a USDT': '69.75', 'c USDT': '30.25' });
  });

  test('is told by webhooks, whatever their order, and counts only what the journal says', async () => {
    await world.check();
    await world.webhooks();
    for (const amount of ['1', '2', '3']) await world.move({ from: 'a', to: 'b', currency: 'USDT', amount });
    const told = await world.webhooks();
    expect(told).toHaveLength(3);
    await world.deliver(told.toReversed());
    await world.drain();
    expect(await world.addresses()).toEqual(await world.theirAddresses().then(({ 'b BTC': _, ...rest }) => rest));
    // Told by webhooks alone: shown, not summed.
    const rows = await world.tx.query(
      `select moved::text, seen::text from sverka.balance_currency where currency = 'USDT'`,
    );
    expect(rows).toEqual([{ moved: '0', seen: '0' }]);
    expect(await world.check()).toBe('equal');
    await agrees();
  });

  test('ignores and counts what a webhook tells of an older version', async () => {
    await world.check();
    await world.webhooks();
    for (const amount of ['1', '2']) await world.move({ from: 'a', to: 'b', currency: 'USDT', amount });
    const [first, second] = (await world.webhooks()).map((told) => [told]);
    const counted = async () => (await world.tx.query('select stale_told::int as n from sverka.balance_source'))[0];
    await world.deliver(second ?? []);
    await world.drain();
    expect(await counted()).toEqual({ n: 0 });
    const shown = await world.addresses();
    await world.deliver(first ?? []);
    await world.drain();
    expect(await counted()).toEqual({ n: 2 });
    expect(await world.addresses()).toEqual(shown);
  });

  test.each([
    ['new', 10n, { moved: 100, stale: 0 }],
    ['known', 9n, { moved: 0, stale: 0 }],
    ['older', 8n, { moved: 0, stale: 100 }],
  ])('looks for the addresses it is told of, however many there are (%s)', async (_name, version, found) => {
    await world.check();
    await world.owner.query(
      `insert into sverka.balance_address (source_id, address, currency, balance, version, resets, read_at, base_number,
         seen_version, seen_before)
       select s.id, 'many-' || n, 'USDT', 5, 9, s.resets, now(), s.base_number, 9, 4
         from sverka.balance_source s, generate_series(1, 1000) n`,
    );
    const told = Array.from({ length: 100 }, (_item, at) => ({
      ...{ id: `ptx_${at}`, status: 'completed', currency: 'USDT', balanceVersion: version, from: null },
      ...{ to: { address: `many-${at + 1}`, amount: '1', balance: '5' }, createdAt: '2026-12-01T00:00:00Z' },
    }));
    // Before the planner has counted the table, when it takes so many for a handful, and after.
    for (const analyze of ['', 'analyze sverka.balance_address']) {
      await world.owner.query(analyze);
      const apply = inTransaction(world.owner, async (tx) => {
        const { id: sourceId } = await lockBalanceSource(tx, SOURCE);
        expect(await mirrorTransactions(tx, { sourceId, fromJournal: false }, told)).toMatchObject(found);
        const [read] = await tx.query<{ rows: number }>(
          `select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
            where relid = 'sverka.balance_address'::regclass`,
        );
        expect(read?.rows).toBeLessThan(500);
        throw new Error('enough seen');
      });
      await expect(apply).rejects.toThrow('enough seen');
    }
  });

  test('back-fills what was lost, and what has changed hands more than once is right at its end', async () => {
    await world.check();
    for (let n = 0; n < 10; n += 1) await world.move({ from: 'a', to: 'b', currency: 'USDT', amount: '1' });
    await world.move({ from: 'b', to: null, currency: 'USDT', amount: '4' });
    expect(await world.check()).toBe('healed');
    const [check] = await world.tx.query(
      `select currencies, actions from sverka.balance_check where result = 'healed' order by started_at desc limit 1`,
    );
    expect(check).toEqual({
      currencies: [{ currency: 'USDT', ours: '100', theirs: '96', difference: '4' }],
      actions: ['compared', 'backfilled', 'compared'],
    });
    await agrees();
    expect(await world.addresses()).toMatchObject({ 'a USDT': '90', 'b USDT': '6' });
    expect(await world.check()).toBe('equal');
  });

  test('fell behind too far: a fresh snapshot is the truth, and addresses are stale until they are seen', async () => {
    await world.check();
    await world.move({ from: 'a', to: 'b', currency: 'USDT', amount: '1' });
    expect(await world.check()).toBe('equal');
    for (let n = 0; n < 20; n += 1) await world.move({ from: 'a', to: 'b', currency: 'USDT', amount: '1' });
    await world.pert.drive('POST', '/_sim/retention', { keep: 3 });
    expect(await world.check()).toBe('rebased');
    await agrees();
    const stale = await world.tx.query(
      `select a.address from sverka.balance_address a join sverka.balance_source s on s.id = a.source_id
        where a.resets < s.resets order by 1`,
    );
    expect(stale).toEqual([{ address: 'a' }, { address: 'b' }]);
    await world.move({ from: 'a', to: 'b', currency: 'USDT', amount: '1' });
    expect(await world.check()).toBe('equal');
    await agrees();
    expect(await world.addresses()).toEqual(await world.theirAddresses().then(({ 'b BTC': _, ...rest }) => rest));
  });
});
