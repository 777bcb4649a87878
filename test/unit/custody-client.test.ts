import { assertCreatesDeclared } from '../../src/providers/creates.js';
import { CUSTODY_CREATES, createCustodyClient } from '../../src/providers/custody/client.js';
import { ProviderError } from '../../src/providers/errors.js';
import {
  type SimulatedCustody,
  startSimulatedCustody,
  startTestServer,
  type TestServer,
} from '../support/simulated-custody.js';

const KEY = 'key-that-no-message-may-hold';
const request = (reference: string) => ({ reference, network: 'tron', asset: 'USDT-TRC20', settleIn: null });

/** The ProviderError that a call ends with; anything else fails the test. */
async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const outcome = await call.then(
    () => 'an answer',
    (error: unknown) => error,
  );
  if (outcome instanceof ProviderError) return outcome;
  throw new Error(`A ProviderError was expected, not ${String(outcome)}.`);
}

describe('The custody client at the simulator', () => {
  let custody: SimulatedCustody;
  beforeAll(async () => {
    custody = await startSimulatedCustody({ timeoutMs: 400 });
  });
  afterAll(() => custody.close());
  beforeEach(() => custody.drive('POST', '/_sim/reset'));

  test('makes an address once, however often it is asked under one reference', async () => {
    const first = await custody.live.createAddress(request('r1'));
    expect(first).toMatchObject({ reference: 'r1', network: 'tron', asset: 'USDT-TRC20', settleIn: null, tag: null });
    expect(await custody.live.createAddress(request('r1'))).toEqual(first);
    expect(await custody.live.readAddressByReference('r1')).toEqual(first);
    expect(await custody.live.readAddressByReference('r2')).toBeNull();
    expect((await custody.truth()).effects).toMatchObject([{ kind: 'address', reference: 'r1', id: first.id }]);
  });

  test('is rejected when the reference names another address, and nothing is made', async () => {
    await custody.live.createAddress(request('r1'));
    const error = await failureOf(custody.live.createAddress({ ...request('r1'), settleIn: 'USD' }));
    expect(error).toMatchObject({ kind: 'rejected', status: 409, code: 'reference_conflict', provesNothingMade: true });
    expect((await custody.truth()).effects).toHaveLength(1);
  });

  test('finds by its reference what a lost answer left behind', async () => {
    const { id } = await custody.drive('POST', '/_sim/faults', {
      match: { method: 'POST', path: '/v1/addresses', reference: 'r1' },
      fault: 'lost_answer',
      times: 1,
    });
    const error = await failureOf(custody.live.createAddress(request('r1')));
    expect(error).toMatchObject({ kind: 'unavailable', provesNothingMade: false, countsForBreaker: true });
    const found = await custody.live.readAddressByReference('r1');
    expect(found).toMatchObject({ reference: 'r1' });
    expect(await custody.live.createAddress(request('r1'))).toEqual(found);
    expect((await custody.truth()).effects).toHaveLength(1);
    expect((await custody.drive('GET', '/_sim/faults')).faults).toMatchObject([{ id, hits: 1 }]);
  });

  test.each([
    ['lost_answer', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 1],
    ['timeout_before', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 0],
    ['timeout_after', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 1],
    ['truncated', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 1],
    ['garbage', {}, { kind: 'garbage', provesNothingMade: false, countsForBreaker: true }, 1],
    [
      'status',
      { status: 503 },
      { kind: 'unavailable', status: 503, provesNothingMade: false, countsForBreaker: true },
      0,
    ],
    [
      'status',
      { status: 500 },
      { kind: 'unavailable', status: 500, provesNothingMade: false, countsForBreaker: true },
      0,
    ],
    [
      'status',
      { status: 400 },
      { kind: 'rejected', code: 'simulated', provesNothingMade: true, countsForBreaker: false },
      0,
    ],
    ['status', { status: 403 }, { kind: 'misconfigured', provesNothingMade: true, countsForBreaker: false }, 0],
    ['status', { status: 418 }, { kind: 'garbage', provesNothingMade: false, countsForBreaker: false }, 0],
    ['status', { status: 204 }, { kind: 'garbage', provesNothingMade: false, countsForBreaker: true }, 0],
    ['unauthorized', {}, { kind: 'misconfigured', status: 401, provesNothingMade: true, countsForBreaker: false }, 0],
    ['not_found', {}, { kind: 'not_found', status: 404, provesNothingMade: false, countsForBreaker: false }, 0],
    [
      'status',
      { status: 429, retry_after: 7 },
      { kind: 'rate_limited', retryAfterMs: 7_000, provesNothingMade: true, countsForBreaker: false },
      0,
    ],
  ])('says what a create that met %s %j proves', async (fault, members, expected, made) => {
    await custody.drive('POST', '/_sim/faults', { match: { method: 'POST' }, fault, times: 1, ...members });
    expect(await failureOf(custody.live.createAddress(request('r1')))).toMatchObject(expected);
    const truth = await custody.truth();
    expect(truth.effects).toHaveLength(made);
    expect(truth.requests['POST /v1/addresses']).toBe(1);
  });

  test('gives up a slow call after its own timeout, although the work is done later', async () => {
    await custody.drive('POST', '/_sim/faults', { match: { method: 'POST' }, fault: 'slow', ms: 600, times: 1 });
    expect(await failureOf(custody.live.createAddress(request('r1')))).toMatchObject({ kind: 'unavailable' });
    await custody.drive('POST', '/_sim/faults', { match: { method: 'GET' }, fault: 'slow', ms: 300, times: 1 });
    expect(await custody.live.readAddressByReference('r1')).toMatchObject({ reference: 'r1' });
  });

  test('reads a deposit, and tells absence from a bad record and from a wrong key', async () => {
    const { address } = await custody.live.createAddress(request('r1'));
    const { id } = await custody.drive('POST', '/_sim/deposits', {
      address,
      amount: '25.00',
      tx_hash: 'ab',
      output_index: 3,
    });
    expect(await custody.live.readDeposit(id)).toMatchObject({ id, amount: '25.00', txHash: 'ab', outputIndex: 3 });
    expect(await failureOf(custody.live.readDeposit('d0'))).toMatchObject({
      kind: 'not_found',
      countsForBreaker: false,
    });
    await custody.drive('POST', '/_sim/faults', {
      match: { reference: id },
      fault: 'wrong_amount',
      amount: '1e5',
      times: 1,
    });
    expect(await failureOf(custody.live.readDeposit(id))).toMatchObject({
      kind: 'garbage',
      reason: 'amount: not a decimal string',
      countsForBreaker: false,
    });
    const stranger = createCustodyClient({ url: custody.url, apiKey: KEY, timeoutMs: 400 });
    expect(await failureOf(stranger.readDeposit(id))).toMatchObject({ kind: 'misconfigured', provesNothingMade: true });
    await stranger.close();
  });

  test.each(['changes', '..', '.', '', 'a b', 'd1\n'])(
    'never asks for the deposit %p, which is another path',
    async (id) => {
      expect(await failureOf(custody.live.readDeposit(id))).toMatchObject({ kind: 'not_found', status: null });
      expect((await custody.truth()).requests).toEqual({});
    },
  );

  test('keeps an id with odd characters inside its path segment', async () => {
    await failureOf(custody.live.readDeposit('a/../b?c#d'));
    expect((await custody.truth()).requests).toEqual({ 'GET /v1/deposits/a%2F..%2Fb%3Fc%23d': 1 });
  });
});

describe('The custody client at a server that answers as it likes', () => {
  let answer = { status: 200, body: '', headers: {} as Record<string, string> };
  let server: TestServer;
  let client: ReturnType<typeof createCustodyClient>;
  beforeAll(async () => {
    server = await startTestServer((_request, response) => {
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    client = createCustodyClient({ url: `${server.url}/`, apiKey: KEY, timeoutMs: 1_000 });
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  test.each([
    ['no JSON', 'oops', 'not_json'],
    ['half of it', '{"id":"d1"', 'not_json'],
    ['a member twice', '{"id":"d1","amount":"1","amount":"2"}', 'repeated_member'],
    ['an endless nesting', '['.repeat(100_000), 'too_deep'],
    ['a byte order mark', '\ufeff{}', 'byte_order_mark'],
    ['too many bytes', `"${'x'.repeat(3 * 1024 * 1024)}"`, 'answer too large'],
    ['nothing', '', 'not_json'],
    ['another record', '{"id":"d2"}', 'address: not plain text'],
  ])('calls %s garbage', async (_name, body, reason) => {
    answer = { status: 200, body, headers: {} };
    expect(await failureOf(client.readDeposit('d1'))).toMatchObject({
      kind: 'garbage',
      reason,
      countsForBreaker: true,
    });
  });

  test('refuses an address other than asked for, and several under one reference', async () => {
    const address = {
      id: 'a1',
      reference: 'r1',
      network: 'tron',
      asset: 'BTC',
      address: 'T1',
      tag: null,
      settle_in: null,
    };
    answer = { status: 201, body: JSON.stringify(address), headers: {} };
    expect(await failureOf(client.createAddress(request('r1')))).toMatchObject({
      kind: 'garbage',
      reason: 'asset: another than asked for',
      provesNothingMade: false,
    });
    answer = { status: 200, body: JSON.stringify({ items: [address, { ...address, id: 'a2' }] }), headers: {} };
    expect(await failureOf(client.readAddressByReference('r1'))).toMatchObject({ kind: 'garbage' });
    answer = { status: 200, body: JSON.stringify({ items: [{ ...address, reference: 'r2' }] }), headers: {} };
    expect(await client.readAddressByReference('r1')).toBeNull();
  });

  test('does not follow a redirect, which could carry the key elsewhere', async () => {
    answer = { status: 302, body: '', headers: { location: `${server.url}/v1/deposits/d9` } };
    const before = server.received.length;
    expect(await failureOf(client.readDeposit('d1'))).toMatchObject({ kind: 'garbage', status: 302 });
    expect(server.received.length - before).toBe(1);
  });

  test.each([
    ['7', 7_000],
    ['0', 0],
    ['99999999', 3_600_000],
    ['soon', null],
    ['-1', null],
  ])('reads Retry-After %p as %p ms', async (header, ms) => {
    answer = { status: 429, body: '{"error":"slow_down"}', headers: { 'retry-after': header } };
    expect(await failureOf(client.readDeposit('d1'))).toMatchObject({
      kind: 'rate_limited',
      code: 'slow_down',
      retryAfterMs: ms,
    });
  });

  test('puts neither key nor body nor host into an error', async () => {
    answer = { status: 400, body: '{"error":"card 4111111111111111 of Mr X","message":"secret"}', headers: {} };
    const error = await failureOf(client.readDeposit('d1'));
    const shown = `${error.message} ${error.stack ?? ''} ${JSON.stringify(error)}`;
    for (const hidden of [KEY, '4111', 'Mr X', 'secret', '127.0.0.1']) expect(shown).not.toContain(hidden);
    expect(error).toMatchObject({ kind: 'rejected', code: null });
  });

  test('passes the trace on when it has the right form, and the key in its header', async () => {
    answer = { status: 404, body: '{}', headers: {} };
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await failureOf(client.readDeposit('d1', { traceparent }));
    expect(server.received.at(-1)?.headers).toMatchObject({ traceparent, authorization: `Bearer ${KEY}` });
    await failureOf(client.readDeposit('d1', { traceparent: 'x' }));
    expect(server.received.at(-1)?.headers.traceparent).toBeUndefined();
  });
});

describe('The custody client without a custodian', () => {
  test('knows that nothing was sent where no connection was made', async () => {
    const gone = await startTestServer(() => {});
    await gone.close();
    const client = createCustodyClient({ url: gone.url, apiKey: KEY, timeoutMs: 1_000 });
    expect(await failureOf(client.createAddress(request('r1')))).toMatchObject({
      kind: 'refused',
      reason: 'ECONNREFUSED',
      provesNothingMade: true,
      countsForBreaker: true,
    });
    await client.close();
  });

  test('does not know it where the connection was made and then cut', async () => {
    const cutting = await startTestServer(({ socket }) => socket.destroy());
    const client = createCustodyClient({ url: cutting.url, apiKey: KEY, timeoutMs: 1_000 });
    expect(await failureOf(client.createAddress(request('r1')))).toMatchObject({
      kind: 'unavailable',
      provesNothingMade: false,
    });
    await client.close();
    await cutting.close();
  });
});

describe('A provider at the start of the worker', () => {
  const client = createCustodyClient({ url: 'http://127.0.0.1:1', apiKey: KEY, timeoutMs: 1_000 });
  afterAll(() => client.close());

  test('is accepted when all its creates are declared', () => {
    expect(() => assertCreatesDeclared([{ name: 'custody', client, creates: CUSTODY_CREATES }])).not.toThrow();
  });

  test('is refused by name when a create is not declared, or a name says neither read nor create', () => {
    expect(() => assertCreatesDeclared([{ name: 'custody', client, creates: {} }])).toThrow(/custody\.createAddress/);
    const odd = { payOut: () => null };
    expect(() => assertCreatesDeclared([{ name: 'other', client: odd, creates: {} }])).toThrow(
      /other\.payOut: name it/,
    );
    const creates = { createGone: { idempotentByReference: true, lookupLagMs: -1 } };
    expect(() => assertCreatesDeclared([{ name: 'other', client: {}, creates }])).toThrow(
      /no such function[\s\S]*lookupLagMs/,
    );
  });
});
