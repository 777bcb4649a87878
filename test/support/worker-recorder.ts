import { hostname } from 'node:os';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { requestDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { depositAddressWorkflowId, depositWorkflowId } from '../../src/contracts/ids.js';
import type { DepositAddressInput } from '../../src/contracts/messages.js';
import { playBalances, playBalancesContinued } from './balance-recorder.js';
import { playCards } from './card-recorder.js';
import { playContinued, playIssuances, type RunOf } from './issuance-recorder.js';
import { eventually } from './simulated-custody.js';
import { playWithdrawals } from './withdrawal-recorder.js';
import { historyOf } from './worker-history.js';
import { notificationsOf, startSweep, storeNotification } from './worker-inbox.js';
import { addressInput, arrive, depositInput, depositRow, makeKnownAddress, makeMerchantRow } from './worker-rows.js';
import { openWorkerWorld, type WorkerWorld } from './worker-world.js';

/** A history as it is committed: what `Worker.runReplayHistory` wants. */
export interface RecordedHistory {
  readonly workflowId: string;
  readonly history: { readonly events: readonly Readonly<Record<string, unknown>>[] };
}

const WITHIN_MS = 10_000;
const SETTINGS = {
  SVERKA_DEPOSIT_POLL_INTERVAL: '1s',
  SVERKA_BALANCE_CHECK_INTERVAL: '1h',
  SVERKA_BALANCE_RECHECK_INTERVAL: '200ms',
};

/**
 * Runs each flow once against real servers and answers its history by name, as it stands in Temporal: one per workflow
 * and path. `settings` are names of `src/config.ts`; `long` adds those that take hundreds of steps.
 */
export async function recordHistories(
  settings: Readonly<Record<string, string>> = {},
  { long = false }: { long?: boolean } = {},
): Promise<ReadonlyMap<string, RecordedHistory>> {
  const world = await openWorkerWorld({ settings: { ...SETTINGS, ...settings }, pert: true });
  const worker = await world.startWorker({
    // Each path of the mirror has an account of its own; all are that of the simulator.
    deps: (deps) => ({ ...deps, pert: ({ book }) => deps.pert({ book, account: 'pert-main' }) }),
  });
  try {
    const ids: Record<string, string | RunOf> = {
      ...(await playDeposits(world)),
      ...(await playAddresses(world)),
      ...(await playIssuances(world)),
      ...(await playCards(world)),
      ...(await playWithdrawals(world)),
      ...(await playStanding(world)),
      ...(await playBalances(world)),
      ...(long ? { ...(await playContinued(world)), ...(await playBalancesContinued(world)) } : {}),
    };
    const recorded = await Promise.all(
      Object.entries(ids).map(async ([name, of]) => [name, await record(world, of)] as const),
    );
    return new Map(recorded);
  } finally {
    await worker.stop();
    await world.close();
  }
}

/** Each answers workflow ids by name. */
type Played = Record<string, string>;

async function playDeposits(world: WorkerWorld): Promise<Played> {
  const to = await makeKnownAddress(world);
  const begin = async (deposit: object, fault?: object) => {
    const ref = await arrive(world, to, deposit);
    if (fault) await world.custody.drive('POST', '/_sim/faults', { ...fault, match: { path: `/v1/deposits/${ref}` } });
    const input = depositInput(ref);
    await nudgeDeposit(world.temporal, input, { start: true });
    return { ref, input, id: depositWorkflowId(input) };
  };
  const inState = (ref: string, state: string) =>
    eventually(async () => (await depositRow(world, ref))?.state === state);
  const ended = (id: string) => world.temporal.client.workflow.getHandle(id).result();

  const direct = await begin({});
  await ended(direct.id);
  const nudged = await begin({ status: 'seen' });
  await inState(nudged.ref, 'confirming');
  await world.custody.drive('PATCH', `/_sim/deposits/${nudged.ref}`, { status: 'completed' });
  await nudgeDeposit(world.temporal, nudged.input, { start: true });
  await ended(nudged.id);
  const polled = await begin({ status: 'confirming' });
  await inState(polled.ref, 'confirming');
  await eventually(async () => (await historyOf(world, polled.id)).scheduled >= 2);
  await world.custody.drive('PATCH', `/_sim/deposits/${polled.ref}`, { status: 'completed' });
  await ended(polled.id);
  const absent = await begin({}, { fault: 'not_found', times: 2 });
  await ended(absent.id);
  const failing = await begin({}, { fault: 'status', status: 503, times: 1 });
  await ended(failing.id);
  const parked = await begin({ amount: '1.0000001' });
  await inState(parked.ref, 'parked');
  await nudgeDeposit(world.temporal, parked.input, { start: true });
  await eventually(async () => (await historyOf(world, parked.id)).scheduled === 2);
  return {
    'deposit-final': direct.id,
    'deposit-nudged': nudged.id,
    'deposit-polled': polled.id,
    'deposit-not-found': absent.id,
    'deposit-read-failed': failing.id,
    'deposit-parked-open': parked.id,
  };
}

async function playAddresses(world: WorkerWorld): Promise<Played> {
  const play = async (faults: object[], of: Partial<DepositAddressInput> = {}, merchantId?: string) => {
    for (const fault of faults) {
      const match = { method: 'POST', path: '/v1/addresses' };
      await world.custody.drive('POST', '/_sim/faults', { match, times: 1, ...fault });
    }
    const input = addressInput(merchantId ?? (await makeMerchantRow(world)), `k-${Math.random()}`, of);
    await requestDepositAddress(world.temporal, input, WITHIN_MS);
    const workflowId = depositAddressWorkflowId({ ...input, requestId: input.request.id });
    await world.temporal.client.workflow.getHandle(workflowId).result();
    return { workflowId, input };
  };
  const made = await play([]);
  const { merchantId } = made.input;
  const existing = await play([], {}, merchantId);
  const refused = await play([], { settlementMode: 'settled', settlementAsset: 'EUR' }, merchantId);
  const lost = await play([{ fault: 'lost_answer' }]);
  const recreated = await play([{ fault: 'timeout_before' }]);
  const limited = await play([{ fault: 'status', status: 429 }]);
  const rejected = await play([{ fault: 'status', status: 422 }]);
  return {
    'deposit-address-made': made.workflowId,
    'deposit-address-existing': existing.workflowId,
    'deposit-address-refused': refused.workflowId,
    'deposit-address-lost': lost.workflowId,
    'deposit-address-recreated': recreated.workflowId,
    'deposit-address-limited': limited.workflowId,
    'deposit-address-rejected': rejected.workflowId,
  };
}

async function playStanding(world: WorkerWorld): Promise<Played> {
  const { client, taskQueue } = world.temporal;
  const to = await makeKnownAddress(world);
  const closed = await arrive(world, to);
  await nudgeDeposit(world.temporal, depositInput(closed), { start: true });
  await client.workflow.getHandle(depositWorkflowId(depositInput(closed))).result();
  await storeNotification(world, closed);
  const sweep = await startSweep(world);
  await eventually(async () => (await notificationsOf(world, closed)) === 'done');
  await eventually(async () => (await historyOf(world, sweep)).timers >= 2);
  const source = { book: 'live', provider: 'custody', account: 'main-live' } as const;
  const workflowId = `deposit-reconcile:live:custody-${taskQueue}`;
  await client.workflow.execute('depositReconcile', { workflowId, taskQueue, args: [source] });
  return { 'inbox-sweep-open': sweep, 'deposit-reconcile': workflowId };
}

/** The latest run, or that one. */
async function record({ temporal }: WorkerWorld, of: string | RunOf): Promise<RecordedHistory> {
  const { workflowId, runId } = typeof of === 'string' ? { workflowId: of, runId: undefined } : of;
  const history = await temporal.client.workflow.getHandle(workflowId, runId).fetchHistory();
  return { workflowId, history: JSON.parse(historyToJSON(history), withoutMachine) };
}

// Which machine it was is nobody's business; it stands in identities and in names of sticky queues.
function withoutMachine(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(`${process.pid}@${hostname()}`, 'recorder') : value;
}
