import {
  makeKey,
  makeMerchant,
  newKey,
  openTestGateway,
  type TestGateway,
  type TestMerchant,
} from '../support/gateway.js';
import { makeAddress, makeDeposit } from '../support/gateway-rows.js';

let gateway: TestGateway;
let merchant: TestMerchant;
beforeAll(async () => {
  gateway = await openTestGateway();
  merchant = await makeMerchant(gateway.tx);
});
afterAll(async () => gateway?.close());

const statusOf = async (key: string | undefined, path = '/v1/wallet') =>
  (await gateway.call('GET', path, key === undefined ? {} : { key })).status;

describe('a key', () => {
  test('opens its merchant and its book, with the scheme in any case', async () => {
    expect(await statusOf(merchant.keys.live)).toBe(200);
    expect(await statusOf(merchant.keys.test)).toBe(200);
    const headers = { authorization: `bearer ${merchant.keys.live}` };
    expect((await gateway.call('GET', '/v1/wallet', { headers })).status).toBe(200);
  });

  test('that is absent, malformed, unknown or of another scheme is refused in the same words', async () => {
    const { live } = merchant.keys;
    const refused = [
      undefined,
      '',
      live.slice(0, -1),
      `${live}x`,
      live.toUpperCase(),
      newKey('live'),
      `${live} `.repeat(2),
    ];
    const answers = await Promise.all(
      refused.map((key) => gateway.call('GET', '/v1/wallet', key === undefined ? {} : { key })),
    );
    answers.push(await gateway.call('GET', '/v1/wallet', { headers: { authorization: `Basic ${live}` } }));
    answers.push(await gateway.call('GET', `/v1/wallet?key=${live}`));
    for (const answer of answers) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect({ ...answer.json, trace_id: '' }).toEqual({ ...answers[0]?.json, trace_id: '' });
      expect(answer.headers.get('ratelimit')).toBeNull();
    }
  });

  test('whose prefix names the other book than its row is refused', async () => {
    const key = newKey('test');
    await makeKey(gateway.tx, { merchantId: merchant.id, book: 'live', access: 'full', key });
    expect(await statusOf(key)).toBe(401);
  });

  test('that is revoked ends at once', async () => {
    const key = newKey('live');
    const id = await makeKey(gateway.tx, { merchantId: merchant.id, book: 'live', access: 'full', key });
    expect(await statusOf(key)).toBe(200);
    await gateway.tx.query('select sverka.revoke_api_key($1)', [id]);
    expect(await statusOf(key)).toBe(401);
  });

  test('that may only read is refused on a route that writes, before its body is looked at', async () => {
    const answer = await gateway.call('POST', '/v1/deposit-addresses', { key: merchant.readOnly, raw: 'no json' });
    expect([answer.status, answer.json.code]).toEqual([403, 'permission']);
    expect(await statusOf(merchant.readOnly)).toBe(200);
  });

  test('is what every path under /v1 asks for first, known or not, whatever the method', async () => {
    for (const path of ['/v1', '/v1/', '/v1/wallet', '/v1/nonsense', '/v1/withdrawals', '/v1/withdrawals/approve']) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'PATCH']) {
        expect([method, path, (await gateway.call(method, path)).status]).toEqual([method, path, 401]);
      }
    }
  });

  test('reaches no withdrawal: a guessed path is answered like nonsense (I09)', async () => {
    const key = merchant.keys.live;
    const nonsense = await gateway.call('GET', '/v1/nonsense', { key });
    const guesses = [
      '/v1/withdrawals',
      '/v1/withdrawals/wd_1',
      '/v1/withdrawals/wd_1/approve',
      '/v1/payouts',
      '/v1/users',
    ];
    for (const path of guesses) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        const answer = await gateway.call(method, path, { key, ...(method === 'GET' ? {} : { body: {} }) });
        expect(answer.status).toBe(404);
        expect({ ...answer.json, trace_id: '', instance: '' }).toEqual({
          ...nonsense.json,
          trace_id: '',
          instance: '',
        });
      }
    }
  });
});

describe('an object', () => {
  test('of another merchant or of the other book is answered exactly like one that never was', async () => {
    const other = await makeMerchant(gateway.tx);
    const address = await makeAddress(gateway.tx, { merchantId: merchant.id });
    const deposit = await makeDeposit(gateway.tx, { merchantId: merchant.id, addressId: address });
    for (const path of [`/v1/deposit-addresses/${address}`, `/v1/deposits/${deposit}`]) {
      expect(await statusOf(merchant.keys.live, path)).toBe(200);
      const never = path.replace(/.{4}$/, '0000');
      for (const [key, asked] of [
        [merchant.keys.test, path],
        [other.keys.live, path],
        [merchant.keys.live, never],
        [merchant.keys.live, `${path}x`],
      ] as const) {
        const answer = await gateway.call('GET', asked, { key });
        expect([answer.status, answer.json.code]).toEqual([404, 'not_found']);
        expect(Object.keys(answer.json)).toHaveLength(9);
      }
    }
  });

  test('of the other book or another merchant stands in no list', async () => {
    const other = await makeMerchant(gateway.tx);
    await makeAddress(gateway.tx, { merchantId: other.id });
    for (const key of [other.keys.test, (await makeMerchant(gateway.tx)).keys.live]) {
      expect((await gateway.call('GET', '/v1/deposit-addresses', { key })).json.data).toEqual([]);
    }
    expect((await gateway.call('GET', '/v1/deposit-addresses', { key: other.keys.live })).json.data).toHaveLength(1);
  });
});

describe('the budget of a key', () => {
  let limited: TestGateway;
  beforeAll(async () => {
    limited = await openTestGateway({ limit: 3 });
  });
  afterAll(async () => limited?.close());

  test('is told in every answer, and once it is used up the answer is 429', async () => {
    const { keys } = await makeMerchant(limited.tx);
    const call = (path: string) => limited.call('GET', path, { key: keys.live });
    const answers = [await call('/v1/wallet'), await call('/v1/nonsense'), await call('/v1/deposits?limit=0')];
    expect(answers.map((answer) => answer.status)).toEqual([200, 404, 400]);
    expect(answers.map((answer) => /r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1])).toEqual([
      '2',
      '1',
      '0',
    ]);
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"api";q=3;w=60');
    expect(answers[0]?.headers.get('ratelimit')).toMatch(/^"api";r=2;t=\d+$/);

    const refused = await call('/v1/wallet');
    expect([refused.status, refused.json.code, refused.json.retryable]).toEqual([429, 'rate_limited', true]);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(refused.headers.get('ratelimit')).toMatch(/^"api";r=0;t=\d+$/);
    expect((await limited.call('GET', '/v1/wallet', { key: keys.test })).status).toBe(200);
  });

  test('is shared with other copies of the gateway: it stands in PostgreSQL', async () => {
    const { keys } = await makeMerchant(limited.tx);
    await limited.call('GET', '/v1/wallet', { key: keys.live });
    const [row] = await limited.tx.query<{ points: number }>(
      `select points from sverka.rate_limit where key = 'api:' ||
         (select id from sverka.api_key where hash = sha256(convert_to($1, 'UTF8')))`,
      [keys.live],
    );
    expect(row?.points).toBe(1);
  });
});
