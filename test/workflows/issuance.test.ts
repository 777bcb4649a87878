import { setTimeout as pause } from 'node:timers/promises';
import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import type { RunningWorker } from '../support/worker-world.js';

let it: IssuanceWorld;
let worker: RunningWorker;
beforeAll(async () => {
  it = await openIssuanceWorld({ settings: { SVERKA_UNKNOWN_LOOKUP_INTERVAL: '100ms' } });
  worker = await it.world.startWorker();
});
afterAll(async () => {
  await worker.stop();
  await it.close();
});
afterEach(async () => {
  for (const fault of faults.splice(0)) await it.issuer.drive('DELETE', `/_sim/faults/${fault}`).catch(() => undefined);
  await expectMoneyInvariants(it.world.owner, 'any');
});

const faults: string[] = [];

async function plant(body: object): Promise<string> {
  const { id } = await it.issuer.drive('POST', '/_sim/faults', body);
  faults.push(id);
  return id;
}

/** Cards that the issuer has really made for this issuance. */
async function madeFor(issuanceId: string): Promise<number> {
  const { effects } = await it.issuer.truth();
  return effects.filter(({ kind, reference }) => kind === 'card' && reference === issuanceId).length;
}

async function until(cardId: string, state: string): Promise<void> {
  await eventually(async () => (await it.card(cardId)).issuance.state === state);
}

async function kindsOf(issuanceId: string): Promise<string[]> {
  const rows = await it.world.tx.query<{ kind: string }>(
    'select kind from ledger.movement where subject_id = $1 order by id',
    [issuanceId],
  );
  return rows.map(({ kind }) => kind);
}

const COST = 2_600n;

describe('an issuance', () => {
  test('of a quick issuer answers with the card, which costs its load and the fee, once', async () => {
    const before = await it.available();
    const answer = await it.issue('quick');
    expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ state: 'active', reason: null })]);
    expect(answer.headers.get('location')).toBe(`/v1/cards/${answer.body.id}`);
    const card = await it.card(answer.body.id);
    expect(card.loaded.amount).toBe('25.00');
    expect(card.issuance).toMatchObject({ state: 'active', fee: { amount: '1.00', asset: 'USD' }, generation: 0 });
    expect(card.masked_number).toBe(`************${card.last4}`);
    expect(before - (await it.available())).toBe(COST);
    expect(await madeFor(card.issuance.id)).toBe(1);
    expect(await kindsOf(card.issuance.id)).toEqual(['issuance_hold', 'issuance_settle']);
    await expectNothingChanges(it.world.owner, async () => {
      const again = await it.issue('quick');
      expect([again.status, again.headers.get('idempotent-replayed'), again.body.id]).toEqual([201, 'true', card.id]);
    });
  });

  test('of a slow issuer is 202, and settled by the webhook', async () => {
    const answer = await it.issue('by-webhook', { product: 'async', prefer: 'respond-async' });
    expect([answer.status, answer.body.state, answer.headers.get('retry-after')]).toEqual([202, 'pending', '1']);
    await until(answer.body.id, 'active');
    const card = await it.card(answer.body.id);
    expect([card.state, card.loaded.amount]).toEqual(['active', '25.00']);
    expect(await kindsOf(card.issuance.id)).toEqual(['issuance_hold', 'issuance_settle']);
  });

  test('that the issuer declines is 402 with the card that failed, and costs nothing', async () => {
    const before = await it.available();
    const holder = await it.cardholderWith({ document: 'DECLINE-1' });
    const answer = await it.issue('declined', { cardholder: holder });
    expect([answer.status, answer.body.code]).toEqual([402, 'issuer_declined']);
    const location = answer.headers.get('location') ?? '';
    const card = await it.card(location.replace('/v1/cards/', ''));
    expect([card.state, card.issuance.state, card.loaded.amount]).toEqual(['failed', 'failed', '0.00']);
    expect(await it.available()).toBe(before);
    const again = await it.issue('declined', { cardholder: holder });
    expect([again.status, again.headers.get('location')]).toEqual([402, location]);
  });

  test('that the wallet does not cover is refused for ever under its key, and moves nothing', async () => {
    const answer = await it.issue('too-dear', { amount: '100000.00' });
    expect([answer.status, answer.body.code]).toEqual([402, 'insufficient_funds']);
    const again = await it.issue('too-dear', { amount: '100000.00' });
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([402, 'true']);
    const events = await it.world.tx.query(`select data from sverka.event where type = 'wallet.insufficient_funds'`);
    expect(events).toHaveLength(1);
  });

  test('under a key that was used with another body is 422, open and closed', async () => {
    await it.issue('one-body', { product: 'async', prefer: 'respond-async' });
    const open = await it.issue('one-body', { product: 'async', amount: '26.00' });
    expect([open.status, open.body.code]).toEqual([422, 'idempotency_key_reused']);
    await it.issue('other-body');
    const closed = await it.issue('other-body', { amount: '26' });
    expect(closed.status).toBe(422);
    expect((await it.issue('other-body', { amount: '25' })).status).toBe(201);
  });
});

describe('a create at the issuer', () => {
  test.each([
    ['lost_answer', 'made'],
    ['timeout_after', 'made'],
    ['garbage', 'made'],
  ])('with %s is unknown, found by our reference and settled once', async (kind) => {
    await plant({ match: { method: 'POST', path: '/v1/cards' }, fault: kind, times: 1 });
    const answer = await it.issue(`lost-${kind}`, { prefer: 'wait=1' });
    expect([201, 202]).toContain(answer.status);
    await until(answer.body.id, 'active');
    const card = await it.card(answer.body.id);
    expect(await madeFor(card.issuance.id)).toBe(1);
    expect(await kindsOf(card.issuance.id)).toEqual(['issuance_hold', 'issuance_settle']);
  });

  test('that times out before it is made stays unknown: the hold stays, nothing is sent again', async () => {
    const before = await it.available();
    await plant({ match: { method: 'POST', path: '/v1/cards' }, fault: 'timeout_before', times: 1 });
    const answer = await it.issue('never-made', { prefer: 'wait=1' });
    expect(answer.status).toBe(202);
    await until(answer.body.id, 'unknown');
    const card = await it.card(answer.body.id);
    expect(await madeFor(card.issuance.id)).toBe(0);
    expect(before - (await it.available())).toBe(COST);
    expect(await kindsOf(card.issuance.id)).toEqual(['issuance_hold']);
  });

  test('that is refused with 401 stops and alerts, and goes on by itself when the key is mended', async () => {
    await plant({ match: { method: 'POST', path: '/v1/cards' }, fault: 'unauthorized', times: 3 });
    const answer = await it.issue('misconfigured', { prefer: 'wait=0' });
    expect(answer.status).toBe(202);
    await eventually(async () => (await it.alerts('provider_misconfigured')) > 0);
    await until(answer.body.id, 'active');
    expect(await madeFor((await it.card(answer.body.id)).issuance.id)).toBe(1);
  });

  test('that is answered 409 proves nothing: it is looked up, and not sent again', async () => {
    await plant({ match: { method: 'POST', path: '/v1/cards' }, fault: 'status', status: 409, times: 1 });
    const answer = await it.issue('conflict', { prefer: 'wait=0' });
    await until(answer.body.id, 'unknown');
    expect((await it.issuer.truth()).requests['POST /v1/cards']).toBeDefined();
    expect(await madeFor((await it.card(answer.body.id)).issuance.id)).toBe(0);
  });

  test('that makes a card with another load settles nothing: it is flagged for a person', async () => {
    await plant({ match: { method: 'POST', path: '/v1/cards' }, fault: 'wrong_amount', amount: '20.00', times: 1 });
    const answer = await it.issue('partial', { prefer: 'wait=0' });
    await eventually(async () => (await it.card(answer.body.id)).issuance.reason === 'amount_mismatch');
    const card = await it.card(answer.body.id);
    expect([card.state, card.issuance.state, card.loaded.amount]).toEqual(['pending', 'pending', '0.00']);
    expect(await kindsOf(card.issuance.id)).toEqual(['issuance_hold']);
    expect(await it.alerts('issuance_needs_person')).toBeGreaterThan(0);
  });
});

test('twenty callers with one key have one card and the same answer', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => it.issue('twenty')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(await madeFor((await it.card(answers[0]?.body.id ?? '')).issuance.id)).toBe(1);
});

test('no transaction is open while the issuer is called', async () => {
  const calls = async () => (await it.issuer.truth()).requests['POST /v1/cards'] ?? 0;
  const before = await calls();
  await it.issuer.drive('POST', '/_sim/faults', {
    match: { method: 'POST', path: '/v1/cards' },
    fault: 'slow',
    ms: 1_900,
    times: 1,
  });
  const asked = it.issue('watched', { prefer: 'wait=10' });
  await eventually(async () => (await calls()) > before);
  const open = `select 1 from pg_stat_activity where datname = current_database()
    and state like 'idle in transaction%' and xact_start < clock_timestamp() - interval '300 ms'`;
  await pause(500);
  expect((await it.world.owner.query(open)).rows).toEqual([]);
  expect((await it.card((await asked).body.id)).issuance.submitted_at).not.toBeNull();
});

test('two issuances for the last cent of the wallet: exactly one has it', async () => {
  const left = await it.available();
  const amount = `${(left - 100n) / 100n}.${String((left - 100n) % 100n).padStart(2, '0')}`;
  const answers = await Promise.all(['last-1', 'last-2'].map((key) => it.issue(key, { amount })));
  expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 402]);
  expect(await it.available()).toBe(0n);
});
