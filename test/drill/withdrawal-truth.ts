import { setTimeout as pause } from 'node:timers/promises';
import { createPayoutActivities } from '../../src/activities/payouts.js';
import { createWithdrawalActivities } from '../../src/activities/withdrawals.js';
import { nudgeWithdrawal } from '../../src/client/withdrawals.js';
import { withdrawalWorkflowId } from '../../src/contracts/ids.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { decimalsOf } from '../../src/domain/assets.js';
import { parseAmount } from '../../src/domain/money.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { type Asked, decideOn } from '../support/asked-withdrawals.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { resultOf } from './result-of.js';
import { oneAccount } from './with-worker.js';

const LATE_LOOKS = 100;
const LATE_LOOK_MS = 100;

export async function startWithdrawals({ temporal }: WorkerWorld, asked: readonly Asked[]): Promise<void> {
  for (const { id, merchantId } of asked) {
    await nudgeWithdrawal(temporal, { book: 'live', id, merchantId, traceId: newTraceId() });
  }
}

/** Each workflow has ended. A person declares failed what the custodian does not show for long. */
export async function untilPaid(world: WorkerWorld, asked: readonly Asked[]): Promise<void> {
  const ended = new AbortController();
  const all = Promise.all(asked.map(({ id }) => resultOf(world, withdrawalWorkflowId({ book: 'live', id }))));
  const person = async () => {
    for (; !ended.signal.aborted; await pause(200)) await declareFailed(world, asked);
  };
  await Promise.all([all.finally(() => ended.abort()), person()]);
}

async function declareFailed(world: WorkerWorld, asked: readonly Asked[]): Promise<void> {
  for (const each of asked) {
    const { state, needsOperator, payoutRef } = await readWithdrawal(world.tx, each.id);
    if (state !== 'unknown' || !needsOperator || payoutRef !== null) continue;
    await decideOn(world, each, { choice: 'fail', userId: each.operator, argument: null });
    await startWithdrawals(world, [each]);
  }
}

/** The same work once more, as a second run would: nothing may come of it. */
export async function payAgain({ deps }: WorkerWorld, asked: readonly Asked[]): Promise<void> {
  const own = oneAccount(deps);
  const { databaseDecideWithdrawal } = createWithdrawalActivities(own);
  const { databaseSubmitWithdrawal, providerCreatePayout, providerReadPayout } = createPayoutActivities(own);
  for (const { id } of asked) {
    const of = { id, runId: 'again', traceId: newTraceId(), looks: 0, told: 0 };
    await databaseDecideWithdrawal(of);
    await databaseSubmitWithdrawal({ ...of, after: null });
    await providerCreatePayout({ ...of, tries: 0 });
    await providerReadPayout(of);
  }
}

/** Every payout of the custodian's that did not fail: whose, where to, how much. */
export async function payoutsAtCustodian({ custody }: WorkerWorld): Promise<string[]> {
  const { objects } = (await custody.drive('GET', '/_sim/truth')) as unknown as {
    objects: { payouts?: Record<string, string>[] };
  };
  return (objects.payouts ?? []).map(
    ({ reference, address, amount, asset }) =>
      `${reference} to ${address}: ${parseAmount(amount, decimalsOf(String(asset)))} ${asset}`,
  );
}

/** The same lines out of what the journal has as paid. */
export async function payoutsOfOurs(world: WorkerWorld): Promise<string[]> {
  const { owner } = world;
  await lookLate(world);
  const { rows } = await owner.query<{ line: string }>(
    `select format('%s to %s: %s %s', w.id, w.address, e.amount, w.asset) as line
       from sverka.withdrawal w
       join ledger.movement m on m.subject_id = w.id and m.kind = 'withdrawal_settle'
       join ledger.entry e on e.movement_id = m.id
       join ledger.account a on a.id = e.account_id and a.kind = 'clearing:payout' and a.asset = w.asset
      where w.route = 'custody'`,
  );
  return rows.map(({ line }) => line);
}

/** A process that was away may pay what a person gave up meanwhile: the look that follows it for a month finds that. */
async function lookLate(world: WorkerWorld): Promise<void> {
  const { owner, deps } = world;
  const { rows } = await owner.query<{ id: string }>(
    `select id from sverka.withdrawal where state = 'failed' and reason = 'declared_failed'`,
  );
  const { providerReadPayout } = createPayoutActivities(oneAccount(deps));
  for (const { id } of rows) {
    // One that is shown as queued is paid in a moment, and taken back then.
    for (let looks = 0; looks < LATE_LOOKS; looks += 1) {
      await providerReadPayout({ id, runId: 'late', traceId: newTraceId(), looks: 0, told: 0 });
      const { state, payoutRef } = await readWithdrawal(world.tx, id);
      if (state !== 'failed' || payoutRef === null) break;
      await pause(LATE_LOOK_MS);
    }
  }
}
