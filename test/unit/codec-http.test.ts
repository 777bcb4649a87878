import { EncryptionCodec } from '../../src/client/encryption-codec.js';
import { readPayloadKeys } from '../../src/client/payload-keys.js';
import { createCodecApp } from '../../src/http/codec/app.js';
import { SESSION_SECONDS, sessionCookie } from '../../src/http/codec/codec-access.js';
import { CODEC_BODY_BYTES_MAX } from '../../src/http/codec/payloads.js';
import { silentLog } from '../../src/telemetry/log.js';
import { createMetrics } from '../../src/telemetry/metrics.js';
import { type PayloadKeysFile, payloadKeysFile } from '../support/payload-keys.js';

const TOKEN = 'a token of more than 32 characters'.replaceAll(' ', '-');
const UI = 'http://127.0.0.1:8233';
const ACCESS = { token: TOKEN, uiOrigin: UI };

let keys: PayloadKeysFile;
let app: ReturnType<typeof createCodecApp>;
beforeAll(() => {
  keys = payloadKeysFile('k1', ['k1']);
  const codec = new EncryptionCodec(readPayloadKeys(keys.path));
  app = createCodecApp({ codec, access: ACCESS, log: silentLog, metrics: createMetrics() });
});
afterAll(() => keys.remove());

type Headers = Record<string, string>;
const JSON_TYPE = { 'content-type': 'application/json' };
const BEARER = { authorization: `Bearer ${TOKEN}` };
/** As a browser sends it for a script of Temporal's UI. */
const FROM_UI = { origin: UI, ...JSON_TYPE, 'x-namespace': 'default' };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const CLEAR = { metadata: { encoding: base64('json/plain') }, data: base64('"a secret"') };

function post(path: string, body: unknown, headers: Headers = { ...JSON_TYPE, ...BEARER }): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return app(new Request(`http://codec${path}`, { method: 'POST', headers, body: text }));
}

async function payloadsOf(answer: Response): Promise<{ metadata: Record<string, string>; data: string }[]> {
  expect(answer.status).toBe(200);
  return (JSON.parse(await answer.text()) as { payloads: [] }).payloads;
}

async function sealed() {
  return payloadsOf(await post('/codec/encode', { payloads: [CLEAR] }));
}

test.each(['/codec/decode', '/decode', '/codec/decode?preserveStorageRefs=true'])(
  '%s opens what was encoded',
  async (path) => {
    const payloads = await sealed();
    expect(payloads[0]?.metadata['encoding']).toBe(base64('binary/encrypted'));
    expect(JSON.stringify(payloads)).not.toContain(CLEAR.data);
    expect(await payloadsOf(await post(path, { payloads }))).toEqual([CLEAR]);
  },
);

test('no Request-Id that holds a card number is echoed', async () => {
  const given = { ...JSON_TYPE, ...BEARER, 'request-id': `id-${'4242'.repeat(4)}` };
  const answer = await post('/codec/decode', { payloads: [CLEAR] }, given);
  expect([answer.status, answer.headers.get('request-id')]).toEqual([200, expect.not.stringContaining('4242')]);
});

test('payloads in clear, none, one without data and base64 of the web come through', async () => {
  expect(await payloadsOf(await post('/codec/decode', { payloads: [CLEAR] }))).toEqual([CLEAR]);
  expect(await payloadsOf(await post('/codec/decode', {}))).toEqual([]);
  const empty = { metadata: { encoding: base64('binary/null') } };
  expect(await payloadsOf(await post('/codec/decode', { payloads: [empty] }))).toEqual([{ ...empty, data: '' }]);
  const web = { payloads: [{ ...CLEAR, data: '-_-_', externalPayloads: [] }], more: 1 };
  expect(await payloadsOf(await post('/codec/decode', web))).toEqual([{ ...CLEAR, data: '+/+/' }]);
});

test.each<[string, Headers]>([
  ['no token', {}],
  ['another token', { authorization: `Bearer ${TOKEN.replace('a', 'b')}` }],
  ['the beginning of the token', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
  ['the token without its scheme', { authorization: TOKEN }],
  ['the token as a password', { authorization: `Basic ${base64(`x:${TOKEN}`)}` }],
  ['a session that was made up', { cookie: `sverka_codec=9999999999.${'0'.repeat(64)}`, origin: UI }],
  ['a session that has ended', { cookie: sessionCookie(ACCESS, Date.now() - SESSION_SECONDS * 1_000 - 1), origin: UI }],
  ['a session without the page of the UI', { cookie: sessionCookie(ACCESS) }],
])('%s is 401 for both routes, and says nothing of why', async (_, headers) => {
  for (const path of ['/codec/encode', '/codec/decode']) {
    const answer = await post(path, { payloads: [CLEAR] }, { ...JSON_TYPE, ...headers });
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const { code, detail } = JSON.parse(await answer.text()) as { code: string; detail: string };
    expect([code, detail]).toEqual(['authentication', expect.stringMatching(/^Send the token/)]);
  }
});

test('a page of another origin is 403 even with the token, and reads nothing', async () => {
  for (const origin of ['https://evil.test', 'http://127.0.0.1:9999', 'null', `${UI}.evil.test`]) {
    const answer = await post('/codec/decode', { payloads: [CLEAR] }, { ...JSON_TYPE, ...BEARER, origin });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const ask = new Request('http://codec/codec/decode', { method: 'OPTIONS', headers: { origin } });
    expect((await app(ask)).status).toBe(403);
  }
});

test("Temporal's UI may ask and read, also why it was refused", async () => {
  const ask = new Request('http://codec/codec/decode', { method: 'OPTIONS', headers: { origin: UI } });
  const preflight = await app(ask);
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toBe('POST');
  for (const name of ['authorization', 'content-type', 'x-namespace'])
    expect(preflight.headers.get('access-control-allow-headers')).toContain(name);
  const answers = [
    preflight,
    await post('/codec/decode', {}, FROM_UI),
    await post('/codec/decode', {}, { ...FROM_UI, ...BEARER }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([204, 401, 200]);
  for (const { headers } of answers) {
    expect(headers.get('access-control-allow-origin')).toBe(UI);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('vary')).toContain('origin');
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test('a browser that has shown the token decodes for the UI, and the cookie does not hold the token', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const wrong = await post('/sign-in', `token=${TOKEN}x`, form);
  expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
  const right = await post('/sign-in', `token=${TOKEN}`, form);
  const cookie = right.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^sverka_codec=[0-9]+\.[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/);
  expect(cookie).not.toContain(TOKEN);
  const [session = ''] = cookie.split(';');
  const answer = await post(
    '/codec/decode',
    { payloads: await sealed() },
    { ...FROM_UI, cookie: `other=1; ${session}` },
  );
  expect(await payloadsOf(answer)).toEqual([CLEAR]);
  expect(sessionCookie({ ...ACCESS, uiOrigin: 'https://ui.test' })).toMatch(/; Secure$/);
});

test('the sign-in page runs no script and is framed by nobody', async () => {
  const page = await app(new Request('http://codec/sign-in'));
  expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(await page.text()).toContain('action="sign-in"');
});

test.each<[string, unknown, number, Headers]>([
  ['no JSON', '{"payloads":', 400, {}],
  ['no list', { payloads: {} }, 400, {}],
  ['data that is not base64', { payloads: [{ data: '"x"' }] }, 400, {}],
  ['another type', {}, 415, { 'content-type': 'text/plain' }],
  ['an encoded body', {}, 415, { 'content-encoding': 'gzip' }],
  ['too much', `{"x":"${'x'.repeat(CODEC_BODY_BYTES_MAX)}"}`, 413, {}],
])('%s is refused as a problem', async (_, body, status, headers) => {
  const answer = await post('/codec/decode', body, { ...JSON_TYPE, ...BEARER, ...headers });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
});

test('a payload whose key is not there is refused with what to do', async () => {
  const [payload] = await sealed();
  const metadata = { ...payload?.metadata, 'encryption-key-id': base64('k0') };
  const answer = await post('/codec/decode', { payloads: [{ ...payload, metadata }] });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain('encrypted with key k0, and SVERKA_PAYLOAD_KEYS_FILE holds only k1');
});

test('other paths and methods are 404 and 405', async () => {
  expect((await post('/codec', {})).status).toBe(404);
  expect((await post('/codec/decoded', {})).status).toBe(404);
  const get = await app(new Request('http://codec/codec/decode', { headers: BEARER }));
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
});
