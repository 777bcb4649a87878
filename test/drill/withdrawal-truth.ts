import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createPayoutActivities } from '../../src/activities/payouts.js';
import { createWithdrawalActivities } from '../../src/activities/withdrawals.js';
import { nudgeWithdrawal } from '../../src/client/withdrawals.js';
import { withdrawalWorkflowId } from '../../src/contracts/ids.js';
import { decisionStage, insertDecision } from '../../src/db/decisions.js';
import { UniqueViolation } from '../../src/db/errors.js';
import { newId } from '../../src/db/new-id.js';
import { requestWithdrawal } from '../../src/db/request-withdrawal.js';
import { addWithdrawalDestination, setWithdrawalOffer } from '../../src/db/withdrawal-book.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { decimalsOf } from '../../src/domain/assets.js';
import { leg } from '../../src/domain/journal.js';
import { parseAmount } from '../../src/domain/money.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { makePerson } from '../support/decisions.js';
import { movement, openPurse, postNow } from '../support/journal-fixtures.js';
import { ADDRESS, ASSET, FEE, seenWithdrawal } from '../support/withdrawal-rows.js';
import { makeMerchantRow } from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { resultOf } from './result-of.js';
import { oneAccount } from './with-worker.js';

const AMOUNT = 5_000_000n;
const FUNDS = 10_000_000n;

/** A withdrawal that was asked for, of a merchant of its own: one wallet that stands still must not hold up others. */
export interface Asked {
  readonly id: string;
  readonly merchantId: string;
  readonly approver: string;
  readonly operator: string;
}

export async function askForWithdrawals(world: WorkerWorld, count: number): Promise<Asked[]> {
  const { tx, owner } = world;
  await setWithdrawalOffer(tx, {
    ...{ book: 'live', network: 'tron', asset: ASSET, fee: FEE, smallest: 1n, setBy: 'drill' },
    ...{ twoApprovalsFrom: 1_000_000_000n, routes: ['custody', 'manual'] },
  });
  await tx.query(`update sverka.withdrawal_policy set cooling_off = '0'`);
  const asked: Asked[] = [];
  for (let n = 0; n < count; n += 1) {
    const merchantId = await makeMerchantRow(world);
    const purse = await openPurse(owner, { asset: ASSET, merchantId });
    await postNow(owner, movement([leg(purse.clearing, -FUNDS), leg(purse.wallet, FUNDS)]));
    const userId = newId('user');
    const login = (role: string) => `${role}-${userId.slice(4)}`;
    await tx.query('select sverka.create_user($1, $2, $3, $4)', [userId, login('asks'), merchantId, ['requester']]);
    const [approver, operator] = [
      await makePerson(owner, login('approves'), ['approver']),
      await makePerson(owner, login('operates'), ['operator']),
    ];
    const of = { book: 'live', merchantId, userId } as const;
    const to = { ...of, label: 'Ours', network: 'tron', address: ADDRESS, tag: null };
    const { id: destinationId } = await addWithdrawalDestination(tx, to);
    const terms = { asset: ASSET, amount: AMOUNT, seenFee: FEE, destinationId, reference: null };
    const { id } = await requestWithdrawal(tx, { ...of, ...terms, key: randomUUID(), traceId: newTraceId() });
    if (id === null) throw new Error('The drill could not ask for a withdrawal.');
    asked.push({ id, merchantId, approver, operator });
  }
  return asked;
}

export async function decideOn(
  { tx, owner }: WorkerWorld,
  { id }: Asked,
  of: { readonly choice: string; readonly userId: string; readonly argument: string | null },
): Promise<void> {
  const decision = {
    subjectType: 'withdrawal',
    subjectId: id,
    reason: 'a drill',
    traceId: newTraceId(),
    ...of,
  } as const;
  const stage = await decisionStage(tx, { type: 'withdrawal', id });
  const seenHash = await seenWithdrawal(owner, id);
  await insertDecision(tx, { ...decision, stage, seenHash }).catch((error: unknown) => {
    // Somebody has decided already, which may be this drill before a kill.
    if (!(error instanceof UniqueViolation)) throw error;
  });
}

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
export async function payoutsOfOurs({ owner }: WorkerWorld): Promise<string[]> {
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
