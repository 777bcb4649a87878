import type pg from 'pg';
import { type BalanceStep, takeBalanceStep } from '../../src/activities/balance-checks.js';
import { createBalanceActivities } from '../../src/activities/balances.js';
import { createPool } from '../../src/db/pool.js';
import { type BalanceWorld, openBalanceWorld, SOURCE } from '../support/balance-world.js';
import { withSteps } from '../support/crash-steps.js';
import { countMoneyRows } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { makeMerchantRow } from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';

const ADDRESSES = ['a', 'b', 'c', 'd', 'e', 'f'];

let world: BalanceWorld;
const pools: pg.Pool[] = [];
beforeEach(async () => {
  world = await openBalanceWorld();
  await world.move({ from: null, to: ADDRESSES, currency: 'USDT', amount: '1000', count: 6, webhooks: false });
  await world.check();
});
afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.end()));
  await nothingIsPosted();
  await world.close();
});

/** A mirror never posts. */
async function nothingIsPosted(): Promise<void> {
  expect((await countMoneyRows(world.owner)).movements).toBe(0);
}

/** Another worker: connections of its own. */
function otherWorker() {
  const pool = createPool(world.database.urlFor('worker'), { max: 4, applicationName: 'other-worker' });
  pools.push(pool);
  return { ...world.deps, pool };
}

interface HeldStep {
  /** Resolves when it stands there. */
  readonly stands: Promise<void>;
  /** What it has done so far, statements and calls. */
  readonly labels: readonly string[];
  goOn(): Promise<BalanceStep | null>;
}

/** A worker takes a step of a check and stands still before what `where` picks, as a stopped process does. */
function heldStep(where: (label: string, before: readonly string[]) => boolean): HeldStep {
  let letGo = () => {};
  let arrived = () => {};
  const released = new Promise<void>((resolve) => (letGo = resolve));
  const stands = new Promise<void>((resolve) => (arrived = resolve));
  const labels: string[] = [];
  const stepped = withSteps(otherWorker(), async ({ label }) => {
    const isThere = where(label, labels);
    labels.push(label);
    if (!isThere) return undefined;
    arrived();
    await released;
    return undefined;
  });
  const { step } = stepped.activities({ step: () => takeBalanceStep(stepped.deps, SOURCE) }) as {
    step: (input: object) => Promise<BalanceStep | null>;
  };
  const taken = step(SOURCE);
  taken.catch(() => undefined);
  return {
    ...{ stands, labels },
    goOn() {
      letGo();
      return taken;
    },
  };
}

/** Before the transaction that comes of a call. */
const afterCall = (name: string) => (label: string, before: readonly string[]) =>
  label.startsWith('BEGIN') && before.includes(`call ${name}`);
/** Before the one transaction of a step that only compares. */
const beforeTransaction = (label: string) => label.startsWith('BEGIN');

const due = () => world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
const step = () => takeBalanceStep(world.deps, SOURCE);
const shift = (amount: string, count: number, more: object = {}) =>
  world.move({
    ...{ from: ADDRESSES, to: ADDRESSES.toReversed(), currency: 'USDT', amount, count, webhooks: false },
    ...more,
  });
const positionOf = async () =>
  (await world.tx.query<{ cursor: string }>('select cursor from sverka.source'))[0]?.cursor;
const results = async () =>
  (await world.tx.query<{ result: string }>('select result from sverka.balance_check order by started_at, id')).map(
    ({ result }) => result,
  );

const someoneWaits = async () => {
  const { rowCount } = await world.owner.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rowCount !== 0;
};

async function agrees(): Promise<void> {
  expect(await world.sums()).toEqual(await world.theirSums());
  expect(await world.addresses()).toEqual(await world.theirAddresses());
}

test('of two workers that read one page of 500 at once, one applies it and the other throws it away', async () => {
  await shift('1', 1_100);
  await world.move({ from: null, to: ADDRESSES, currency: 'USDT', amount: '0.5', count: 60, webhooks: false });
  await due();
  await step();
  const counted: number[] = [];
  for (const items of [500, 500, 160]) {
    const both = [heldStep(afterCall('readChanges')), heldStep(afterCall('readChanges'))];
    await Promise.all(both.map(({ stands }) => stands));
    const steps = await Promise.all(both.map(({ goOn }) => goOn()));
    const pages = steps.map((taken) => (taken?.kind === 'page' ? taken.page.items : -1));
    expect(pages.toSorted((a, b) => a - b)).toEqual([0, items]);
    counted.push(items);
  }
  expect((await step())?.kind).toBe('ended');
  const [check] = await world.tx.query(
    'select result, changes_read as read from sverka.balance_check order by started_at desc limit 1',
  );
  expect(check).toEqual({ result: 'healed', read: counted.reduce((sum, items) => sum + items, 0) });
  const { rowCount } = await world.owner.query('select from sverka.balance_transaction');
  expect(rowCount).toBe(1_160);
  await agrees();
});

test('two workers from a snapshot to its end, and webhooks that land meanwhile, end equal to the truth', async () => {
  await world.webhooks();
  let told = 0;
  const moving = async () => {
    for (let round = 0; round < 12; round += 1) {
      await shift('1', 40, { webhooks: true });
      await world.move({ from: null, to: ADDRESSES, currency: 'USDT', amount: '2', count: 6, webhooks: false });
      // Some of them are lost, and some come twice.
      const some = (await world.webhooks()).filter((_, n) => n % 4 !== round % 4);
      told += some.length;
      await world.deliver(some.toReversed());
    }
  };
  const ends = { isOver: false };
  const moved = moving().finally(() => (ends.isOver = true));
  const workers = [world.deps, otherWorker()].map(createBalanceActivities);
  // A worker that waited in vain for a lock is tried again, as by Temporal.
  const again = async (work: () => Promise<unknown>) => {
    while (!ends.isOver) await work().catch(() => undefined);
  };
  await Promise.all([
    moved,
    ...workers.map(({ databaseDrainBalances }) => again(() => databaseDrainBalances(SOURCE))),
    ...workers.map(({ pageBalances }) => again(() => due().then(() => pageBalances(SOURCE)))),
  ]);
  expect(told).toBeGreaterThan(300);
  for (const { databaseDrainBalances } of workers) await databaseDrainBalances(SOURCE);
  await world.check();
  await world.check();
  await agrees();
  expect(await results()).not.toContain('differs');
  const open = await world.tx.query('select from sverka.balance_check where finished_at is null');
  expect(open).toEqual([]);
});

test('a page and a reset in one moment are both done at their first try: no deadlock', async () => {
  await shift('1', 30);
  await due();
  await step();
  const page = heldStep(
    (label, before) => before.includes('call readChanges') && label.startsWith('select s.id, s.merchant_id'),
  );
  await page.stands;
  await world.pert.drive('POST', '/_sim/retention', { keep: 3 });
  const reset = heldStep(() => false);
  // It is done, or it waits for what the page holds.
  await Promise.race([reset.goOn(), eventually(someoneWaits)]);
  await Promise.all([page.goOn(), reset.goOn()]);
  for (const { labels } of [page, reset]) {
    const apply = labels.slice(labels.findLastIndex((label) => label.startsWith('call ')));
    expect(apply.filter((label) => label.startsWith('BEGIN'))).toHaveLength(1);
  }
  await world.pert.drive('POST', '/_sim/retention', { keep: 1_000_000 });
  await shift('1', 12);
  await world.check();
  await world.check();
  await agrees();
});

describe('a worker that was stopped and overtaken', () => {
  test('in a reset sets nothing back: its snapshot is thrown away, and the merchant is told once', async () => {
    const merchantId = await makeMerchantRow(world as unknown as WorkerWorld);
    await world.owner.query('update sverka.balance_source set merchant_id = $1', [merchantId]);
    await shift('1', 30);
    await world.pert.drive('POST', '/_sim/retention', { keep: 3 });
    await due();
    await step();
    const stopped = heldStep(afterCall('readCurrencies'));
    await stopped.stands;
    expect(await step()).toEqual({ kind: 'ended', result: 'rebased' });
    await shift('1', 12);
    await world.move({ from: null, to: 'a', currency: 'USDT', amount: '7', webhooks: false });
    expect(await world.check()).toBe('healed');
    const [position, sums] = [await positionOf(), await world.sums()];
    await stopped.goOn();
    expect([await positionOf(), await world.sums()]).toEqual([position, sums]);
    const { rowCount } = await world.owner.query(`select from sverka.event where type = 'balance.rebased'`);
    expect(rowCount).toBe(1);
    await agrees();
  });

  test('before its comparison finds no difference in what has moved since', async () => {
    await shift('1', 3);
    await due();
    for (let steps = 0; steps < 2; steps += 1) await step();
    const stopped = heldStep(beforeTransaction);
    await stopped.stands;
    expect(await step()).toEqual({ kind: 'ended', result: 'equal' });
    await world.move({ from: null, to: ADDRESSES, currency: 'USDT', amount: '7', count: 6, webhooks: false });
    expect(await world.check()).toBe('healed');
    const position = await positionOf();
    await stopped.goOn();
    expect(await positionOf()).toBe(position);
    expect(await results()).toEqual(['rebased', 'equal', 'healed']);
    const [source] = await world.tx.query('select differences, last_action as last from sverka.balance_source');
    expect(source).toEqual({ differences: 0, last: 'backfilled' });
    await agrees();
  });

  test('before it opens a check opens none with a snapshot that is older than what was compared since', async () => {
    await due();
    const stopped = heldStep(afterCall('readCurrencies'));
    await stopped.stands;
    await world.move({ from: null, to: ADDRESSES, currency: 'USDT', amount: '7', count: 6, webhooks: false });
    expect(await world.check()).toBe('healed');
    await stopped.goOn();
    expect(await world.check()).toBe('equal');
    expect(await results()).toEqual(['rebased', 'healed', 'equal']);
    await agrees();
  });
});
