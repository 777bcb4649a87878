import type { DepositAddressInput } from '../../src/contracts/messages.js';
import { makeMerchant, openTestGateway } from '../support/gateway.js';
import { ADDRESSES, type CreatingGateway, openCreatingGateway } from '../support/gateway-creates.js';
import { makeAddress, makeRequest, moveAddress } from '../support/gateway-rows.js';

let on: CreatingGateway;
beforeAll(async () => {
  on = await openCreatingGateway();
});
afterAll(async () => on?.gateway.close());
beforeEach(() => on.reset());

describe('a new key', () => {
  test.each([
    ['active', 201],
    ['failed', 201],
    ['preparing', 202],
    ['unknown', 202],
  ] as const)('that leads to an address in state %s is answered %d with its Location', async (state, status) => {
    on.start = on.makes(state);
    const answer = await on.post('new');
    expect([answer.status, answer.json.state]).toEqual([status, state]);
    expect(answer.headers.get('location')).toBe(`${ADDRESSES}/${answer.json.id}`);
    expect(answer.headers.get('retry-after')).toBe(status === 202 ? '1' : null);
    expect(answer.headers.get('preference-applied')).toBe('wait=0');
    expect(answer.headers.get('idempotent-replayed')).toBeNull();
  });

  test('that leads to an address which was there before is answered 200', async () => {
    on.start = on.makes('active', false);
    const answer = await on.post('new');
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
  });

  test('hands over the whole request, defaults filled', async () => {
    on.start = async () => ({ kind: 'not_sent' });
    const settlement = { mode: 'settled', asset: 'EUR' };
    for (const body of [
      { network: 'bitcoin' },
      { network: 'ethereum', asset: 'USDC-ETH', customer_ref: 'p-7', settlement },
    ]) {
      await on.post('new', body, { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' });
    }
    const common = {
      book: 'live',
      merchantId: on.merchant.id,
      provider: 'custody',
      account: 'main-live',
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      request: {
        id: on.requestIdOf('new'),
        key: 'new',
        method: 'POST',
        path: ADDRESSES,
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        callId: expect.any(String),
      },
    };
    const plain = { customerRef: null, settlementMode: 'as_token', settlementAsset: null };
    const settled = { customerRef: 'p-7', settlementMode: 'settled', settlementAsset: 'EUR' };
    expect(on.started).toEqual([
      { ...common, network: 'bitcoin', asset: 'BTC', ...plain },
      { ...common, network: 'ethereum', asset: 'USDC-ETH', ...settled },
    ]);
  });

  test('is waited for: the answer comes when the row is definite', async () => {
    let id = '';
    on.start = async (input) => {
      const outcome = await on.makes('preparing')(input, 0);
      if (outcome.kind === 'accepted') id = outcome.accepted.resource?.id ?? '';
      setTimeout(() => void moveAddress(on.gateway.tx, id, 'active'), 150);
      return outcome;
    };
    const answer = await on.post('new', { network: 'tron' }, { prefer: 'wait=10' });
    expect([answer.status, answer.json.id, answer.json.state]).toEqual([201, id, 'active']);
  });

  test('that meets a refusal is answered with it', async () => {
    on.start = async (input) => {
      const refusal = { code: 'already_exists', detail: 'It exists with another settlement.' };
      return { kind: 'accepted', accepted: { fingerprint: input.request.fingerprint, resource: null, refusal } };
    };
    const answer = await on.post('new');
    expect([answer.status, answer.json.code, answer.json.detail]).toEqual([
      409,
      'already_exists',
      'It exists with another settlement.',
    ]);
  });

  test('that joined another call of the same key is refused by its fingerprint', async () => {
    on.start = async () => {
      const outcome = await on.makes('active')({ ...(on.started[0] as DepositAddressInput) }, 0);
      if (outcome.kind !== 'accepted') throw new Error('not reached');
      return { kind: 'accepted', accepted: { ...outcome.accepted, fingerprint: 'ab'.repeat(32) } };
    };
    const answer = await on.post('new');
    expect([answer.status, answer.json.code]).toEqual([422, 'idempotency_key_reused']);
  });

  test('of which nobody knows whether it was taken is 202 to its request, which says what is known', async () => {
    on.start = async () => ({ kind: 'unknown' });
    const answer = await on.post('new');
    expect([answer.status, answer.headers.get('location')]).toEqual([202, `/v1/requests/${on.requestIdOf('new')}`]);
    expect(answer.json).toMatchObject({ object: 'request', id: on.requestIdOf('new'), state: 'not_seen' });
    on.running = true;
    expect((await on.post('new')).json.state).toBe('in_progress');
  });

  test('that was proven not to be sent is 503, and the key stays free', async () => {
    on.start = async () => ({ kind: 'not_sent' });
    const answer = await on.post('new');
    expect([answer.status, answer.json.code]).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers.get('retry-after')).toBe('1');
    on.start = on.makes('active');
    expect((await on.post('new', { network: 'bitcoin' })).status).toBe(201);
  });

  test('whose run is over is answered by the database', async () => {
    on.start = async () => {
      const id = await makeAddress(on.gateway.tx, { merchantId: on.merchant.id, state: 'active' });
      await makeRequest(
        on.gateway.tx,
        { merchantId: on.merchant.id, key: 'new' },
        { resource: { type: 'deposit_address', id, made: true } },
      );
      return { kind: 'closed' };
    };
    const answer = await on.post('new');
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  });

  test('that meets a bug is 500, says nothing, and is logged without its words', async () => {
    on.start = () => Promise.reject(new Error('password=hunter2 at db.internal: SELECT * FROM secrets'));
    const answer = await on.post('new', { network: 'tron' }, { 'request-id': 'a-bug' });
    expect([answer.status, answer.json.code, answer.json.retryable]).toEqual([500, 'internal', true]);
    const lines = on.gateway.logLines.filter((line) => line.includes('a-bug')).join('');
    expect(lines).toContain('"level":"error"');
    expect(answer.text + lines).not.toMatch(/hunter2|db\.internal|SELECT/);
  });

  test('finds no provider for its book: 503 before anything is started, and no key is kept', async () => {
    const bare = await openTestGateway({ providers: [] });
    try {
      const { keys } = await makeMerchant(bare.tx);
      const answer = await bare.call('POST', ADDRESSES, {
        key: keys.live,
        body: { network: 'tron' },
        headers: { 'idempotency-key': 'k' },
      });
      expect([answer.status, answer.json.code, answer.headers.get('retry-after')]).toEqual([
        503,
        'provider_unavailable',
        '60',
      ]);
    } finally {
      await bare.close();
    }
  });
});
