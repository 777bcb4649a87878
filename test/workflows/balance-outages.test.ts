import type { ActivityDeps } from '../../src/activities/deps.js';
import { breakerLimits, guardProvider } from '../../src/activities/guard-client.js';
import { nudgeBalances } from '../../src/client/balances.js';
import { balanceSyncWorkflowId } from '../../src/contracts/ids.js';
import { queriesOf } from '../../src/db/transaction.js';
import { SOURCE } from '../support/balance-world.js';
import { countMoneyRows } from '../support/money-invariants.js';
import { heardWebhooks, storeWebhooks } from '../support/pert-webhooks.js';
import { eventually } from '../support/simulated-custody.js';
import type { SimulatedPert } from '../support/simulated-pert.js';
import { historyOf } from '../support/worker-history.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const ADDRESSES = Array.from({ length: 20 }, (_, n) => `address-${n}`);
const CHANGES = { method: 'GET', path: '/transactions/changes' };
const CURRENCIES = { method: 'GET', path: '/asset/balances/currencies' };
const HOUR = 3_600;

let world: WorkerWorld;
let pert: SimulatedPert;
let worker: RunningWorker;
beforeAll(async () => {
  // The id of who mirrors an account is one per namespace.
  world = await openWorkerWorld({
    namespace: await makeNamespace(),
    pert: true,
    settings: {
      SVERKA_BALANCE_CHECK_INTERVAL: '1h',
      SVERKA_BALANCE_RECHECK_INTERVAL: '300ms',
      SVERKA_PROVIDER_TIMEOUT: '500ms',
      // Short of what an activity may take.
      SVERKA_PAGE_TURN: '7s',
    },
  });
  if (world.pert === null) throw new Error('The world has no provider of balances.');
  pert = world.pert;
  // Behind the breaker as in the product; the tests of failures alone would open it.
  const limits = { ...breakerLimits(world.config), failuresMax: 1_000 };
  const guarded = (deps: ActivityDeps) =>
    guardProvider(queriesOf(deps.pool), { provider: 'pert', clientOf: deps.pert }, limits);
  worker = await world.startWorker({ deps: (deps) => ({ ...deps, pert: guarded(deps) }) });
  await move({ from: null, to: ADDRESSES, amount: '1000', count: ADDRESSES.length });
  await look();
  await eventually(async () => (await checks()).length === 1);
  await fallBehind();
  await look();
  await untilWell();
});
afterEach(async () => {
  for (const { id } of await faults()) await pert.drive('DELETE', `/_sim/faults/${id}`);
});
afterAll(async () => {
  await world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(SOURCE)).terminate('the test is over');
  await worker.stop();
  await nothingIsPosted();
  await world.close();
});

/** A mirror never posts. */
async function nothingIsPosted(): Promise<void> {
  expect((await countMoneyRows(world.owner)).movements).toBe(0);
}
const move = (body: object) => pert.drive('POST', '/_sim/transactions', { currency: 'USDT', webhooks: false, ...body });
const fault = async (body: object) => (await pert.drive('POST', '/_sim/faults', body)).id;
async function faults(): Promise<{ id: string; hits: number }[]> {
  return ((await pert.drive('GET', '/_sim/faults')) as unknown as { faults: { id: string; hits: number }[] }).faults;
}
const isMet = async (id: string, times = 1) => ((await faults()).find((each) => each.id === id)?.hits ?? 0) >= times;
const checks = async () =>
  (
    await world.tx.query<{ result: string }>(
      'select result from sverka.balance_check where finished_at is not null order by started_at, id',
    )
  ).map(({ result }) => result);
const openAlerts = async () =>
  (await world.tx.query<{ kind: string }>(`select kind from sverka.alert where state = 'open'`)).map(
    ({ kind }) => kind,
  );
/** What a page would change, all of it. */
const mirrored = async () => {
  const [row] = await world.tx.query(
    `select (select count(*) from sverka.balance_transaction)::int as transactions,
        (select cursor from sverka.source where feed = 'changes' and account = 'pert-main') as position,
        (select sum(balance)::text from sverka.balance_address) as addresses,
        (select string_agg((base + moved)::text, ' ') from sverka.balance_currency) as sums`,
  );
  return row;
};

/** More than a page of transactions that nobody is told of, and a check that is due for them. */
async function fallBehind(count = 560): Promise<void> {
  await move({ from: ADDRESSES, to: ADDRESSES.toReversed(), amount: '0.01', count });
  await move({ from: null, to: ADDRESSES, amount: '1', count: 60 });
  await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
}
const look = () => nudgeBalances(world.temporal, SOURCE);

async function isEqual(): Promise<boolean> {
  const { objects } = await pert.truth();
  const theirs = (objects['addresses'] as unknown as { address: string; balance: string }[])
    .map(({ address, balance }) => `${address} ${Number(balance)}`)
    .toSorted();
  const rows = await world.tx.query<{ line: string }>(
    `select address || ' ' || trim_scale(balance) as line from sverka.balance_address`,
  );
  const [sums] = await world.tx.query<{ ours: string }>(
    'select trim_scale(base + moved)::text as ours from sverka.balance_currency',
  );
  const [total] = (await pert.live.readCurrencies()).currencies;
  const ours = rows.map(({ line }) => line).toSorted();
  return Number(sums?.ours) === Number(total?.balance) && JSON.stringify(ours) === JSON.stringify(theirs);
}

test.each([
  ['401', { fault: 'unauthorized' }, 'provider_misconfigured'],
  ['500', { fault: 'status', status: 500 }, null],
  ['503 with a second to wait', { fault: 'status', status: 503, retry_after: 1 }, null],
  ['silence', { fault: 'timeout_before' }, null],
  ['silence after it was done', { fault: 'timeout_after' }, null],
  ['half a page', { fault: 'truncated' }, null],
  ['a connection that is cut', { fault: 'lost_answer' }, null],
  ['HTML', { fault: 'garbage' }, 'unreadable_record'],
])('pages answered by %s change nothing, and it goes on by itself when that is over', async (_, body, alert) => {
  const before = await mirrored();
  const had = (await checks()).length;
  const id = await fault({ ...body, match: CHANGES });
  await fallBehind();
  await look();
  await eventually(() => isMet(id, 4));
  await eventually(async () => (await checks()).length > had);
  expect(new Set((await checks()).slice(had))).toEqual(new Set(['failed']));
  expect(await mirrored()).toEqual(before);
  expect(await openAlerts()).toEqual(alert === null ? [] : [alert]);
  await pert.drive('DELETE', `/_sim/faults/${id}`);
  await untilWell();
  expect(await checks()).not.toContain('differs');
});

test('snapshots answered by 401 are an alert, and the next check after it is mended heals', async () => {
  const id = await fault({ fault: 'unauthorized', match: CURRENCIES });
  await fallBehind();
  await look();
  await eventually(async () => (await openAlerts()).includes('provider_misconfigured'));
  expect(await isMet(id)).toBe(true);
  await pert.drive('DELETE', `/_sim/faults/${id}`);
  await untilWell();
});

test('a later page that is cut leaves those before it: the next try goes on from there', async () => {
  const [before] = await world.tx.query<{ n: number }>('select count(*)::int as n from sverka.balance_transaction');
  const { id } = await pert.drive('POST', '/_sim/faults', { fault: 'slow', ms: 300, match: CHANGES });
  // Three pages; the second is on its way while the first is applied.
  await fallBehind(1_060);
  await look();
  await eventually(async () => {
    const [now] = await world.tx.query<{ n: number }>('select count(*)::int as n from sverka.balance_transaction');
    return (now?.n ?? 0) - (before?.n ?? 0) === 500;
  });
  const cut = await fault({ fault: 'truncated', match: CHANGES });
  await pert.drive('DELETE', `/_sim/faults/${id}`);
  await eventually(() => isMet(cut));
  await pert.drive('DELETE', `/_sim/faults/${cut}`);
  await untilWell();
});

test('429 is asked again when the provider says, and neither before nor as a failure', async () => {
  const had = await checks();
  const limited = await fault({ fault: 'status', status: 429, retry_after: HOUR, match: CHANGES, times: 1 });
  await fallBehind();
  await look();
  await eventually(() => isMet(limited));
  await eventually(async () => (await waitsFor()) > HOUR - 60);
  // What webhooks say is drained meanwhile, and asks nobody.
  const asked = async () => (await pert.truth()).requests;
  const requests = await asked();
  for (let n = 0; n < 5; n += 1) await look();
  await eventually(isIdle);
  expect(await asked()).toEqual(requests);
  expect(await checks()).toEqual(had);
  // Neither does what asks for a check before its time: a webhook that shows a gap.
  await world.owner.query(`update sverka.balance_source set asked = 'webhook_gap', next_check_at = clock_timestamp()`);
  for (let n = 0; n < 5; n += 1) await look();
  await eventually(isIdle);
  expect(await asked()).toEqual(requests);
  expect(await waitsFor()).toBeGreaterThan(HOUR - 60);
  await world.owner.query('update sverka.balance_source set not_before = null');
  await look();
  await untilWell();
});

test('while the breaker is open nobody asks the provider, and paging goes on when it closes', async () => {
  await fallBehind();
  await world.owner.query(
    `insert into sverka.breaker (name, state, open_until)
       values ('pert:live', 'open', clock_timestamp() + interval '4 s')
       on conflict (name) do update set state = 'open', open_until = excluded.open_until`,
  );
  const asked = async () => (await pert.truth()).requests;
  const requests = await asked();
  await world.owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
  await look();
  const handle = world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(SOURCE));
  await eventually(async () => {
    const { raw } = await handle.describe();
    return (raw.pendingActivities ?? []).some(({ lastFailure }) => /breaker/.test(lastFailure?.message ?? ''));
  });
  expect(await asked()).toEqual(requests);
  // By itself: the first call after that is its probe.
  await untilWell();
});

/** Equal to the truth, the check ended, nothing told to anybody any more, and the next one an hour away. */
async function untilWell(): Promise<void> {
  await eventually(isEqual);
  await eventually(async () => {
    const open = await world.tx.query('select from sverka.balance_check where finished_at is null');
    return open.length === 0 && (await waitsFor()) > HOUR / 2 && (await openAlerts()).length === 0;
  });
}

const waitsFor = async () => {
  const [row] = await world.tx.query<{ seconds: number }>(
    `select extract(epoch from greatest(next_check_at, not_before) - clock_timestamp())::float8 as seconds
     from sverka.balance_source`,
  );
  return row?.seconds ?? 0;
};
/** Nobody works on it. */
const isIdle = async () => {
  const { raw } = await world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(SOURCE)).describe();
  return (raw.pendingActivities ?? []).length === 0;
};

test('ten thousand webhooks are drained in a history of twenty events', async () => {
  await pert.drive('POST', '/_sim/transactions', {
    ...{ currency: 'USDT', from: ADDRESSES, to: ADDRESSES.toReversed(), amount: '0.01', count: 500 },
  });
  const told = (await heardWebhooks(pert)).slice(-500);
  for (let times = 0; times < 20; times += 1) {
    await storeWebhooks(
      world.tx,
      told.map((each) => ({ ...each, deliveryId: `${each.deliveryId}-${times}` })),
    );
  }
  const workflowId = balanceSyncWorkflowId(SOURCE);
  const before = (await historyOf(world, workflowId)).events.length;
  const { runId } = await world.temporal.client.workflow.getHandle(workflowId).describe();
  await look();
  await eventually(async () => {
    const { rowCount } = await world.owner.query(`select from sverka.inbox where status <> 'done' limit 1`);
    return rowCount === 0 && (await isIdle());
  });
  const { events, text } = await historyOf(world, workflowId, runId);
  const drains = events
    .slice(before)
    .filter((event) => JSON.stringify(event).includes('"name":"databaseDrainBalances"'));
  // Six events each, with the workflow task between them; a check may come by the clock meanwhile.
  expect(drains.length * 6).toBeLessThanOrEqual(20);
  expect(drains.length).toBeGreaterThan(0);
  // The payloads are JSON inside JSON.
  const items = [...text.matchAll(/items\\":(\d+)/g)].map(([, count]) => Number(count));
  expect(items.filter((count) => count >= 500).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(10_000);
  expect(ADDRESSES.filter((address) => text.includes(address))).toEqual([]);
  expect((await world.tx.query('select from sverka.inbox')).length).toBe(10_000);
});
