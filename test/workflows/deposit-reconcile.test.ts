import { cancellationSignal } from '@temporalio/activity';
import type { DepositPages, DepositReconcileInput } from '../../src/contracts/messages.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { createGate, type Gate } from '../support/worker-gates.js';
import { historyOf } from '../support/worker-history.js';
import { bundleMutant, type MutantBundle } from '../support/worker-mutants.js';
import { arrive, creditsOf, depositRow, type KnownAddress, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const SOURCE: DepositReconcileInput = { book: 'live', provider: 'custody', account: 'main-live' };

let world: WorkerWorld;
let worker: RunningWorker | undefined;
let to: KnownAddress;
let runs = 0;
beforeAll(async () => {
  // One turn of pages, however slow the machine is: events are counted here.
  world = await openWorkerWorld({ settings: { SVERKA_PAGE_TURN: '1m' } });
});
beforeEach(async () => {
  to = await makeKnownAddress(world);
});
afterEach(async () => {
  await worker?.stop();
  worker = undefined;
  await expectMoneyInvariants(world.owner);
});
afterAll(async () => world?.close());

/** One run, as the schedule starts it. */
async function start() {
  runs += 1;
  const { client, taskQueue } = world.temporal;
  const workflowId = `reconcile-${taskQueue}-${runs}`;
  return client.workflow.start('depositReconcile', { workflowId, taskQueue, args: [SOURCE] });
}
async function reconcile(): Promise<DepositPages> {
  return (await start()).result();
}
/** A run's frame of 5 events, and 6 for each turn of 60 s. */
const eventsFor = (items: number, itemsPerSecond: number) => 5 + 6 * Math.ceil(items / itemsPerSecond / 60);
const cursor = async () => {
  const { rows } = await world.owner.query<{ cursor: string }>('select cursor from sverka.source');
  return rows[0]?.cursor;
};

test.each([
  ['cached', {}],
  ['replayed at each task', { maxCachedWorkflows: 0 }],
])('a deposit whose webhook was lost is found by a run, %s, and two more change nothing', async (_, how) => {
  worker = await world.startWorker(how);
  const ref = await arrive(world, to);
  expect(await depositRow(world, ref)).toBeNull();
  expect(await reconcile()).toMatchObject({ items: 1, changed: 1, unmatched: 0, unreadable: 0, more: false });
  expect([(await depositRow(world, ref))?.state, await creditsOf(world, to.merchantId)]).toEqual([
    'final',
    ['25000000'],
  ]);
  await expectNothingChanges(world.owner, reconcile);
  // And from the beginning once more: not the cursor makes it once.
  await world.owner.query('update sverka.source set cursor = null');
  await expectNothingChanges(world.owner, async () => {
    expect(await reconcile()).toMatchObject({ changed: 0, unreadable: 0, more: false });
  });
});

test('a deposit that it finds waiting gets a workflow, one that was waiting is told to look', async () => {
  worker = await world.startWorker();
  const ref = await arrive(world, to, { status: 'confirming' });
  await reconcile();
  expect((await depositRow(world, ref))?.state).toBe('confirming');
  const handle = world.temporal.client.workflow.getHandle(`deposit:live:custody:${ref}`);
  expect((await handle.describe()).status.name).toBe('RUNNING');
  await world.custody.drive('PATCH', `/_sim/deposits/${ref}`, { status: 'completed' });
  await reconcile();
  expect(await handle.result()).toMatchObject({ state: 'final' });
  expect(await creditsOf(world, to.merchantId)).toEqual(['25000000']);
});

test('a thousand deposits are booked by one run of few events, whose activity beats', async () => {
  worker = await world.startWorker();
  const refs: string[] = [];
  for (let n = 0; n < 1_000; n += 50) {
    refs.push(...(await Promise.all(Array.from({ length: 50 }, () => arrive(world, to, { amount: '1' })))));
  }
  const began = Date.now();
  const handle = await start();
  const beats = await Promise.race([
    eventually(async () =>
      (await handle.describe()).raw.pendingActivities?.some((activity) => activity.lastHeartbeatTime),
    ),
    handle.result().then(() => 'over'),
  ]);
  expect(await handle.result()).toMatchObject({ items: 1_000, changed: 1_000, more: false });
  const { events } = await historyOf(world, handle.workflowId);
  const seconds = (Date.now() - began) / 1_000;
  process.stdout.write(`reconciliation: ${events.length} events for 1000 deposits in ${seconds.toFixed(1)} s `);
  process.stdout.write(
    `(beats: ${String(beats)}); for 10000 at this rate ${eventsFor(10_000, 1_000 / seconds)} events\n`,
  );
  expect(events.length).toBeLessThanOrEqual(11);
  const { rows } = await world.owner.query(
    `select count(*)::int as credits, sum(e.amount)::text as total from ledger.entry e
       join ledger.account a on a.id = e.account_id join ledger.movement m on m.id = e.movement_id
      where a.merchant_id = $1 and a.kind = 'wallet' and m.kind = 'deposit_credit'`,
    [to.merchantId],
  );
  expect([rows, new Set(refs).size]).toEqual([[{ credits: 1_000, total: '1000000000' }], 1_000]);
});

test('two runs at once credit each deposit once, and the cursor never goes back', async () => {
  const gate = createGate('readDepositChanges');
  worker = await world.startWorker({ deps: gate.deps });
  const ref = await arrive(world, to);
  const before = await cursor();
  const both = [await start(), await start()];
  // Both have read the same page from the same position.
  await eventually(() => gate.arrived() === 2);
  gate.open();
  const results: DepositPages[] = await Promise.all(both.map((run) => run.result()));
  expect(results.reduce((sum, { changed }) => sum + changed, 0)).toBe(1);
  expect([(await depositRow(world, ref))?.state, await creditsOf(world, to.merchantId)]).toEqual([
    'final',
    ['25000000'],
  ]);
  expect((await cursor()) === before).toBe(false);
});

test('a worker that stops ends a long turn after its page, and another goes on from there', async () => {
  const gate = createGate('readDepositChanges');
  const first = await world.startWorker({ deps: gate.deps, activities: (real) => openAtStop(real, gate) });
  for (let n = 0; n < 8; n += 1) await Promise.all(Array.from({ length: 50 }, () => arrive(world, to)));
  const handle = await start();
  await eventually(() => gate.arrived() === 1);
  // Past the grace of a stop the turn is told, in the middle of its first page.
  await first.stop();
  expect(gate.arrived()).toBe(1);
  const credits = await creditsOf(world, to.merchantId);
  worker = await world.startWorker();
  expect(await handle.result()).toMatchObject({ more: false });
  expect([credits.length, (await creditsOf(world, to.merchantId)).length]).toEqual([200, 400]);
});

describe('a feed that has no end', () => {
  let short: MutantBundle;
  beforeAll(async () => {
    short = await bundleMutant([
      { file: 'deposit-reconcile.ts', from: 'TURNS_PER_RUN = 100', to: 'TURNS_PER_RUN = 3' },
    ]);
  });
  afterAll(() => short?.remove());

  test('goes on in a fresh run', async () => {
    let turns = 0;
    worker = await world.startWorker({
      bundlePath: short.path,
      activities: (real) => ({
        ...real,
        pageDepositChanges: async () => {
          turns += 1;
          return { pages: 1, items: 1, changed: 0, unmatched: 0, unreadable: 0, more: turns <= 3 };
        },
      }),
    });
    expect(await reconcile()).toMatchObject({ pages: 1, more: false });
    expect(turns).toBe(4);
  });
});

test('a provider that is away fails no run: it waits, and goes on when he is back', async () => {
  worker = await world.startWorker();
  const fault = await world.custody.drive('POST', '/_sim/faults', {
    fault: 'status',
    status: 503,
    times: 1,
    match: { path: '/v1/deposits/changes' },
  });
  const ref = await arrive(world, to);
  expect(await reconcile()).toMatchObject({ items: 1, changed: 1 });
  expect((await depositRow(world, ref))?.state).toBe('final');
  await world.custody.drive('DELETE', `/_sim/faults/${fault.id}`);
});

/** The page goes on when its activity is told to stop. */
function openAtStop(real: object, gate: Gate): object {
  return new Proxy(real, {
    get(target, name, receiver) {
      const activity: unknown = Reflect.get(target, name, receiver);
      if (name !== 'pageDepositChanges' || typeof activity !== 'function') return activity;
      return (...args: unknown[]) => {
        cancellationSignal().addEventListener('abort', () => gate.open(1));
        return Reflect.apply(activity, target, args);
      };
    },
  });
}
