import { createActivities } from '../../src/activities/create-activities.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { findIssuance } from '../../src/db/issuances.js';
import { decidableIssuance } from '../../src/domain/issuance-decision.js';
import { KeyError } from '../../src/providers/keys/key-provider.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { startSweep, storeNotification } from '../support/worker-inbox.js';
import type { RunningWorker } from '../support/worker-world.js';

const SETTINGS = {
  SVERKA_UNKNOWN_LOOKUP_INTERVAL: '50ms',
  SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: '200ms',
  SVERKA_UNKNOWN_ALERT_LOOKS: '3',
  SVERKA_CREATE_RETRY_INTERVAL_MAX: '200ms',
  SVERKA_SWEEP_INTERVAL: '100ms',
  SVERKA_SWEEP_GRACE: '1ms',
};

let it: IssuanceWorld;
let worker: RunningWorker;
let sweep: string;
let operator: string;
/** What the worker's activities are given, which a test may change. */
let keysAway: KeyError | null = null;
beforeAll(async () => {
  it = await openIssuanceWorld({ settings: SETTINGS });
  await it.issuer.drive('POST', '/_sim/times', { lag_ms: 0, async_ms: 600_000 });
  worker = await it.world.startWorker({ deps: withKeysAway });
  sweep = await startSweep(it.world);
  operator = await makePerson(it.world.owner, 'operator');
});
afterAll(async () => {
  await it.world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
  await it.close();
});
afterEach(async () => {
  keysAway = null;
  await expectMoneyInvariants(it.world.owner, 'any');
});

function withKeysAway(deps: ActivityDeps): ActivityDeps {
  const unwrap: typeof deps.keys.unwrap = (keyId, wrapped) =>
    keysAway === null ? deps.keys.unwrap(keyId, wrapped) : Promise.reject(keysAway);
  return { ...deps, keys: { ...deps.keys, unwrap } };
}

const fault = (body: object) => it.issuer.drive('POST', '/_sim/faults', { times: 1, ...body });
const CREATE = { method: 'POST', path: '/v1/cards' };

async function rowOf(cardId: string) {
  const record = await findIssuance(it.world.tx, (await it.card(cardId)).issuance.id);
  if (record === null) throw new Error(`Card ${cardId} has no issuance.`);
  return record;
}

const until = (cardId: string, state: string) => eventually(async () => (await rowOf(cardId)).state === state);

async function madeFor(issuanceId: string): Promise<string[]> {
  const { effects } = await it.issuer.truth();
  return effects.filter(({ reference }) => reference === issuanceId).map(({ id }) => id);
}

/** Kinds of open alerts about it. */
async function alertsOf(id: string): Promise<string[]> {
  const sql = `select kind from sverka.alert where subject_id = $1 and state = 'open'`;
  return (await it.world.tx.query<{ kind: string }>(sql, [id])).map(({ kind }) => kind);
}

async function statesOf(issuanceId: string): Promise<string[]> {
  const sql = 'select to_state as state from sverka.audit where subject_id = $1 order by id';
  return (await it.world.tx.query<{ state: string }>(sql, [issuanceId])).map(({ state }) => state);
}

/** A card that the product did not ask for, made by the wire. */
async function makeAtIssuer(body: object): Promise<string> {
  const [account] = it.world.config.providers.filter(({ provider, book }) => provider === 'issuer' && book === 'live');
  const answer = await fetch(`${account?.url}/v1/cards`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account?.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ holder: HOLDER, product: 'instant', load: { amount: '25.00', asset: 'USD' }, ...body }),
  });
  return ((await answer.json()) as { id: string }).id;
}
const HOLDER = { first_name: 'Ada', last_name: 'Koch', birth_date: '1990-02-28', country: 'DE', document: 'X1' };

/** An issuance of which nobody knows whether it was made; nothing was. */
async function unknown(key: string): Promise<{ cardId: string; id: string }> {
  await fault({ match: CREATE, fault: 'timeout_before' });
  const { body } = await it.issue(key, { prefer: 'wait=0' });
  await eventually(async () => (await rowOf(body.id)).needsOperator);
  return { cardId: body.id, id: (await rowOf(body.id)).id };
}

test('a run that is reset past its submit does not send again, and does not wait for ever', async () => {
  await fault({ match: CREATE, fault: 'timeout_before' });
  const { body } = await it.issue('reset', { prefer: 'wait=0' });
  const before = await rowOf(body.id);
  const { workflowId } = before;
  const handle = it.world.temporal.client.workflow.getHandle(workflowId);
  let taskFinished: bigint | null = null;
  await eventually(async () => {
    const events = (await handle.fetchHistory()).events ?? [];
    const scheduled = events.find(
      ({ activityTaskScheduledEventAttributes: at }) => at?.activityType?.name === 'providerCreateIssuance',
    );
    const at = scheduled?.activityTaskScheduledEventAttributes?.workflowTaskCompletedEventId;
    taskFinished = at === undefined || at === null ? null : BigInt(at.toString());
    return taskFinished !== null;
  });
  const { runId } = await handle.describe();
  await it.world.temporal.client.workflowService.resetWorkflowExecution({
    namespace: it.world.config.TEMPORAL_NAMESPACE,
    workflowExecution: { workflowId, runId },
    reason: 'a hand slipped',
    workflowTaskFinishEventId: Number(taskFinished) as unknown as Long,
    requestId: newTraceId(),
  });
  await eventually(async () => (await rowOf(body.id)).needsOperator);
  const record = await rowOf(body.id);
  expect([record.state, await madeFor(record.id)]).toEqual(['unknown', []]);
  expect(await statesOf(record.id)).toEqual(['reserved', 'submitted', 'unknown']);
  expect(decidableIssuance(record)).toEqual(['link', 'declare_failed', 'issue_again']);
});

test('while its keys are away a create is not sent and not doubted, and is made once when they are back', async () => {
  keysAway = new KeyError('unavailable', 'The key service is away.');
  const { body } = await it.issue('keys-away', { prefer: 'wait=0' });
  const { id } = await rowOf(body.id);
  // After as many tries as make an alert, it is one.
  await eventually(async () => (await rowOf(body.id)).needsOperator);
  expect([(await rowOf(body.id)).state, await madeFor(id), await alertsOf(id)]).toEqual([
    'submitted',
    [],
    ['issuance_needs_person'],
  ]);
  keysAway = null;
  await until(body.id, 'active');
  expect([await statesOf(id), (await madeFor(id)).length]).toEqual([['reserved', 'submitted', 'active'], 1]);
  expect(await alertsOf(id)).toEqual([]);
});

test('an identity that cannot be opened is an alert at once; erasing it ends the issuance', async () => {
  const before = await it.available();
  const holder = await it.cardholder();
  keysAway = new KeyError('not_opened', 'It was moved or damaged.');
  const { body } = await it.issue('damaged', { cardholder: holder, prefer: 'wait=0' });
  const { id } = await rowOf(body.id);
  await eventually(async () => (await alertsOf(id)).length === 1);
  await it.gateway.erase(it.merchant, `/v1/cardholders/${holder}`);
  await until(body.id, 'failed');
  expect([await it.available(), await alertsOf(id)]).toEqual([before, []]);
});

test('the largest load is refused when the fee makes it more than any wallet can hold', async () => {
  const answer = await it.issue('largest', { amount: '92233720368547758.07' });
  expect([answer.status, answer.body.code]).toEqual([402, 'insufficient_funds']);
  expect((await it.issue('largest', { amount: '92233720368547758.07' })).status).toBe(402);
});

test('a card that was made for another issuance is not linked, although that one still waits for it', async () => {
  const mine = await unknown('link-mine');
  const hidden = await it.issuer.drive('POST', '/_sim/faults', {
    match: { method: 'GET', path: '/v1/cards' },
    fault: 'not_found',
  });
  await fault({ match: CREATE, fault: 'lost_answer' });
  const { body } = await it.issue('link-other', { prefer: 'wait=0' });
  await until(body.id, 'unknown');
  const other = await rowOf(body.id);
  const [made = ''] = await madeFor(other.id);
  const how = { type: 'issuance', id: mine.id, choice: 'link', argument: made, userId: operator } as const;
  const decision = await decideAs(it.world.owner, how);
  let came: string | null = null;
  await eventually(async () => (came = await outcomeOf(it.world.owner, decision)) !== null);
  expect(came).toMatch(/^void: that card is another issuance/);
  await it.issuer.drive('DELETE', `/_sim/faults/${hidden.id}`);
  await until(body.id, 'active');
  expect([(await rowOf(body.id)).providerRef, (await rowOf(mine.cardId)).state]).toEqual([made, 'unknown']);
});

describe('a second card at the issuer', () => {
  test('of a settled issuance is for a person, found by the next look under our reference', async () => {
    const { body } = await it.issue('second');
    const { id } = await rowOf(body.id);
    const second = await makeAtIssuer({ reference: id });
    // The notification of its making may have been read for before there was a second one.
    await it.world.owner.query('update sverka.issuance set last_read_at = settled_at where id = $1', [id]);
    await it.reconcile();
    const record = await rowOf(body.id);
    expect([record.state, record.flag, record.contradiction?.includes(second)]).toEqual([
      'active',
      'second_card',
      true,
    ]);
    expect(await alertsOf(id)).toEqual(['issuance_needs_person']);
    await it.issuer.drive('PATCH', `/_sim/cards/${second}`, { status: 'closed' });
    await storeNotification(it.world, id, 'card');
    await eventually(async () => (await rowOf(body.id)).flag === null);
  });

  test('is looked for once, and not for ever', async () => {
    await it.reconcile();
    expect((await it.reconcile()).read).toBe((await it.reconcile()).read);
    const sql = `select 1 from sverka.issuance where state = 'active' and last_read_at <= settled_at`;
    expect(await it.world.tx.query(sql)).toEqual([]);
  });
});

test('what names a card by the issuer’s id, before anybody knows whose it is, is done once that is known', async () => {
  const { body } = await it.issue('by-card-id', { product: 'async', prefer: 'respond-async' });
  await until(body.id, 'pending');
  const { providerRef } = await rowOf(body.id);
  // As if the relay had been told before our create was answered.
  await it.world.owner.query(`update sverka.issuance set provider_ref = null where id = $1`, [
    (await rowOf(body.id)).id,
  ]);
  await storeNotification(it.world, providerRef ?? '', 'card');
  const status = async () =>
    (
      await it.world.tx.query<{ status: string }>('select status from sverka.inbox where subject_ref = $1', [
        providerRef,
      ])
    ).map((row) => row.status);
  await eventually(async () => (await status()).join() === 'unmatched');
  await it.issuer.drive('PATCH', `/_sim/cards/${providerRef}`, { status: 'active' });
  await until(body.id, 'active');
  await eventually(async () => (await status()).join() === 'done');
});

test('a notification that comes before the issuer shows the card is looked for again soon', async () => {
  await it.issuer.drive('POST', '/_sim/times', { lag_ms: 1_500 });
  const { body } = await it.issue('lagging', { product: 'async', prefer: 'respond-async' });
  await until(body.id, 'pending');
  const { id } = await rowOf(body.id);
  const [made = ''] = await madeFor(id);
  await it.issuer.drive('PATCH', `/_sim/cards/${made}`, { status: 'active' });
  await until(body.id, 'active');
  await it.issuer.drive('POST', '/_sim/times', { lag_ms: 0 });
});

test('one that the issuer does not make for a day waits for a person, who may give it up', async () => {
  const { body } = await it.issue('slow-issuer', { product: 'async', prefer: 'respond-async' });
  await until(body.id, 'pending');
  const { id } = await rowOf(body.id);
  const read = createActivities({
    ...it.world.deps,
    config: { ...it.world.config, SVERKA_PENDING_ALERT_AGE: 1 },
  }).providerReadIssuance;
  await read({ id, traceId: newTraceId(), looks: 0 });
  const record = await rowOf(body.id);
  expect([record.state, record.flag, record.needsOperator, decidableIssuance(record)]).toEqual([
    'pending',
    null,
    true,
    ['link', 'declare_failed', 'issue_again'],
  ]);
});

test('a first look of the reconciliation calls nobody; what was given up is not asked about for ever', async () => {
  const { body } = await it.issue('given-up', { product: 'async', prefer: 'respond-async' });
  await until(body.id, 'pending');
  const record = await rowOf(body.id);
  await it.issuer.drive('PATCH', `/_sim/cards/${record.providerRef}`, { reference: 'somebody-else' });
  const looksBefore = record.looks;
  await it.world.owner.query('update sverka.issuance set looks = 0 where id = $1', [record.id]);
  await it.reconcile();
  expect([looksBefore > 0, (await rowOf(body.id)).needsOperator]).toEqual([true, false]);
  for (let n = 0; n < 3; n += 1) await it.reconcile();
  expect((await rowOf(body.id)).needsOperator).toBe(true);
  const decision = await decideAs(it.world.owner, {
    type: 'issuance',
    id: record.id,
    choice: 'declare_failed',
    userId: operator,
  });
  await eventually(async () => (await outcomeOf(it.world.owner, decision)) === 'applied: declare_failed');
  const { read } = await it.reconcile();
  await it.world.owner.query(`update sverka.issuance set failed_at = now() - interval '31 days' where id = $1`, [
    record.id,
  ]);
  expect((await it.reconcile()).read).toBe(read - 1);
});
