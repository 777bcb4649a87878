import { withdrawalWorkflowId } from '../../src/contracts/ids.js';
import { queriesOf } from '../../src/db/transaction.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { balanceOf } from '../support/journal-fixtures.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { addProof, FEE, openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';
import { historyOf } from '../support/worker-history.js';
import { startSweep } from '../support/worker-inbox.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const SETTINGS = {
  SVERKA_UNKNOWN_LOOKUP_INTERVAL: '50ms',
  SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: '500ms',
  SVERKA_UNKNOWN_ALERT_LOOKS: '2',
  SVERKA_SWEEP_INTERVAL: '100ms',
  SVERKA_SWEEP_GRACE: '1ms',
  SVERKA_SWEEP_LEASE: '300ms',
};
const AMOUNT = 20_000_000n;

let world: WorkerWorld;
let worker: RunningWorker;
let sweep: string;
let it: Withdrawing;
beforeAll(async () => {
  world = await openWorkerWorld({ settings: SETTINGS });
  worker = await world.startWorker();
  sweep = await startSweep(world);
});
beforeEach(async () => {
  it = await openWithdrawing(world.database);
});
afterEach(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
});
afterAll(async () => {
  await world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
  await world.close();
});

const record = (id: string) => readWithdrawal(queriesOf(it.owner), id);
const stands = (id: string, state: string) => eventually(async () => (await record(id)).state === state);
const handle = (id: string) => world.temporal.client.workflow.getHandle(withdrawalWorkflowId({ book: 'live', id }));

async function fault(body: object): Promise<() => Promise<unknown>> {
  const { id } = await world.custody.drive('POST', '/_sim/faults', body);
  return () => world.custody.drive('DELETE', `/_sim/faults/${id}`);
}

async function payoutsOf(id: string): Promise<Record<string, unknown>[]> {
  const { effects } = (await world.custody.drive('GET', '/_sim/truth')) as unknown as {
    effects: Record<string, unknown>[];
  };
  return effects.filter(({ kind, reference }) => kind === 'payout' && reference === id);
}

describe('a withdrawal that the custodian pays', () => {
  test('is asked for, approved by another, paid once and proven by its transaction', async () => {
    const id = await it.request();
    // The cabinet's start is lost: the sweep finds the row.
    await eventually(
      async () =>
        (await handle(id)
          .describe()
          .catch(() => null)) !== null,
    );
    await it.decide(id, 'approve', { by: it.approver });
    // So is the console's nudge.
    await stands(id, 'completed');
    const paid = await record(id);
    expect(paid).toMatchObject({ route: 'custody', approvalsNeeded: 1, flag: null, needsOperator: false });
    expect(await payoutsOf(id)).toHaveLength(1);
    expect(await balanceOf(it.owner, it.purse.wallet)).toBe(100_000_000n - AMOUNT - FEE);
    expect(await handle(id).result()).toEqual({ state: 'completed' });
    const { events } = await historyOf(world, withdrawalWorkflowId({ book: 'live', id }));
    // 45 on the straight path, and 12 for each read of the payout (the custodian takes three seconds).
    const reads = events.filter(({ eventType }) => eventType.endsWith('TIMER_FIRED')).length;
    process.stdout.write(`withdrawal paid by the custodian: ${events.length} events with ${reads} waits\n`);
    expect(events.length).toBeLessThanOrEqual(45 + 17 * reads);
    const { rows } = await it.owner.query('select type from sverka.event where subject_id = $1 order by version', [id]);
    expect(rows.map(({ type }) => type.split('.')[1])).toEqual(['requested', 'approved', 'submitted', 'completed']);
  });

  test('is not paid twice when the answer is lost: it is found by our reference', async () => {
    const mend = await fault({ match: { method: 'POST', path: '/v1/payouts' }, fault: 'lost_answer', times: 1 });
    const id = await it.request();
    await it.decide(id, 'approve', { by: it.approver });
    await stands(id, 'completed');
    await mend();
    const { rows } = await it.owner.query(
      `select to_state from sverka.audit where subject_id = $1 and subject_type = 'withdrawal' order by id`,
      [id],
    );
    expect(rows.map(({ to_state }) => to_state)).toContain('unknown');
    expect(await payoutsOf(id)).toHaveLength(1);
  });

  test('whose answer is lost waits for a person; given back and paid after all, it is taken back', async () => {
    const hide = await fault({ match: { method: 'GET', path: '/v1/payouts' }, fault: 'not_found' });
    const lose = await fault({ match: { method: 'POST', path: '/v1/payouts' }, fault: 'lost_answer', times: 1 });
    const id = await it.request();
    await it.decide(id, 'approve', { by: it.approver });
    await stands(id, 'unknown');
    await lose();
    await it.decide(id, 'fail', { by: it.operator });
    await stands(id, 'failed');
    expect(await balanceOf(it.owner, it.purse.wallet)).toBe(100_000_000n);
    await hide();
    const [payout] = await payoutsOf(id);
    // The custodian speaks of it at last.
    await world.custody.drive('PATCH', `/_sim/payouts/${payout?.['id']}`, { status: 'completed' });
    await world.temporal.client.workflow.getHandle(withdrawalWorkflowId({ book: 'live', id })).signal('nudge', {
      traceId: newTraceId(),
    });
    await stands(id, 'found_late');
    expect(await balanceOf(it.owner, it.purse.wallet)).toBe(100_000_000n - AMOUNT - FEE);
    const alerts = await it.owner.query(`select kind from sverka.alert where subject_id = $1`, [id]);
    expect(alerts.rows).toContainEqual({ kind: 'found_late' });
  });

  test('that he refuses gives the money back; that he cannot take yet is sent again, once', async () => {
    const refuse = await fault({
      match: { method: 'POST', path: '/v1/payouts' },
      fault: 'status',
      status: 422,
      times: 1,
    });
    const refused = await it.request();
    await it.decide(refused, 'approve', { by: it.approver });
    await stands(refused, 'failed');
    await refuse();
    expect((await record(refused)).reason).toBe('custodian_declined');
    const busy = await fault({
      match: { method: 'POST', path: '/v1/payouts' },
      fault: 'status',
      status: 429,
      times: 2,
    });
    const id = await it.request();
    await it.decide(id, 'approve', { by: it.approver });
    await stands(id, 'completed');
    await busy();
    expect(await payoutsOf(id)).toHaveLength(1);
  });
});

describe('a withdrawal that is paid by hand', () => {
  test('is completed with a proof that is that payout, and with no other', async () => {
    const other = await it.request({ amount: 3_000_000n });
    await it.decide(other, 'approve', { by: it.approver });
    await stands(other, 'completed');
    const wrong = (await record(other)).transactionHash ?? '';

    const id = await it.request();
    await it.decide(id, 'approve', { by: it.approver, argument: 'manual' });
    await stands(id, 'approved');
    await it.decide(id, 'pay', { by: it.operator });
    await stands(id, 'submitted');
    expect(await payoutsOf(id)).toHaveLength(0);
    await it.decide(id, 'complete', { by: it.operator, argument: await addProof(it, id, { hash: wrong }) });
    await eventually(async () => (await record(id)).flag === 'proof_mismatch');
    expect((await record(id)).state).toBe('submitted');
    // What may have been paid is not given back.
    await it.decide(id, 'fail', { by: it.operator });
    await eventually(async () => (await openDecisions(id)) === 0);
    expect((await record(id)).state).toBe('submitted');
    await it.decide(id, 'complete', { by: it.operator, argument: await addProof(it, id, { file: true }) });
    await stands(id, 'completed');
    expect(await balanceOf(it.owner, it.purse.wallet)).toBe(100_000_000n - AMOUNT - 3_000_000n - 2n * FEE);
  });
});

test('nothing that is sent to Temporal approves one', async () => {
  const id = await it.request();
  await eventually(
    async () =>
      (await handle(id)
        .describe()
        .catch(() => null)) !== null,
  );
  for (const signal of ['nudge', 'approve', 'decide']) await handle(id).signal(signal, { traceId: newTraceId(), id });
  await expect(handle(id).executeUpdate('approve', { args: [{}] })).rejects.toThrow('Update failed');
  await it.decide(id, 'reject', { by: it.operator });
  await stands(id, 'rejected');
  expect(await balanceOf(it.owner, it.purse.wallet)).toBe(100_000_000n);
});

async function openDecisions(id: string): Promise<number> {
  const { rowCount } = await it.owner.query(
    `select from sverka.decision d where d.subject_id = $1
       and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)`,
    [id],
  );
  return rowCount ?? 0;
}
