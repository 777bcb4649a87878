import { nudgeBalances } from '../../src/client/balances.js';
import { balanceSyncWorkflowId } from '../../src/contracts/ids.js';
import type { BalanceSourceKey } from '../../src/db/balance-mirror.js';
import type { RunOf } from './issuance-recorder.js';
import { eventually } from './simulated-custody.js';
import { historyOf } from './worker-history.js';
import type { WorkerWorld } from './worker-world.js';

/** Runs each path of the mirror once, in an account of ours each; answers workflow ids by name of the history. */
export async function playBalances(world: WorkerWorld): Promise<Record<string, string>> {
  await move(world, { from: null, to: ['a', 'b'], amount: '1000', count: 2 });
  const first = await loaded(world, 'balances-first');
  const behind = await loaded(world, 'balances-behind');
  const forgotten = await loaded(world, 'balances-forgotten');
  const failing = await loaded(world, 'balances-failing');
  await move(world, { from: null, to: ['a', 'b'], amount: '1', count: 20 });
  await check(world, behind, 'healed');
  await world.pert?.drive('POST', '/_sim/retention', { keep: 2 });
  await check(world, forgotten, 'rebased');
  const match = { method: 'GET', path: '/asset/balances/currencies' };
  const fault = await world.pert?.drive('POST', '/_sim/faults', { fault: 'status', status: 503, times: 3, match });
  await check(world, failing, 'rebased');
  await world.pert?.drive('DELETE', `/_sim/faults/${fault?.id}`).catch(() => undefined);
  return {
    'balance-first-load': balanceSyncWorkflowId(first),
    'balance-backfilled': balanceSyncWorkflowId(behind),
    'balance-rebased': balanceSyncWorkflowId(forgotten),
    'balance-check-failed': balanceSyncWorkflowId(failing),
  };
}

/** A run that goes on in a fresh one, and that one. */
export async function playBalancesContinued(world: WorkerWorld): Promise<Record<string, RunOf>> {
  const key = await loaded(world, 'balances-continued');
  const workflowId = balanceSyncWorkflowId(key);
  const handle = world.temporal.client.workflow.getHandle(workflowId);
  const { runId } = await handle.describe();
  let now = runId;
  while (now === runId) {
    // One that meets the end of a run is refused or kept for the next one.
    await nudgeBalances(world.temporal, key).catch(() => undefined);
    await settled(world, key);
    now = (await handle.describe()).runId;
  }
  await settled(world, key);
  return { 'balance-continues': { workflowId, runId }, 'balance-continued': { workflowId, runId: now } };
}

function keyOf(account: string): BalanceSourceKey {
  return { book: 'live', provider: 'pert', account };
}

async function move({ pert }: WorkerWorld, body: object): Promise<void> {
  if (pert === null) throw new Error('This world has no provider of balances.');
  await pert.drive('POST', '/_sim/transactions', { currency: 'USDT', webhooks: false, ...body });
}

async function loaded(world: WorkerWorld, account: string): Promise<BalanceSourceKey> {
  const key = keyOf(account);
  await nudgeBalances(world.temporal, key);
  await ended(world, key, 'rebased');
  return key;
}

/** A check that is due now; it may have failed before it ends so. */
async function check(world: WorkerWorld, key: BalanceSourceKey, result: string): Promise<void> {
  await world.owner.query(
    `update sverka.balance_source set next_check_at = clock_timestamp(), checked_at = null where account = $1`,
    [key.account],
  );
  await nudgeBalances(world.temporal, key);
  await ended(world, key, result);
}

async function ended(world: WorkerWorld, key: BalanceSourceKey, result: string): Promise<void> {
  await eventually(async () => {
    const { rows } = await world.owner.query<{ result: string; checked: boolean }>(
      `select c.result, s.checked_at is not null as checked from sverka.balance_check c
         join sverka.balance_source s on s.id = c.source_id
        where s.account = $1 order by c.started_at desc, c.id desc limit 1`,
      [key.account],
    );
    return rows[0]?.result === result && rows[0].checked;
  });
  await settled(world, key);
}

/** It waits for the clock: nothing is asked for, and its timer is set. */
async function settled(world: WorkerWorld, key: BalanceSourceKey): Promise<void> {
  await eventually(async () => {
    const { events } = await historyOf(world, balanceSyncWorkflowId(key));
    const last = events.at(-1)?.eventType;
    return last === 'EVENT_TYPE_TIMER_STARTED' || last === 'EVENT_TYPE_UPSERT_WORKFLOW_SEARCH_ATTRIBUTES';
  });
}
