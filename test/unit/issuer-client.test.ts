import { assertCreatesDeclared } from '../../src/providers/creates.js';
import { ProviderError } from '../../src/providers/errors.js';
import { createIssuerClient, ISSUER_CREATES, type IssuerClient } from '../../src/providers/issuer/client.js';
import { startTestServer, type TestServer } from '../support/simulated-custody.js';
import {
  cardRequest,
  declinedRequest,
  type SimulatedIssuer,
  startSimulatedIssuer,
} from '../support/simulated-issuer.js';

const KEY = 'key-that-no-message-may-hold';

/** The ProviderError that a call ends with; anything else fails the test. */
async function failureOf(call: Promise<unknown>): Promise<ProviderError> {
  const outcome = await call.then(
    () => 'an answer',
    (error: unknown) => error,
  );
  if (outcome instanceof ProviderError) return outcome;
  throw new Error(`A ProviderError was expected, not ${String(outcome)}.`);
}

describe('The issuer client at the simulator', () => {
  let issuer: SimulatedIssuer;
  beforeAll(async () => {
    issuer = await startSimulatedIssuer({ timeoutMs: 400 });
  });
  afterAll(() => issuer.close());
  beforeEach(() => issuer.drive('POST', '/_sim/reset'));

  const make = (reference: string) => issuer.live.createCard(cardRequest(reference));

  test('makes a card and answers of it what may exist here, although number and code stand in the answer', async () => {
    const card = await make('iss_1');
    expect(card).toEqual({
      id: expect.stringMatching(/^icd_/),
      reference: 'iss_1',
      product: 'instant',
      status: 'active',
      providerStatus: 'active',
      declineReason: null,
      last4: expect.stringMatching(/^[0-9]{4}$/),
      expMonth: expect.any(Number),
      expYear: expect.any(Number),
      load: { amount: '25.00', asset: 'USD' },
    });
    expect(await issuer.live.readCard(card.id)).toEqual(card);
    expect(await issuer.live.readCardsByReference('iss_1')).toEqual([card]);
    const { body } = await issuer.wire('GET', `/v1/cards/${card.id}`);
    expect(body).toMatchObject({ pan: expect.stringMatching(/^[0-9]{16}$/), cvv: expect.stringMatching(/^[0-9]{3}$/) });
    expect(String(body.pan).slice(-4)).toBe(card.last4);
    expect(JSON.stringify(card)).not.toContain(String(body.pan));
  });

  test('sends the holder as the wire has it', async () => {
    await make('iss_1');
    const { objects } = await issuer.truth();
    expect(objects.cards).toMatchObject([
      { holder: { first_name: 'Canaryfirst', last_name: 'Canarylast', birth_date: '1990-02-28', country: 'DE' } },
    ]);
  });

  test('makes two cards when it is called twice, and a lookup shows both', async () => {
    const [first, second] = [await make('iss_1'), await make('iss_1')];
    expect(second.id).not.toBe(first.id);
    expect(await issuer.live.readCardsByReference('iss_1')).toEqual([first, second]);
    expect((await issuer.truth()).effects.filter(({ kind }) => kind === 'card')).toHaveLength(2);
  });

  test('answers a pending card and a declined one as such', async () => {
    const pending = await issuer.live.createCard(cardRequest('iss_1', { product: 'async' }));
    expect(pending).toMatchObject({ status: 'pending', last4: null, expMonth: null, expYear: null });
    const declined = await issuer.live.createCard(declinedRequest('iss_2'));
    expect(declined).toMatchObject({ status: 'declined', declineReason: 'identity_not_verified', last4: null });
  });

  test('leaves another amount or product to its caller to compare', async () => {
    await issuer.drive('POST', '/_sim/faults', {
      match: { method: 'POST' },
      fault: 'wrong_amount',
      amount: '20',
      times: 1,
    });
    expect(await make('iss_1')).toMatchObject({ load: { amount: '20', asset: 'USD' } });
  });

  test.each([
    ['lost_answer', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 1],
    ['timeout_before', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 0],
    ['timeout_after', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 1],
    ['truncated', {}, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 1],
    ['garbage', {}, { kind: 'garbage', provesNothingMade: false, countsForBreaker: true }, 1],
    ['wrong_amount', { amount: '1e5' }, { kind: 'garbage', provesNothingMade: false, countsForBreaker: true }, 1],
    ['status', { status: 500 }, { kind: 'unavailable', provesNothingMade: false, countsForBreaker: true }, 0],
    ['status', { status: 409 }, { kind: 'conflict', provesNothingMade: false, countsForBreaker: false }, 0],
    ['status', { status: 400 }, { kind: 'rejected', provesNothingMade: true, countsForBreaker: false }, 0],
    ['status', { status: 422 }, { kind: 'rejected', provesNothingMade: true, countsForBreaker: false }, 0],
    ['status', { status: 403 }, { kind: 'misconfigured', provesNothingMade: true, countsForBreaker: false }, 0],
    ['status', { status: 429, retry_after: 7 }, { kind: 'rate_limited', retryAfterMs: 7_000 }, 0],
    ['unauthorized', {}, { kind: 'misconfigured', status: 401, provesNothingMade: true, countsForBreaker: false }, 0],
    ['not_found', {}, { kind: 'not_found', status: 404, provesNothingMade: false, countsForBreaker: false }, 0],
  ])('says what a create that met %s %j proves', async (fault, members, expected, made) => {
    await issuer.drive('POST', '/_sim/faults', { match: { method: 'POST' }, fault, times: 1, ...members });
    const error = await failureOf(make('iss_1'));
    expect(error).toMatchObject(expected);
    expect(error.message).not.toMatch(/Canary|C0000000/);
    const truth = await issuer.truth();
    expect(truth.effects).toHaveLength(made);
    expect(truth.requests['POST /v1/cards']).toBe(1);
    expect(await issuer.live.readCardsByReference('iss_1')).toHaveLength(made);
  });

  test('loads once for each reference, also when the answer was lost', async () => {
    const { id } = await make('iss_1');
    const load = { reference: 'load_1', amount: '5.00' };
    await issuer.drive('POST', '/_sim/faults', { match: { reference: 'load_1' }, fault: 'lost_answer', times: 1 });
    expect(await failureOf(issuer.live.createLoad(id, load))).toMatchObject({ kind: 'unavailable' });
    expect(await issuer.live.createLoad(id, load)).toMatchObject({ id, load: { amount: '25.00', asset: 'USD' } });
    expect((await issuer.truth()).effects.filter(({ kind }) => kind === 'load')).toMatchObject([
      { reference: 'load_1' },
    ]);
    const other = issuer.live.createLoad(id, { ...load, amount: '6.00' });
    expect(await failureOf(other)).toMatchObject({ kind: 'rejected', code: 'reference_conflict' });
  });

  test('freezes, unfreezes and closes, each as often as it is asked, and answers what was left', async () => {
    const { id } = await make('iss_1');
    expect(await issuer.live.createFreeze(id)).toMatchObject({ id, status: 'frozen' });
    expect(await issuer.live.createFreeze(id)).toMatchObject({ status: 'frozen' });
    expect(await issuer.live.createUnfreeze(id)).toMatchObject({ status: 'active' });
    await issuer.drive('POST', `/_sim/cards/${id}/spend`, { kind: 'clearing.posted', amount: '4.5' });
    const closed = { id, status: 'closed', remaining: { amount: '20.50', asset: 'USD' } };
    expect(await issuer.live.createClose(id)).toMatchObject(closed);
    expect(await issuer.live.createClose(id)).toMatchObject(closed);
    expect(await failureOf(issuer.live.createFreeze(id))).toMatchObject({ kind: 'rejected', code: 'card_closed' });
  });

  test('tells absence from a bad record and from a wrong key', async () => {
    const { id } = await make('iss_1');
    expect(await issuer.live.readCard('icd_none')).toBeNull();
    expect(await issuer.test.readCard(id)).toBeNull();
    expect(await issuer.live.readCardsByReference('iss_2')).toEqual([]);
    await issuer.drive('PATCH', `/_sim/cards/${id}`, { exp_month: 13 });
    expect(await failureOf(issuer.live.readCard(id))).toMatchObject({
      kind: 'garbage',
      reason: 'exp_month: not a whole number in range',
      countsForBreaker: false,
    });
    const stranger = createIssuerClient({ url: issuer.url, apiKey: KEY, timeoutMs: 400 });
    const error = await failureOf(stranger.readCard(id));
    expect(error).toMatchObject({ kind: 'misconfigured', provesNothingMade: true });
    expect(error.message).not.toContain(KEY);
    await stranger.close();
  });

  test.each(['..', '.', '', 'a b', 'icd_1\n'])('never asks for the card %p, which is another path', async (id) => {
    expect(await issuer.live.readCard(id)).toBeNull();
    expect(await failureOf(issuer.live.createClose(id))).toMatchObject({ kind: 'not_found', status: null });
    expect((await issuer.truth()).requests).toEqual({});
  });

  test('keeps an id with odd characters inside its path segment', async () => {
    expect(await issuer.live.readCard('a/../b?c#d')).toBeNull();
    expect((await issuer.truth()).requests).toEqual({ 'GET /v1/cards/a%2F..%2Fb%3Fc%23d': 1 });
  });

  test('pages the events from the beginning, each with the amounts of its step', async () => {
    const { id } = await make('iss_1');
    await issuer.drive('POST', `/_sim/cards/${id}/spend`, { kind: 'authorization.approved', amount: '3.00' });
    const first = await issuer.live.readEvents({ after: null, limit: 1 });
    expect(first).toMatchObject({
      hasMore: true,
      items: [{ record: { type: 'card.issued', cardId: id, reference: 'iss_1', amount: null } }],
    });
    const second = await issuer.live.readEvents({ after: first.nextCursor, limit: 500 });
    expect(second).toMatchObject({
      hasMore: false,
      items: [{ record: { type: 'authorization.approved', cardId: id, amount: '3.00', asset: 'USD' } }],
    });
    expect(await issuer.live.readEvents({ after: second.nextCursor, limit: 10 })).toMatchObject({ items: [] });
  });

  test('reads balances, also one below zero', async () => {
    await make('iss_1');
    expect(await issuer.live.readBalances()).toEqual([{ asset: 'USD', available: '-25.00' }]);
    expect(await issuer.test.readBalances()).toEqual([]);
  });
});

describe('The issuer client at a server that answers as it likes', () => {
  const pan = '4000001234567898';
  const card = {
    ...{ id: 'c1', reference: 'iss_1', product: 'instant', status: 'active', decline_reason: null, pan, cvv: '987' },
    ...{ exp_month: 7, exp_year: 2031, load: { amount: '25.00', asset: 'USD' } },
  };
  let answer = { status: 200, body: '' };
  let server: TestServer;
  let client: IssuerClient;
  beforeAll(async () => {
    server = await startTestServer((_request, response) => response.writeHead(answer.status).end(answer.body));
    client = createIssuerClient({ url: `${server.url}/`, apiKey: KEY, timeoutMs: 1_000 });
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  test('takes no other card than asked for, and no other reference', async () => {
    answer = { status: 200, body: JSON.stringify(card) };
    for (const call of [
      client.readCard('c2'),
      client.createFreeze('c2'),
      client.createLoad('c2', { reference: 'l', amount: '1' }),
    ]) {
      expect(await failureOf(call)).toMatchObject({ kind: 'garbage', reason: 'id: another than asked for' });
    }
    answer = { status: 201, body: JSON.stringify(card) };
    expect(await failureOf(client.createCard(cardRequest('iss_2')))).toMatchObject({
      kind: 'garbage',
      reason: 'reference: another than asked for',
      provesNothingMade: false,
    });
    answer = { status: 200, body: JSON.stringify({ items: [{ ...card, reference: 'iss_2' }, card] }) };
    expect(await client.readCardsByReference('iss_1')).toMatchObject([{ id: 'c1', reference: 'iss_1' }]);
  });

  test('does not take a close without what was left for one', async () => {
    answer = { status: 200, body: JSON.stringify(card) };
    expect(await failureOf(client.createClose('c1'))).toMatchObject({
      reason: 'remaining: missing or of another type',
      provesNothingMade: false,
    });
  });

  test.each([
    ['no JSON', 'oops', 'not_json'],
    ['a member twice', '{"id":"c1","status":"active","status":"declined"}', 'repeated_member'],
    ['nothing', '', 'not_json'],
    ['no object', '"4000001234567898"', 'record: missing or of another type'],
  ])('calls %s garbage', async (_name, body, reason) => {
    answer = { status: 200, body };
    expect(await failureOf(client.readCard('c1'))).toMatchObject({ kind: 'garbage', reason, countsForBreaker: true });
  });

  test('repeats no error code that could be a card number', async () => {
    for (const code of [`x${pan}`, 'card_4000-0012-3456-7898']) {
      answer = { status: 422, body: JSON.stringify({ error: code, message: `${pan} is invalid` }) };
      const error = await failureOf(client.createCard(cardRequest('iss_1')));
      expect(error).toMatchObject({ kind: 'rejected', code: null });
      expect(`${error.message} ${error.stack}`).not.toMatch(/7898/);
    }
    answer = { status: 422, body: JSON.stringify({ error: 'invalid_document' }) };
    expect(await failureOf(client.createCard(cardRequest('iss_1')))).toMatchObject({ code: 'invalid_document' });
  });
});

test('What the issuer client makes is declared: a second card is a second card, the rest may be repeated', async () => {
  const client = createIssuerClient({ url: 'http://127.0.0.1:9', apiKey: KEY, timeoutMs: 100 });
  const check = (creates: object) => () =>
    assertCreatesDeclared([{ name: 'issuer', client, creates: creates as typeof ISSUER_CREATES }]);
  expect(check(ISSUER_CREATES)).not.toThrow();
  const { createCard, ...rest } = ISSUER_CREATES;
  expect(check(rest)).toThrow('issuer.createCard: declare idempotentByReference');
  expect(createCard).toEqual({ idempotentByReference: false, lookupLagMs: 3_000 });
  expect(Object.values(rest).every(({ idempotentByReference }) => idempotentByReference)).toBe(true);
  await client.close();
});
