import { makeMerchant, openTestGateway } from '../support/gateway.js';
import { ADDRESSES, type CreatingGateway, openCreatingGateway } from '../support/gateway-creates.js';
import { makeAddress, makeCustomer, makeRequest, moveAddress, TRON } from '../support/gateway-rows.js';

let on: CreatingGateway;
beforeAll(async () => {
  on = await openCreatingGateway();
});
afterAll(async () => on?.gateway.close());
beforeEach(() => on.reset());

describe('a known key', () => {
  const led = async (key: string, state: 'preparing' | 'active', made = true) => {
    const id = await makeAddress(on.gateway.tx, { merchantId: on.merchant.id, state });
    const resource = { type: 'deposit_address', id, made };
    await makeRequest(on.gateway.tx, { merchantId: on.merchant.id, key }, { resource });
    return id;
  };

  test('leads to the object as it is now, marked as replayed, with a Request-Id of its own', async () => {
    const id = await led('known', 'preparing');
    const first = await on.post('known', { network: 'tron' }, { 'request-id': 'one' });
    expect([first.status, first.json.id, first.headers.get('retry-after')]).toEqual([202, id, '1']);
    await moveAddress(on.gateway.tx, id, 'active');
    const second = await on.post('"known"', { network: 'tron' }, { 'request-id': 'two' });
    expect([second.status, second.json.id, second.json.state]).toEqual([201, id, 'active']);
    for (const [answer, request] of [
      [first, 'one'],
      [second, 'two'],
    ] as const) {
      expect(answer.headers.get('idempotent-replayed')).toBe('true');
      expect(answer.headers.get('request-id')).toBe(request);
      expect(answer.headers.get('location')).toBe(`${ADDRESSES}/${id}`);
    }
  });

  test('takes every way of saying the same: member order, defaults spelled out, quotes, Prefer', async () => {
    const id = await led('known', 'active');
    const bodies = [
      { asset: 'USDT-TRC20', network: 'tron' },
      { network: 'tron', settlement: { mode: 'as_token' }, customer_ref: null },
      { settlement: { asset: null, mode: 'as_token' }, network: 'tron' },
      { network: 'tron', asset: null, settlement: null, customer_ref: null },
    ];
    for (const body of bodies) {
      const answer = await on.post('known', body, { prefer: 'respond-async' });
      expect([answer.status, answer.json.id, answer.headers.get('preference-applied')]).toEqual([
        201,
        id,
        'respond-async',
      ]);
    }
  });

  test.each([
    ['another network', { network: 'bitcoin' }],
    ['another owner', { network: 'tron', customer_ref: 'p-1' }],
    ['another settlement', { network: 'tron', settlement: { mode: 'settled', asset: 'USD' } }],
  ])('with %s is 422 and starts nothing', async (_, body) => {
    await led('known', 'active');
    const answer = await on.post('known', body);
    expect([answer.status, answer.json.code]).toEqual([422, 'idempotency_key_reused']);
    expect(on.started).toEqual([]);
  });

  test('leads to an object that was there before: 200 every time', async () => {
    await led('known', 'active', false);
    expect([(await on.post('known')).status, (await on.post('known')).status]).toEqual([200, 200]);
  });

  test('leads to the refusal it met, for ever', async () => {
    const refusal = { code: 'already_exists', detail: 'It exists with another settlement.' };
    await makeRequest(on.gateway.tx, { merchantId: on.merchant.id, key: 'refused' }, { refusal });
    const answer = await on.post('refused');
    expect([answer.status, answer.json.code, answer.json.detail]).toEqual([409, refusal.code, refusal.detail]);
    expect(answer.headers.get('idempotent-replayed')).toBe('true');
    expect((await on.post('refused', { network: 'bitcoin' })).json.code).toBe('idempotency_key_reused');
  });

  test('belongs to one merchant and one book', async () => {
    await led('known', 'active');
    on.start = on.makes('active');
    const other = await makeMerchant(on.gateway.tx);
    for (const key of [on.merchant.keys.test, other.keys.live]) {
      on.start = async () => ({ kind: 'not_sent' });
      const headers = { 'idempotency-key': 'known' };
      const answer = await on.gateway.call('POST', ADDRESSES, { key, body: { network: 'tron' }, headers });
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([503, null]);
    }
    expect(on.started.map((input) => input.book)).toEqual(['test', 'live']);
  });

  test('is answered without a provider: nothing of the present is looked at', async () => {
    const bare = await openTestGateway({ providers: [] });
    try {
      const { id: merchantId, keys } = await makeMerchant(bare.tx);
      const id = await makeAddress(bare.tx, { merchantId, state: 'active' });
      await makeRequest(
        bare.tx,
        { merchantId, key: 'known' },
        { resource: { type: 'deposit_address', id, made: true } },
      );
      const headers = { 'idempotency-key': 'known' };
      const answer = await bare.call('POST', ADDRESSES, { key: keys.live, body: { network: 'tron' }, headers });
      expect([answer.status, answer.json.id]).toEqual([201, id]);
    } finally {
      await bare.close();
    }
  });
});

describe('a request', () => {
  const ask = (id: string, key = on.merchant.keys.live) => on.gateway.call('GET', `/v1/requests/${id}`, { key });

  test('is answered before a row exists, and for ids of others as if they never were', async () => {
    const other = await makeMerchant(on.gateway.tx);
    const theirs = await makeRequest(
      on.gateway.tx,
      { merchantId: other.id, key: 'k' },
      { refusal: { code: 'already_exists', detail: 'No.' } },
    );
    for (const id of [on.requestIdOf('never'), theirs]) {
      const answer = await ask(id);
      expect([answer.status, answer.headers.get('retry-after')]).toEqual([200, '1']);
      expect(answer.json).toEqual({
        object: 'request',
        id,
        state: 'not_seen',
        method: null,
        path: null,
        resource: null,
        response: null,
        trace_id: null,
        created_at: null,
        updated_at: null,
      });
    }
    expect((await ask('req_1')).status).toBe(404);
  });

  test('is in progress while its workflow runs without a row', async () => {
    on.running = true;
    expect((await ask(on.requestIdOf('never'))).json.state).toBe('in_progress');
  });

  test('that is done shows what a replay would give now', async () => {
    const id = await makeAddress(on.gateway.tx, { merchantId: on.merchant.id });
    const resource = { type: 'deposit_address', id, made: true };
    const request = await makeRequest(on.gateway.tx, { merchantId: on.merchant.id, key: 'known' }, { resource });
    const before = (await ask(request)).json;
    expect(before).toMatchObject({
      state: 'done',
      method: 'POST',
      path: ADDRESSES,
      response: { status: 202, body: { id, state: 'preparing' } },
    });
    await moveAddress(on.gateway.tx, id, 'active');
    const answer = await ask(request);
    expect(answer.json).toMatchObject({
      state: 'done',
      resource: { type: 'deposit_address', id, url: `${ADDRESSES}/${id}` },
      response: { status: 201, body: { id, state: 'active', version: 2 } },
    });
    expect(answer.headers.get('retry-after')).toBeNull();
    expect((await on.post('known')).json).toEqual((answer.json as { response: { body: object } }).response.body);
  });

  test('that was refused shows the problem', async () => {
    const refusal = { code: 'already_exists', detail: 'It exists with another settlement.' };
    const id = await makeRequest(
      on.gateway.tx,
      { merchantId: on.merchant.id, key: 'refused', understood: TRON },
      { refusal },
    );
    const { json } = await ask(id);
    expect(json).toMatchObject({
      state: 'done',
      resource: null,
      response: { status: 409, body: { code: 'already_exists', instance: ADDRESSES } },
    });
  });
});

test('an address shows its owner by the name that the merchant gave him', async () => {
  const customerId = await makeCustomer(on.gateway.tx, { merchantId: on.merchant.id }, 'player-7');
  const id = await makeAddress(on.gateway.tx, { merchantId: on.merchant.id, customerId, state: 'active' });
  const answer = await on.gateway.call('GET', `${ADDRESSES}/${id}`, { key: on.merchant.keys.live });
  expect(answer.json.owner).toEqual({ type: 'customer', id: customerId, ref: 'player-7' });
});
