import { connect } from 'node:net';
import { PROBLEMS, problemSchema } from '../../src/contracts/problems.js';
import {
  makeMerchant,
  openTestGateway,
  type TestAnswer,
  type TestGateway,
  type TestMerchant,
} from '../support/gateway.js';

let gateway: TestGateway;
let merchant: TestMerchant;
let key: string;
beforeAll(async () => {
  gateway = await openTestGateway();
  merchant = await makeMerchant(gateway.tx);
  key = merchant.keys.live;
});
afterAll(async () => gateway?.close());

/** A problem has exactly the nine members, the status of its code, and the headers of every answer. */
function expectProblem(answer: TestAnswer, code: keyof typeof PROBLEMS, path: string): void {
  expect(answer.json.code).toBe(code);
  expect(answer.status).toBe(PROBLEMS[code].status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.headers.get('request-id')).toMatch(/^[A-Za-z0-9._-]{1,64}$/);
  expect(problemSchema.strict().parse(answer.json)).toMatchObject({
    type: `/problems/${code}`,
    instance: path,
    retryable: PROBLEMS[code].retryable,
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
}

const post = (options: object = {}) =>
  gateway.call('POST', '/v1/deposit-addresses', { key, headers: { 'idempotency-key': 'k' }, ...options });

describe('methods and paths', () => {
  test('HEAD answers where GET does, without a body', async () => {
    const answer = await gateway.call('HEAD', '/v1/wallet', { key });
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([200, '', 'application/json']);
    expect((await gateway.call('HEAD', '/openapi.json')).status).toBe(200);
  });

  test('another method on a known path is 405 with Allow, OPTIONS too, and no CORS header anywhere', async () => {
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' };
    const cases = [
      ['POST', '/v1/wallet', 'GET, HEAD'],
      ['OPTIONS', '/v1/wallet', 'GET, HEAD'],
      ['DELETE', '/v1/deposit-addresses', 'POST, GET, HEAD'],
      ['PATCH', '/v1/deposits/dep_1', 'GET, HEAD'],
      ['PUT', '/openapi.json', 'GET, HEAD'],
      ['OPTIONS', '/docs', 'GET, HEAD'],
    ] as const;
    for (const [method, path, allow] of cases) {
      const answer = await gateway.call(method, path, { key, headers });
      expectProblem(answer, 'method_not_allowed', path);
      expect(answer.headers.get('allow')).toBe(allow);
      expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  test.each(['/', '/v1/nope', '/v1/wallet/', '/v1/deposits/dep_1/x', '/problems', '/livez', '/readyz', '/metrics'])(
    '%s is not found',
    async (path) => {
      expectProblem(await gateway.call('GET', path, { key }), 'not_found', path);
    },
  );

  test('the instance is the path without the query', async () => {
    const answer = await gateway.call('GET', '/v1/deposits?state=secret-value', { key });
    expectProblem(answer, 'validation', '/v1/deposits');
    expect(answer.text).not.toContain('secret-value');
  });
});

describe('the ids of a call', () => {
  test('a Request-Id is echoed, and one outside the grammar is replaced', async () => {
    const echoed = await gateway.call('GET', '/v1/wallet', { key, headers: { 'request-id': 'my.call-1_a' } });
    expect(echoed.headers.get('request-id')).toBe('my.call-1_a');
    for (const bad of ['a b', 'x'.repeat(65), 'a/b', '']) {
      const replaced = await gateway.call('GET', '/v1/wallet', { key, headers: { 'request-id': bad } });
      expect(replaced.headers.get('request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('a traceparent is honoured: its trace stands in the problem and in the log', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01`, 'request-id': 'traced' };
    const answer = await gateway.call('GET', '/v1/nope', { key, headers });
    expect(answer.json.trace_id).toBe(trace);
    const line = gateway.logLines.map((text) => JSON.parse(text)).find((logged) => logged.request_id === 'traced');
    expect(line).toMatchObject({ trace_id: trace, status: 404, book: 'live', merchant_id: merchant.id });
  });
});

describe('bodies', () => {
  const network = '{"network":"tron"}';

  test.each([
    ['no body', {}],
    ['no media type', { raw: Buffer.from(network), headers: { 'content-type': '', 'idempotency-key': 'k' } }],
    ['text', { raw: network, headers: { 'content-type': 'text/plain', 'idempotency-key': 'k' } }],
    [
      'a form',
      { raw: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded', 'idempotency-key': 'k' } },
    ],
    [
      'another charset',
      { raw: network, headers: { 'content-type': 'application/json; charset=latin1', 'idempotency-key': 'k' } },
    ],
    ['an encoded body', { raw: network, headers: { 'content-encoding': 'gzip', 'idempotency-key': 'k' } }],
  ])('%s is an unsupported media type', async (_, options) => {
    expectProblem(await post(options), 'unsupported_media_type', '/v1/deposit-addresses');
  });

  test.each([
    ['not JSON', '{"network":'],
    ['nothing', ' '],
    ['a list', '[]'],
    ['null', 'null'],
    ['a text', '"tron"'],
    ['a repeated member', '{"network":"tron","network":"tron"}'],
    ['a repeated member under an escape', '{"network":"tron","n\\u0065twork":"bitcoin"}'],
    ['a repeated member deep inside', '{"network":"tron","settlement":{"mode":"as_token","mode":"as_token"}}'],
    ['a byte order mark', `\uFEFF${network}`],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['brackets without end', '['.repeat(60_000)],
    ['very deep nesting with a stray member', `{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ])('%s is a malformed body', async (_, raw) => {
    expectProblem(await post({ raw }), 'malformed_body', '/v1/deposit-addresses');
  });

  test('more than 64 KiB is too large, also without a length, and exactly 64 KiB is read', async () => {
    const padded = (size: number) => network.padEnd(size, ' ');
    expectProblem(await post({ raw: padded(64 * 1024 + 1) }), 'payload_too_large', '/v1/deposit-addresses');
    expect((await post({ raw: padded(64 * 1024) })).status).toBe(503);

    const chunk = `8000\r\n${' '.repeat(0x8000)}\r\n`;
    const head = ['POST /v1/deposit-addresses HTTP/1.1', 'Host: x', `Authorization: Bearer ${key}`];
    const more = ['Idempotency-Key: k', 'Content-Type: application/json', 'Transfer-Encoding: chunked', '', ''];
    const answer = await overSocket(gateway.url, [...head, ...more].join('\r\n') + chunk.repeat(3));
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
  });

  test('deep nesting that is JSON is refused by its shape, not by a crash', async () => {
    const raw = `{"network":"tron","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
    expectProblem(await post({ raw }), 'validation', '/v1/deposit-addresses');
  });
});

describe('what is refused points at the field and never quotes it', () => {
  test.each<[string, object, string]>([
    ['an unknown member', { network: 'tron', ammount: 'SECRET' }, '/ammount'],
    [
      'an unknown member inside',
      { network: 'tron', settlement: { mode: 'as_token', extra: 'SECRET' } },
      '/settlement/extra',
    ],
    ['a member that could be a card number', { network: 'tron', '4242424242424242': 'SECRET' }, ''],
    ['one in groups', { network: 'tron', 'c4242-4242-4242-4242': 'SECRET' }, ''],
    ['one in other groups', { network: 'tron', _4242_4242_4242_4242: 'SECRET' }, ''],
    ['a missing member', {}, '/network'],
    ['a wrong type', { network: 5 }, '/network'],
    ['a customer outside the grammar', { network: 'tron', customer_ref: 'SECRET SECRET' }, '/customer_ref'],
    ['a customer that is too long', { network: 'tron', customer_ref: 'S'.repeat(65) }, '/customer_ref'],
    ['an unknown settlement', { network: 'tron', settlement: { mode: 'SECRET' } }, '/settlement/mode'],
    ['a settlement without its asset', { network: 'tron', settlement: { mode: 'settled' } }, '/settlement/asset'],
    [
      'an asset that settles nothing',
      { network: 'tron', settlement: { mode: 'as_token', asset: 'USD' } },
      '/settlement/asset',
    ],
    ['a prototype', JSON.parse('{"network":"tron","__proto__":{"asset":"SECRET"}}'), '/__proto__'],
  ])('%s', async (_, body, pointer) => {
    // A trace id of our own: one made at random may hold any digits.
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const answer = await post({ body, headers: { 'idempotency-key': 'k', traceparent } });
    expectProblem(answer, 'validation', '/v1/deposit-addresses');
    expect(answer.json.errors).toEqual([{ pointer, detail: expect.stringMatching(/^(must|is|has) /) }]);
    expect(answer.text).not.toMatch(/SECRET|4242|Invalid|expected|undefined/);
  });

  test.each<[string, object, string, string]>([
    ['a network', { network: 'dogecoin' }, 'network_not_supported', '/network'],
    ['an asset', { network: 'tron', asset: 'DOGE' }, 'asset_not_supported', '/asset'],
    ['an asset of another network', { network: 'tron', asset: 'ETH' }, 'asset_not_supported', '/asset'],
    [
      'a settlement asset',
      { network: 'tron', settlement: { mode: 'settled', asset: 'XXX' } },
      'asset_not_supported',
      '/settlement/asset',
    ],
    [
      'a token as settlement',
      { network: 'tron', settlement: { mode: 'settled', asset: 'BTC' } },
      'asset_not_supported',
      '/settlement/asset',
    ],
  ])('%s that is not supported', async (_, body, code, pointer) => {
    const answer = await post({ body });
    expectProblem(answer, code as keyof typeof PROBLEMS, '/v1/deposit-addresses');
    expect(answer.json.errors).toEqual([{ pointer, detail: expect.any(String) }]);
  });

  test.each([
    ['/v1/wallet?book=test', '?book'],
    ['/v1/deposits?limit=0', '?limit'],
    ['/v1/deposits?limit=101', '?limit'],
    ['/v1/deposits?limit=5&limit=6', '?limit'],
    ['/v1/deposits?limit=1e1', '?limit'],
    ['/v1/deposits?state=lost', '?state'],
    ['/v1/deposits?state=final&state=lost', '?state'],
    ['/v1/deposits?asset=DOGE', '?asset'],
    ['/v1/deposits?network=', '?network'],
    ['/v1/deposits?deposit_address_id=1', '?deposit_address_id'],
    ['/v1/deposits?created_from=yesterday', '?created_from'],
    ['/v1/deposits?created_to=2026-02-30T00:00:00Z', '?created_to'],
    ['/v1/deposits?order=asc', '?order'],
    ['/v1/movements?order=sideways', '?order'],
    ['/v1/movements?kind=theft', '?kind'],
    ['/v1/movements/?', null],
  ])('the parameter of %s', async (path, pointer) => {
    const answer = await gateway.call('GET', path, { key });
    if (pointer === null) return expect(answer.status).toBe(404);
    expectProblem(answer, 'validation', path.split('?')[0] ?? '');
    expect(answer.json.errors).toEqual([{ pointer, detail: expect.stringMatching(/^(must|is) .{1,100}$/) }]);
  });
});

test('an Idempotency-Key that is missing or malformed is told before anything else of the call', async () => {
  for (const headers of [{}, { 'idempotency-key': '' }, { 'idempotency-key': 'a b' }]) {
    const answer = await gateway.call('POST', '/v1/deposit-addresses', { key, headers, raw: 'no json' });
    expectProblem(answer, 'idempotency_key_missing', '/v1/deposit-addresses');
    expect(answer.json.errors).toMatchObject([{ pointer: 'Idempotency-Key' }]);
  }
});

test('without PostgreSQL a call is 503 and says that nothing was accepted; pages that need none go on', async () => {
  const alone = await openTestGateway({ databaseUrl: 'postgres://nobody@127.0.0.1:9/none' });
  try {
    const headers = { 'idempotency-key': 'k' };
    for (const answer of [
      await alone.call('GET', '/v1/wallet', { key }),
      await alone.call('POST', '/v1/wallet', { key, body: {}, headers }),
    ]) {
      expectProblem(answer, 'temporarily_unavailable', '/v1/wallet');
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.text + alone.logLines.join('')).not.toMatch(/127\.0\.0\.1|nobody/);
      expect(answer.text).not.toMatch(/ECONN|postgres/i);
    }
    expect((await alone.call('GET', '/v1/wallet')).status).toBe(401);
    expect((await alone.call('GET', '/openapi.json')).status).toBe(200);
  } finally {
    await alone.close();
  }
});

describe('pages', () => {
  test('each code has a page, without a key and without a script', async () => {
    for (const code of Object.keys(PROBLEMS)) {
      const page = await gateway.call('GET', `/problems/${code}`);
      expect([code, page.status, page.headers.get('content-type')]).toEqual([code, 200, 'text/html; charset=utf-8']);
      expect(page.text).toContain(`<code>${code}</code>`);
      expect(page.text).not.toContain('<script');
    }
    expectProblem(await gateway.call('GET', '/problems/nonsense'), 'not_found', '/problems/nonsense');
  });

  test('the API reference is served from disk, and no script stands in the page itself', async () => {
    const page = await gateway.call('GET', '/docs');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'self';");
    const scripts = [...page.text.matchAll(/<script([^>]*)>([^<]*)<\/script>/g)];
    expect(scripts.map((script) => script[2])).toEqual(['', '']);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
    expect(files).toHaveLength(3);
    for (const file of files) expect([file, (await gateway.call('GET', file)).status]).toEqual([file, 200]);
    expectProblem(await gateway.call('GET', '/docs/package.json'), 'not_found', '/docs/package.json');
    expectProblem(await gateway.call('GET', '/docs/..%2Fpackage.json'), 'not_found', '/docs/..%2Fpackage.json');
  });
});

/** Sends bytes as they are and answers what came back, without waiting for the end of the call. */
function overSocket(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString('latin1'));
    });
    socket.once('error', reject);
  });
}
