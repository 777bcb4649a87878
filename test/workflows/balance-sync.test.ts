import { nudgeBalances } from '../../src/client/balances.js';
import { balanceSyncWorkflowId } from '../../src/contracts/ids.js';
import { SOURCE } from '../support/balance-world.js';
import { clearPayloads } from '../support/clear-texts.js';
import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { storePertWebhooks } from '../support/pert-webhooks.js';
import { eventually, TEST_SECRET } from '../support/simulated-custody.js';
import { type SimulatedPert, startSimulatedPert } from '../support/simulated-pert.js';
import { makeNamespace } from '../support/worker-namespaces.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

/** Of what the workflow is given and what its activities answer: names, counts, words and waits. */
const MEMBERS = [
  ...['account', 'bad', 'book', 'checkMs', 'items', 'more', 'moved', 'nudged', 'pages', 'provider', 'result', 'stale'],
  'waitMs',
];

let pert: SimulatedPert;
let world: WorkerWorld;
let worker: RunningWorker;
beforeAll(async () => {
  pert = await startSimulatedPert();
  // The id of who mirrors an account is one per namespace.
  world = await openWorkerWorld({
    namespace: await makeNamespace(),
    settings: {
      SVERKA_LIVE_PERT_URL: pert.url,
      SVERKA_LIVE_PERT_API_KEY: 'live-key',
      SVERKA_LIVE_PERT_WEBHOOK_SECRETS: TEST_SECRET,
      SVERKA_BALANCE_CHECK_INTERVAL: '500ms',
      SVERKA_BALANCE_RECHECK_INTERVAL: '200ms',
    },
  });
  worker = await world.startWorker();
  await pert.drive('POST', '/_sim/transactions', { from: null, to: 'a', currency: 'USDT', amount: '1000' });
  await nudgeBalances(world.temporal, SOURCE);
});
afterAll(async () => {
  await world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(SOURCE)).terminate('the test is over');
  await worker.stop();
  await world.close();
  await pert.close();
});

const move = (amount: string) =>
  pert.drive('POST', '/_sim/transactions', { from: 'a', to: 'b', currency: 'USDT', amount });
const results = async () =>
  (await world.tx.query<{ result: string }>('select result from sverka.balance_check order by started_at')).map(
    ({ result }) => result,
  );
const balanceOf = async (address: string) => {
  const [row] = await world.tx.query<{ balance: string }>(
    'select trim_scale(balance)::text as balance from sverka.balance_address where address = $1',
    [address],
  );
  return row?.balance ?? null;
};

test('loads first, shows what webhooks tell at once, and checks by the clock', async () => {
  await eventually(async () => (await results())[0] === 'rebased');
  await move('1');
  await storePertWebhooks(world.tx, pert);
  await nudgeBalances(world.temporal, SOURCE);
  await eventually(async () => (await balanceOf('b')) === '1');
  // Nobody is told of these: the next check pages them.
  for (let n = 0; n < 10; n += 1) await move('1');
  await eventually(async () => (await balanceOf('b')) === '11');
  const { rowCount } = await world.owner.query(`select from sverka.inbox where status <> 'done'`);
  expect(rowCount).toBe(0);
});

test('goes on while the provider is away: what was told is applied, the check fails and heals', async () => {
  const { id } = await pert.drive('POST', '/_sim/faults', {
    fault: 'status',
    status: 503,
    match: { method: 'GET', path: '/asset/balances/currencies' },
  });
  await move('1');
  await storePertWebhooks(world.tx, pert);
  await nudgeBalances(world.temporal, SOURCE);
  await eventually(async () => (await balanceOf('b')) === '12');
  await pert.drive('DELETE', `/_sim/faults/${id}`);
  await move('1');
  await eventually(async () => (await balanceOf('b')) === '13');
});

test('begins anew as a person has decided, and goes on from there', async () => {
  const userId = await makePerson(world.owner, 'operator');
  const decision = { type: 'balance_source', id: 'live:pert:pert-main', choice: 'rebase', userId } as const;
  // A difference that comes or goes between look and click makes it void, and the next look decides.
  await eventually(async () => {
    const id = await decideAs(world.owner, decision);
    await nudgeBalances(world.temporal, SOURCE);
    await eventually(async () => (await outcomeOf(world.owner, id)) !== null);
    return (await outcomeOf(world.owner, id)) === 'applied: rebase';
  });
  const { rowCount } = await world.owner.query(
    `select from sverka.balance_check where result = 'rebased' and trigger = 'operator'`,
  );
  expect(rowCount).toBe(1);
  await move('1');
  await eventually(async () => (await balanceOf('b')) === '14');
});

test('the run goes on in a fresh one, and its history holds neither bodies nor balances', async () => {
  const handle = world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(SOURCE));
  for (let n = 0; n < 130; n += 1) {
    // Not coalesced, as the relay's are: some meet a run that is just closing, and the sweep would find them.
    await nudgeBalances(world.temporal, SOURCE).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  const members = new Set<string>();
  // A run that has only just begun holds none yet.
  await eventually(async () => {
    const history = JSON.parse(JSON.stringify(await handle.fetchHistory()));
    const payloads = clearPayloads({ workflowId: handle.workflowId, history }).map(({ value }) => value);
    for (const name of payloads.flatMap((value) => (isRecord(value) ? Object.keys(value) : []))) members.add(name);
    return members.has('items');
  });
  expect(MEMBERS).toEqual(expect.arrayContaining([...members]));
  await move('1');
  await eventually(async () => (await balanceOf('b')) === '15');
});

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
