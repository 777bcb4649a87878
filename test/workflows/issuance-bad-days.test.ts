import { createHmac, randomUUID } from 'node:crypto';
import { createIssuanceReadActivities } from '../../src/activities/issuance-reads.js';
import { createIssuanceActivities } from '../../src/activities/issuances.js';
import { requestId } from '../../src/db/new-id.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { eventually, TEST_SECRET } from '../support/simulated-custody.js';
import { openWorldGateway } from '../support/worker-gateway.js';
import { startSweep } from '../support/worker-inbox.js';
import type { RunningWorker } from '../support/worker-world.js';

const SETTINGS = {
  SVERKA_UNKNOWN_LOOKUP_INTERVAL: '100ms',
  SVERKA_SWEEP_INTERVAL: '100ms',
  SVERKA_SWEEP_GRACE: '1ms',
  SVERKA_STRANDED_AGE: '300ms',
  // The work of an issuance must do with what a pool of one leaves.
  SVERKA_DATABASE_POOL: '1',
};

let it: IssuanceWorld;
let worker: RunningWorker;
let sweep: string;
beforeAll(async () => {
  it = await openIssuanceWorld({ settings: SETTINGS });
  worker = await it.world.startWorker();
  sweep = await startSweep(it.world);
});
afterAll(async () => {
  await it.world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
  await it.close();
});
afterEach(async () => {
  await it.issuer.drive('POST', '/_sim/times', { async_ms: 300 }).catch(() => undefined);
  await expectMoneyInvariants(it.world.owner, 'any');
});

async function fault(body: object): Promise<void> {
  await it.issuer.drive('POST', '/_sim/faults', { times: 1, ...body });
}

async function until(cardId: string, state: string): Promise<void> {
  await eventually(async () => (await it.card(cardId)).issuance.state === state);
}

async function settlesOf(cardId: string): Promise<number> {
  const { issuance } = await it.card(cardId);
  const rows = await it.world.tx.query(
    `select 1 from ledger.movement where subject_id = $1 and kind in ('issuance_settle', 'issuance_release')`,
    [issuance.id],
  );
  return rows.length;
}

async function notify(event: object, { secret = TEST_SECRET }: { secret?: string } = {}): Promise<number> {
  const body = JSON.stringify({ event_id: randomUUID(), occurred_at: new Date().toISOString(), ...event });
  const t = Math.floor(Date.now() / 1_000);
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
  const headers = { 'x-issuer-signature': `t=${t},v1=${v1}`, 'content-type': 'application/json' };
  return (await fetch(`${it.relay.url}/hooks/issuer/main-live`, { method: 'POST', body, headers })).status;
}

describe('a notification', () => {
  test('that is forged is 401 and changes nothing', async () => {
    const answer = await it.issue('forged', { product: 'async', prefer: 'respond-async' });
    const { issuance } = await it.card(answer.body.id);
    const forged = { type: 'card.issued', card_id: 'x', reference: issuance.id };
    expect(await notify(forged, { secret: 'another secret of thirty-two characters' })).toBe(401);
    await until(answer.body.id, 'active');
    expect(await settlesOf(answer.body.id)).toBe(1);
  });

  test('that comes before the answer, and doubled, settles it once', async () => {
    await fault({ match: { method: 'POST', path: '/v1/cards' }, fault: 'slow', ms: 700 });
    const answer = await it.issue('early', { prefer: 'wait=0' });
    const { issuance } = await it.card(answer.body.id);
    const early = { type: 'card.issued', card_id: 'crd_unknown_yet', reference: issuance.id };
    expect([await notify(early), await notify(early)]).toEqual([200, 200]);
    await until(answer.body.id, 'active');
    expect(await settlesOf(answer.body.id)).toBe(1);
    const waiting = `select 1 from sverka.inbox where subject_ref = $1 and status <> 'done'`;
    await eventually(async () => (await it.world.tx.query(waiting, [issuance.id])).length === 0);
  });

  test('of a card that is not ours is kept, creates nothing, and later ones are read like it', async () => {
    const before = await it.available();
    const status = await notify({ type: 'card.issued', card_id: 'crd_of_nobody', reference: 'iss_of_nobody' });
    expect(status).toBe(200);
    const kept = `select 1 from sverka.inbox where subject_ref = 'iss_of_nobody' and status = 'unmatched'`;
    await eventually(async () => (await it.world.tx.query(kept)).length === 1);
    expect(await it.available()).toBe(before);
  });

  test('of a card that was settled long ago is read once more by the sweep, and changes no money', async () => {
    const answer = await it.issue('long-ago');
    const { issuance } = await it.card(answer.body.id);
    const before = await it.available();
    expect(await notify({ type: 'card.changed', card_id: 'any', reference: issuance.id })).toBe(200);
    const done = `select 1 from sverka.inbox where subject_ref = $1 and event_type = 'card.changed' and status = 'done'`;
    await eventually(async () => (await it.world.tx.query(done, [issuance.id])).length === 1);
    expect([await it.available(), await settlesOf(answer.body.id)]).toEqual([before, 1]);
  });
});

test('a cardholder who is erased before anything was sent ends it, and gives the money back', async () => {
  const holder = await it.cardholder();
  const before = await it.available();
  await worker.stop();
  const asked = it.issue('erased', { cardholder: holder, prefer: 'wait=0' });
  await it.gateway.erase(it.merchant, `/v1/cardholders/${holder}`);
  worker = await it.world.startWorker();
  const answer = await asked;
  expect([202, 409]).toContain(answer.status);
  await eventually(async () => (await it.issue('erased', { cardholder: holder })).status === 409);
  expect((await it.issue('erased', { cardholder: holder })).body.code).toBe('cardholder_erased');
  expect(await it.available()).toBe(before);
});

test('a cardholder who is erased while the issuer makes the card changes nothing: the card is his', async () => {
  const holder = await it.cardholder();
  const answer = await it.issue('erased-late', { cardholder: holder, product: 'async', prefer: 'wait=0' });
  await until(answer.body.id, 'pending');
  await it.gateway.erase(it.merchant, `/v1/cardholders/${holder}`);
  await until(answer.body.id, 'active');
  expect((await it.issue('erased-late', { cardholder: holder, product: 'async' })).status).toBe(201);
  const fresh = await it.issue('erased-then', { cardholder: holder });
  expect([fresh.status, fresh.body.code]).toEqual([409, 'cardholder_erased']);
});

test('with no worker the answer is the request, and the same key gives the card when one is back', async () => {
  await worker.stop();
  const answer = await it.issue('no-worker', { prefer: 'wait=0' });
  expect([answer.status, answer.headers.get('location')]).toEqual([
    202,
    expect.stringMatching(/^\/v1\/requests\/req_/),
  ]);
  worker = await it.world.startWorker();
  await eventually(async () => (await it.issue('no-worker')).status === 201);
  const card = (await it.issue('no-worker')).body;
  expect(await settlesOf(card.id)).toBe(1);
});

test('when Temporal has forgotten it, the key still leads to the same card, and another body to 422', async () => {
  const answer = await it.issue('retention');
  const without = await openWorldGateway(it.world, { address: '127.0.0.1:9' });
  const body = { cardholder_id: answer.body.cardholder_id, product: 'instant', load: { amount: '25', asset: 'USD' } };
  const again = await without.post(it.merchant, '/v1/cards', { key: 'retention', body });
  expect([again.status, again.body.id, again.headers.get('idempotent-replayed')]).toEqual([
    201,
    answer.body.id,
    'true',
  ]);
  const other = { ...body, load: { amount: '1.00', asset: 'USD' } };
  expect((await without.post(it.merchant, '/v1/cards', { key: 'retention', body: other })).status).toBe(422);
  expect(await settlesOf(answer.body.id)).toBe(1);
  await without.close();
});

async function endRunOf(issuanceId: string): Promise<void> {
  const sql = 'select workflow_id as id from sverka.issuance where id = $1';
  const [run] = await it.world.tx.query<{ id: string }>(sql, [issuanceId]);
  await it.world.temporal.client.workflow.getHandle(run?.id ?? '').terminate('a hand slipped');
}

test('one whose run was ended by hand after the create is read by the sweep: found, and settled once', async () => {
  await fault({ match: { method: 'POST', path: '/v1/cards' }, fault: 'lost_answer' });
  await it.issuer.drive('POST', '/_sim/times', { lag_ms: 1_500 });
  const answer = await it.issue('ended', { prefer: 'wait=0' });
  await until(answer.body.id, 'unknown');
  const { issuance } = await it.card(answer.body.id);
  await endRunOf(issuance.id);
  await until(answer.body.id, 'active');
  const made = (await it.issuer.truth()).effects.filter(({ reference }) => reference === issuance.id);
  expect([made.length, await settlesOf(answer.body.id)]).toEqual([1, 1]);
  await it.issuer.drive('POST', '/_sim/times', { lag_ms: 100 });
});

test('one whose run was ended by hand before anything was sent gives the money back', async () => {
  const before = await it.available();
  const { databaseReserveIssuance } = createIssuanceActivities(it.world.deps);
  const { providerReadIssuanceOf } = createIssuanceReadActivities(it.world.deps);
  const at = { book: 'live', provider: 'issuer', account: 'main-live' } as const;
  const key = 'ended-early';
  const request = { id: requestId({ book: 'live', merchantId: it.merchant.id, key }), key, method: 'POST' };
  const { issuanceId } = await databaseReserveIssuance({
    ...at,
    merchantId: it.merchant.id,
    request: { ...request, path: '/v1/cards', fingerprint: '00'.repeat(32) },
    ...{ cardholderId: await it.cardholder(), product: 'instant', asset: 'USD', load: '2500' },
    ...{ traceId: newTraceId(), generation: 0 },
  });
  expect(before - (await it.available())).toBe(2_600n);
  expect(await providerReadIssuanceOf({ ...at, ref: issuanceId ?? '', traceId: newTraceId() })).toEqual({
    state: 'failed',
  });
  expect(await it.available()).toBe(before);
});

test('while the breaker is open a new card is refused before anything is reserved', async () => {
  const before = await it.available();
  await it.world.owner.query(
    `insert into sverka.breaker (name, state, open_until) values ('issuer:live', 'open', clock_timestamp() + interval '20 s')
     on conflict (name) do update set state = 'open', open_until = excluded.open_until`,
  );
  const answer = await it.issue('breaker');
  expect([answer.status, answer.body.code, Number(answer.headers.get('retry-after')) > 0]).toEqual([
    503,
    'provider_unavailable',
    true,
  ]);
  await it.world.owner.query(`update sverka.breaker set state = 'closed', open_until = null`);
  expect(await it.available()).toBe(before);
  expect((await it.issue('breaker')).status).toBe(201);
});
