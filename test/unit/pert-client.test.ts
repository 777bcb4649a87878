import { assertCreatesDeclared } from '../../src/providers/creates.js';
import { ProviderError } from '../../src/providers/errors.js';
import { createPertClient, PERT_CREATES, type PertChanges } from '../../src/providers/pert/client.js';
import { startTestServer, type TestServer } from '../support/simulated-custody.js';
import { type SimulatedPert, startSimulatedPert } from '../support/simulated-pert.js';

const KEY = 'key-that-no-message-may-hold';
const CHANGES = '/transactions/changes';

async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const outcome = await call.then(
    () => 'an answer',
    (error: unknown) => error,
  );
  if (outcome instanceof ProviderError) return outcome;
  throw new Error(`A ProviderError was expected, not ${String(outcome)}.`);
}

describe('The client of Pert at the simulator', () => {
  let pert: SimulatedPert;
  beforeAll(async () => {
    pert = await startSimulatedPert({ timeoutMs: 400 });
  });
  afterAll(() => pert.close());
  beforeEach(() => pert.drive('POST', '/_sim/reset'));
  const arrive = (to: string, amount: string) =>
    pert.drive('POST', '/_sim/transactions', { from: null, to, currency: 'USD', amount });
  const fault = (body: object) => pert.drive('POST', '/_sim/faults', { match: {}, times: 1, ...body });
  const page = (changes: PertChanges) => {
    if (changes.tooOld) throw new Error('A page was expected.');
    return changes;
  };

  test('reads a snapshot, and from its cursor what came after it', async () => {
    const empty = await pert.live.readCurrencies();
    expect(empty).toEqual({ cursor: empty.cursor, minCursor: empty.cursor, currencies: [] });
    await arrive('w-1', '9007199254740993.000000000000000001');
    const full = await pert.live.readCurrencies();
    const balance = '9007199254740993.000000000000000001';
    expect(full).toMatchObject({
      minCursor: empty.cursor,
      currencies: [{ currency: 'USD', balance, frozen: '0', held: '0', available: balance }],
    });
    const read = page(await pert.live.readChanges({ sinceCursor: empty.cursor, limit: 10 }));
    expect(read).toMatchObject({ nextCursor: full.cursor, hasMore: false });
    expect(read.items).toMatchObject([
      { ok: true, transaction: { currency: 'USD', from: null, to: { address: 'w-1', amount: balance, balance } } },
    ]);
    const [item] = read.items;
    expect(item?.ok && item.transaction.balanceVersion > 2n ** 53n).toBe(true);
  });

  test('pages to the end, whatever the limit', async () => {
    const { cursor } = await pert.live.readCurrencies();
    for (const address of ['a', 'b', 'c', 'd', 'e']) await arrive(address, '1');
    const seen: string[] = [];
    let sinceCursor = cursor;
    for (let more = true; more; ) {
      const read = page(await pert.live.readChanges({ sinceCursor, limit: 2 }));
      seen.push(...read.items.map((item) => (item.ok ? (item.transaction.to?.address ?? '') : '')));
      sinceCursor = read.nextCursor ?? sinceCursor;
      more = read.hasMore;
    }
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect((await pert.truth()).requests).toMatchObject({ [`GET ${CHANGES}`]: 3 });
  });

  test('answers that a cursor is too old, which is no failure [R2]', async () => {
    const { cursor } = await pert.live.readCurrencies();
    await arrive('a', '1');
    await arrive('b', '1');
    await pert.drive('POST', '/_sim/retention', { keep: 1 });
    expect(await pert.live.readChanges({ sinceCursor: cursor, limit: 10 })).toEqual({ tooOld: true });
    const { minCursor } = await pert.live.readCurrencies();
    const items = page(await pert.live.readChanges({ sinceCursor: minCursor, limit: 10 })).items;
    expect(items).toMatchObject([{ transaction: { to: { address: 'b' } } }]);
  });

  test('gives the good items of a page with a bad one [CASES D08]', async () => {
    const { cursor } = await pert.live.readCurrencies();
    for (const address of ['a', 'b', 'c', 'd', 'e']) await arrive(address, '1');
    await fault({ fault: 'bad_item', index: 2 });
    const { items } = page(await pert.live.readChanges({ sinceCursor: cursor, limit: 10 }));
    expect(items.map(({ ok }) => ok)).toEqual([true, true, false, true, true]);
    expect(items[2]).toMatchObject({ id: expect.stringMatching(/^ptx_/), reason: 'to.balance: not a decimal' });
    const again = page(await pert.live.readChanges({ sinceCursor: cursor, limit: 10 }));
    expect(again.items.every(({ ok }) => ok)).toBe(true);
  });

  test.each(['absent', 'null', ''])('has no cursor where the last page names none (%p) [R3]', async (value) => {
    const { cursor } = await pert.live.readCurrencies();
    await arrive('a', '1');
    await fault({ fault: 'no_next_cursor', value });
    const read = page(await pert.live.readChanges({ sinceCursor: cursor, limit: 10 }));
    expect(read).toMatchObject({ nextCursor: null, hasMore: false, items: [{ ok: true }] });
  });

  test.each([
    ['lost_answer', {}, { kind: 'unavailable', countsForBreaker: true }],
    ['timeout_before', {}, { kind: 'unavailable', countsForBreaker: true }],
    ['timeout_after', {}, { kind: 'unavailable', countsForBreaker: true }],
    ['truncated', {}, { kind: 'unavailable', countsForBreaker: true }],
    ['garbage', {}, { kind: 'garbage', countsForBreaker: true }],
    ['status', { status: 500 }, { kind: 'unavailable', status: 500 }],
    ['status', { status: 403 }, { kind: 'misconfigured', countsForBreaker: false }],
    ['status', { status: 410 }, { kind: 'garbage', status: 410, countsForBreaker: false }],
    ['unauthorized', {}, { kind: 'misconfigured', status: 401, countsForBreaker: false }],
    ['status', { status: 429, retry_after: 7 }, { kind: 'rate_limited', retryAfterMs: 7_000, countsForBreaker: false }],
  ])('says what a read that met %s %j proves', async (kind, members, expected) => {
    const { cursor } = await pert.live.readCurrencies();
    await fault({ fault: kind, match: { path: CHANGES }, ...members });
    await fault({ fault: kind, match: { path: '/asset/*' }, ...members });
    expect(await failureOf(pert.live.readChanges({ sinceCursor: cursor, limit: 5 }))).toMatchObject(expected);
    expect(await failureOf(pert.live.readCurrencies())).toMatchObject(expected);
  });

  test('is rejected with a cursor that nobody gave out', async () => {
    for (const sinceCursor of ['17', 'c+d e&limit=1', 'zzzzzzzzzzzz']) {
      expect(await failureOf(pert.live.readChanges({ sinceCursor, limit: 5 }))).toMatchObject({
        kind: 'rejected',
        code: 'invalid_cursor',
      });
    }
  });

  test.each([0, 1_001, 1.5, -1, Number.NaN])('never asks for %p items', async (limit) => {
    await expect(pert.live.readChanges({ sinceCursor: 'c', limit })).rejects.toThrow(RangeError);
    expect((await pert.truth()).requests).toEqual({});
  });

  test('never pages from an empty cursor', async () => {
    await expect(pert.live.readChanges({ sinceCursor: '', limit: 5 })).rejects.toThrow(RangeError);
    expect((await pert.truth()).requests).toEqual({});
  });
});

describe('The client of Pert at a server that answers as it likes', () => {
  let answer = { status: 200, body: '', headers: {} as Record<string, string> };
  let server: TestServer;
  let client: ReturnType<typeof createPertClient>;
  beforeAll(async () => {
    server = await startTestServer((_request, response) => {
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
    client = createPertClient({ url: `${server.url}/`, apiKey: KEY, timeoutMs: 1_000 });
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });
  const changes = () => client.readChanges({ sinceCursor: 'c1', limit: 5 });

  test.each([
    ['no JSON', 'oops', 'not_json'],
    ['a member twice', '{"items":[],"has_more":false,"has_more":true}', 'repeated_member'],
    ['no has_more', '{"items":[],"next_cursor":"c"}', 'has_more: missing or of another type'],
    ['half a page', '{"items":[{"id":"t1"', 'not_json'],
    ['too many bytes', `"${'x'.repeat(3 * 1024 * 1024)}"`, 'answer too large'],
    ['null', 'null', 'record: missing or of another type'],
  ])('calls %s garbage', async (_name, body, reason) => {
    answer = { status: 200, body, headers: {} };
    expect(await failureOf(changes())).toMatchObject({ kind: 'garbage', reason, countsForBreaker: true });
  });

  test('calls a snapshot with a currency twice garbage', async () => {
    const usd = '{"currency":"USD","balance":1,"frozen":0,"held":0,"available":1}';
    answer = { status: 200, body: `{"cursor":"c","min_cursor":"b","currency_balances":[${usd},${usd}]}`, headers: {} };
    expect(await failureOf(client.readCurrencies())).toMatchObject({ kind: 'garbage', countsForBreaker: true });
  });

  test.each(['', '{}', '{"error":"gone"}', '<html>', '{"error":"CURSOR_TOO_OLD"}'])(
    'takes no other 410 (%p) for a cursor that is too old',
    async (body) => {
      answer = { status: 410, body, headers: {} };
      expect(await failureOf(changes())).toMatchObject({ kind: 'garbage', status: 410, countsForBreaker: false });
    },
  );

  test('takes that answer from the journal alone, and with no other status', async () => {
    answer = { status: 410, body: '{"error":"cursor_too_old"}', headers: {} };
    expect(await changes()).toEqual({ tooOld: true });
    expect(await failureOf(client.readCurrencies())).toMatchObject({ kind: 'garbage', status: 410 });
    answer = { status: 400, body: '{"error":"cursor_too_old"}', headers: {} };
    expect(await failureOf(changes())).toMatchObject({ kind: 'rejected', code: 'cursor_too_old' });
  });

  test('sends cursor and limit as they are, the key, and a trace of the right form', async () => {
    answer = { status: 200, body: '{"items":[],"next_cursor":"c2","has_more":false}', headers: {} };
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await client.readChanges({ sinceCursor: 'a+b/c=&limit=9', limit: 1_000 }, { traceparent });
    expect(server.received.at(-1)?.headers).toMatchObject({ traceparent, authorization: `Bearer ${KEY}` });
  });

  test('puts neither key nor body nor host into an error', async () => {
    answer = { status: 400, body: '{"error":"card 4111111111111111 of Mr X","message":"secret"}', headers: {} };
    const error = await failureOf(changes());
    const shown = `${error.message} ${error.stack ?? ''} ${JSON.stringify(error)}`;
    for (const hidden of [KEY, '4111', 'Mr X', 'secret', '127.0.0.1']) expect(shown).not.toContain(hidden);
  });

  test('may be called by the worker: it makes nothing', () => {
    expect(() => assertCreatesDeclared([{ name: 'pert', client, creates: PERT_CREATES }])).not.toThrow();
  });
});
