import { holdsCardNumber } from '../../src/domain/card-numbers.js';
import { verifyIssuerWebhook } from '../../src/providers/issuer/webhook.js';
import { eventually, type ReceivedHook, TEST_SECRET } from '../support/simulated-custody.js';
import {
  cardRequest,
  declinedRequest,
  type SimulatedIssuer,
  startSimulatedIssuer,
} from '../support/simulated-issuer.js';

const BODY = {
  reference: 'iss_1',
  product: 'instant',
  holder: { first_name: 'A', last_name: 'B', birth_date: '1990-01-01', country: 'DE', document: 'D1' },
  load: { amount: '10', asset: 'EUR' },
};

function verdict(hook: ReceivedHook | undefined): 'ok' | 'bad' {
  const headers = new Headers({ 'x-issuer-signature': String(hook?.headers['x-issuer-signature']) });
  return verifyIssuerWebhook({
    rawBody: hook?.body ?? Buffer.of(),
    headers,
    secrets: [TEST_SECRET],
    nowMs: Date.now(),
  });
}

const eventsOf = (hooks: readonly ReceivedHook[]) =>
  hooks.map((hook) => JSON.parse(String(hook.body)) as { type: string; reference: string; card_id: string });

describe('The simulated issuer', () => {
  let issuer: SimulatedIssuer;
  beforeAll(async () => {
    issuer = await startSimulatedIssuer();
  });
  afterAll(() => issuer.close());
  beforeEach(async () => {
    await issuer.drive('POST', '/_sim/reset');
    issuer.liveHooks.received.length = 0;
  });
  const hooks = (count: number) =>
    eventually(() => issuer.liveHooks.received.length >= count && issuer.liveHooks.received);
  const fault = (body: object) => issuer.drive('POST', '/_sim/faults', { match: { event_type: 'card.*' }, ...body });

  test('shows number and code of a card in its raw answers, the number with a check digit', async () => {
    const made = await issuer.wire('POST', '/v1/cards', BODY);
    expect(made).toMatchObject({
      status: 201,
      body: { status: 'active', pan: expect.stringMatching(/^4[0-9]{15}$/), cvv: expect.stringMatching(/^[0-9]{3}$/) },
    });
    expect(holdsCardNumber(String(made.body.pan))).toBe(true);
    expect((await issuer.wire('GET', `/v1/cards/${String(made.body.id)}`)).body).toEqual(made.body);
    expect(await issuer.secrets()).toEqual([made.body.pan, made.body.cvv]);
    const other = await issuer.wire('POST', '/v1/cards', BODY);
    expect(other.body.pan).not.toBe(made.body.pan);
  });

  test('answers 202 to the product that takes its time, and tells when the card is issued', async () => {
    await issuer.drive('POST', '/_sim/times', { async_ms: 20 });
    const made = await issuer.wire('POST', '/v1/cards', { ...BODY, product: 'async' });
    expect(made).toMatchObject({ status: 202, body: { status: 'pending', pan: null, cvv: null, exp_month: null } });
    const [hook] = await hooks(1);
    expect(verdict(hook)).toBe('ok');
    expect(eventsOf(issuer.liveHooks.received)).toMatchObject([
      { type: 'card.issued', reference: 'iss_1', card_id: made.body.id },
    ]);
    expect(await issuer.live.readCard(String(made.body.id))).toMatchObject({ status: 'active' });
  });

  test('issues a pending card by PATCH, which from then on moves only when told to', async () => {
    await issuer.drive('POST', '/_sim/times', { async_ms: 1_000 });
    const { id } = await issuer.live.createCard(cardRequest('iss_1', { product: 'async' }));
    await issuer.drive('PATCH', `/_sim/cards/${id}`, { status: 'declined', decline_reason: 'lost_interest' });
    const other = await issuer.live.createCard(cardRequest('iss_2', { product: 'async' }));
    await hooks(2);
    expect(await issuer.live.readCard(other.id)).toMatchObject({ status: 'active' });
    expect(await issuer.live.readCard(id)).toMatchObject({ status: 'declined', declineReason: 'lost_interest' });
    const told = eventsOf(issuer.liveHooks.received).map(({ type, reference }) => [type, reference]);
    expect(told).toEqual([
      ['card.declined', 'iss_1'],
      ['card.issued', 'iss_2'],
    ]);
  });

  test.each([
    ['DECLINE', 'do_not_honor'],
    ['DECLINE:limit_reached', 'limit_reached'],
    ['DECLINED-7', 'do_not_honor'],
  ])('declines a holder whose document is %s', async (document, reason) => {
    const holder = { ...BODY.holder, document };
    const made = await issuer.wire('POST', '/v1/cards', { ...BODY, holder });
    expect(made).toMatchObject({ status: 201, body: { status: 'declined', decline_reason: reason, pan: null } });
    await issuer.drive('POST', '/_sim/times', { async_ms: 10 });
    const later = await issuer.wire('POST', '/v1/cards', { ...BODY, holder, product: 'async', reference: 'iss_2' });
    expect(later.status).toBe(202);
    await hooks(2);
    expect(await issuer.live.readCard(String(later.body.id))).toMatchObject({ status: 'declined' });
    // Made was only what waited: a decline at once is no card.
    expect((await issuer.truth()).effects).toMatchObject([{ kind: 'card', reference: 'iss_2' }]);
  });

  test.each([
    [{ reference: '' }, 'invalid_request'],
    [{ product: 'metal' }, 'product_not_supported'],
    [{ holder: null }, 'invalid_request'],
    [{ holder: { ...BODY.holder, last_name: '' } }, 'invalid_request'],
    [{ load: { amount: '1e5', asset: 'EUR' } }, 'invalid_request'],
    [{ load: { amount: '10', asset: 'eur' } }, 'invalid_request'],
  ])('refuses %j with 400', async (changes, error) => {
    expect(await issuer.wire('POST', '/v1/cards', { ...BODY, ...changes })).toMatchObject({
      status: 400,
      body: { error },
    });
    expect((await issuer.truth()).effects).toEqual([]);
  });

  test('does not show a new card before its lag is over', async () => {
    await issuer.drive('POST', '/_sim/times', { lag_ms: 1_500 });
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    expect(await issuer.live.readCard(id)).toBeNull();
    expect(await issuer.live.readCardsByReference('iss_1')).toEqual([]);
    await eventually(async () => (await issuer.live.readCard(id)) !== null);
    expect(await issuer.live.readCardsByReference('iss_1')).toHaveLength(1);
    await expect(issuer.drive('POST', '/_sim/times', { lag_ms: -1 })).rejects.toThrow(/400/);
    await expect(issuer.drive('POST', '/_sim/times', { lag: 1 })).rejects.toThrow(/lag_ms and async_ms/);
  });

  test('shows nothing of one account to the key of another, and tells only the owner', async () => {
    const { id } = await issuer.test.createCard(cardRequest('iss_1'));
    await eventually(() => issuer.testHooks.received.length > 0);
    expect(await issuer.live.readCard(id)).toBeNull();
    expect((await issuer.live.readEvents({ after: null, limit: 10 })).items).toEqual([]);
    expect(issuer.liveHooks.received).toEqual([]);
    expect((await issuer.wire('GET', '/v1/cards')).status).toBe(400);
    expect((await fetch(`${issuer.url}/v1/balances`)).status).toBe(401);
  });

  test('takes whatever PATCH states of a card, and refuses what no card has', async () => {
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    const patch = (body: object) => issuer.drive('PATCH', `/_sim/cards/${id}`, body);
    await patch({
      load: { amount: '20.00', asset: 'USD' },
      product: 'async',
      status: 'melted',
      pan: '4000000000000003',
    });
    expect(await issuer.live.readCard(id)).toMatchObject({
      ...{ load: { amount: '20.00', asset: 'USD' }, product: 'async' },
      ...{ status: 'unknown_status', providerStatus: 'melted', last4: '0003' },
    });
    await patch({ reference: 'iss_other' });
    expect(await issuer.live.readCardsByReference('iss_other')).toMatchObject([{ id }]);
    expect(await issuer.live.readCardsByReference('iss_1')).toEqual([]);
    await expect(patch({ limit: 5 })).rejects.toThrow(/a card has no limit/);
    await expect(issuer.drive('PATCH', '/_sim/cards/none', {})).rejects.toThrow(/404/);
    const before = (await issuer.truth()).webhooks.length;
    await patch({ product: 'async' });
    expect((await issuer.truth()).webhooks).toHaveLength(before);
  });

  test('takes a load once for each reference, also from a card that is frozen meanwhile', async () => {
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    const load = { reference: 'load_1', amount: '5' };
    await issuer.live.createLoad(id, load);
    await issuer.live.createFreeze(id);
    expect(await issuer.live.createLoad(id, load)).toMatchObject({ status: 'frozen' });
    await expect(issuer.live.createLoad(id, { reference: 'load_2', amount: '5' })).rejects.toMatchObject({
      code: 'card_frozen',
    });
    for (const amount of ['0', '-1', '0.00', '1e1']) {
      expect((await issuer.wire('POST', `/v1/cards/${id}/loads`, { reference: 'l', amount })).status).toBe(400);
    }
    expect((await issuer.truth()).effects.filter(({ kind }) => kind === 'load')).toHaveLength(1);
    expect(await issuer.live.createClose(id)).toMatchObject({ remaining: { amount: '30.00', asset: 'USD' } });
  });

  test('keeps accounts: loads leave ours, spending leaves the card, the rest comes back at the close', async () => {
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    await issuer.live.createCard(declinedRequest('iss_2'));
    await issuer.live.createCard(cardRequest('iss_3', { product: 'async' }));
    expect(await issuer.live.readBalances()).toEqual([{ asset: 'USD', available: '-25.00' }]);
    const spend = (kind: string, amount: string) => issuer.drive('POST', `/_sim/cards/${id}/spend`, { kind, amount });
    await spend('authorization.approved', '7');
    await spend('clearing.posted', '7.25');
    await spend('refund.posted', '1');
    expect(await issuer.live.createClose(id)).toMatchObject({ remaining: { amount: '18.75', asset: 'USD' } });
    expect(await issuer.live.readBalances()).toEqual([{ asset: 'USD', available: '-6.25' }]);
  });

  test('emits each step of spending with what was told of it', async () => {
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    const spend = (body: object) => issuer.drive('POST', `/_sim/cards/${id}/spend`, body);
    const held = await spend({ kind: 'authorization.approved', amount: '3', merchant: { name: 'Kiosk' } });
    expect(held).toMatchObject({
      ...{ type: 'authorization.approved', card_id: id, reference: null, amount: '3', asset: 'USD' },
      ...{ authorization_id: expect.stringMatching(/^iau_/), merchant: { name: 'Kiosk', mcc: '5999', country: 'DE' } },
    });
    const { authorization_id } = held;
    expect(await spend({ kind: 'clearing.posted', amount: '3', authorization_id, final: false })).toMatchObject({
      ...{ authorization_id, final: false },
    });
    await expect(spend({ kind: 'card.issued', amount: '3' })).rejects.toThrow(/kind must be one of/);
    await expect(spend({ kind: 'fee.charged', amount: 3 })).rejects.toThrow(/decimal string/);
    await expect(spend({ kind: 'fee.charged', amount: '3', tip: 1 })).rejects.toThrow(/a spend has no tip/);
    const { items } = await issuer.live.readEvents({ after: null, limit: 500 });
    expect(items).toMatchObject([{ record: { type: 'card.issued' } }, { record: { amount: '3' } }, { ok: true }]);
  });

  test('can lose, double, delay, reorder, forge and change its webhooks', async () => {
    const make = async (reference: string) => (await issuer.live.createCard(cardRequest(reference))).id;
    await fault({ fault: 'drop', times: 1 });
    await make('dropped');
    await fault({ fault: 'delay', ms: 1_000, times: 1 });
    await make('delayed');
    await fault({ fault: 'reorder', times: 1 });
    await make('overtaken');
    await make('straight');
    const told = eventsOf(await hooks(3)).map(({ reference }) => reference);
    expect(told.slice(0, 2)).toEqual(['straight', 'overtaken']);
    expect(told).not.toContain('dropped');
    issuer.liveHooks.received.length = 0;
    issuer.hookAnswers.push(401);
    await fault({ fault: 'forge', times: 1 });
    await make('forged');
    expect((await hooks(2)).map(verdict)).toEqual(['bad', 'ok']);
    await fault({ fault: 'changed_body', times: 1, body: { reference: 'iss_stranger' } });
    await make('changed');
    const [genuine, changed] = eventsOf(await hooks(4)).slice(2);
    expect([genuine?.reference, changed?.reference]).toEqual(['changed', 'iss_stranger']);
    await fault({ match: { reference: 'doubled' }, fault: 'double', times: 3 });
    await make('doubled');
    expect(eventsOf(await hooks(7)).filter(({ reference }) => reference === 'doubled')).toHaveLength(3);
  });

  test('meets a fault of one card by its id, whatever is done to it', async () => {
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    const other = await issuer.live.createCard(cardRequest('iss_2'));
    await issuer.drive('POST', '/_sim/faults', {
      match: { method: 'POST', reference: id },
      fault: 'status',
      status: 500,
    });
    await expect(issuer.live.createFreeze(id)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await issuer.live.createFreeze(other.id)).toMatchObject({ status: 'frozen' });
  });

  test('hides what exists behind not_found, each answer in the shape of its path', async () => {
    const { id } = await issuer.live.createCard(cardRequest('iss_1'));
    await issuer.drive('POST', '/_sim/faults', { match: {}, fault: 'not_found' });
    expect(await issuer.live.readCard(id)).toBeNull();
    expect(await issuer.live.readCardsByReference('iss_1')).toEqual([]);
    expect(await issuer.live.readEvents({ after: null, limit: 1 })).toMatchObject({ items: [], hasMore: false });
    await expect(issuer.live.createClose(id)).rejects.toMatchObject({ kind: 'not_found' });
  });
});
