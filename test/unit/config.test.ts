import { loadCodecConfig, loadConfig } from '../../src/config.js';

const env = (settings: Record<string, string> = {}) => ({ DATABASE_URL: 'postgres://one/two', ...settings });

test('the defaults are usable, and the probe of a breaker ends well before its lease', () => {
  const { SVERKA_PROVIDER_TIMEOUT, SVERKA_BREAKER_LEASE } = loadConfig(env());
  expect(SVERKA_PROVIDER_TIMEOUT * 1.25).toBeLessThanOrEqual(SVERKA_BREAKER_LEASE);
});

test.each([
  ['as long as', { SVERKA_PROVIDER_TIMEOUT: '10s' }],
  ['hardly shorter than', { SVERKA_PROVIDER_TIMEOUT: '9s' }],
  ['longer than', { SVERKA_BREAKER_LEASE: '5s' }],
])('a call that may be %s the lease of its probe does not start', (_, settings) => {
  expect(() => loadConfig(env(settings))).toThrow(/SVERKA_BREAKER_LEASE: must be at least 1.25 times/);
});

test('one error names each bad value', () => {
  const load = () => loadConfig(env({ SVERKA_BREAKER_OPEN: '1 minute', SVERKA_SWEEP_INTERVAL: '0s' }));
  expect(load).toThrow(/SVERKA_SWEEP_INTERVAL[^]*SVERKA_BREAKER_OPEN/);
});

test('the codec needs keys, a token and the origin of the UI, and no database', () => {
  expect(() => loadCodecConfig({})).toThrow(/SVERKA_PAYLOAD_KEYS_FILE[^]*SVERKA_CODEC_TOKEN[^]*SVERKA_CODEC_UI_ORIGIN/);
  const usable = {
    SVERKA_PAYLOAD_KEYS_FILE: '/keys.json',
    SVERKA_CODEC_TOKEN: 'x'.repeat(32),
    SVERKA_CODEC_UI_ORIGIN: 'http://127.0.0.1:8233',
  };
  expect(loadCodecConfig(usable)).toMatchObject({ SVERKA_CODEC_PORT: 8082, SVERKA_HOST: '127.0.0.1' });
  for (const wrong of [
    { SVERKA_CODEC_TOKEN: 'x'.repeat(31) },
    { SVERKA_CODEC_UI_ORIGIN: '*' },
    { SVERKA_CODEC_UI_ORIGIN: 'http://127.0.0.1:8233/' },
    { SVERKA_PAYLOAD_KEYS_FILE: '' },
  ]) {
    const [name = ''] = Object.keys(wrong);
    expect(() => loadCodecConfig({ ...usable, ...wrong })).toThrow(name);
  }
});

test.each([
  ['only an issuer', { SVERKA_OIDC_ISSUER: 'https://id.example' }, /SVERKA_OIDC_CLIENT_ID: missing/],
  ['only a client', { SVERKA_OIDC_CLIENT_ID: 'sverka' }, /SVERKA_OIDC_ISSUER: missing/],
  [
    'only a secret',
    { SVERKA_OIDC_CLIENT_SECRET: 'x' },
    /SVERKA_OIDC_ISSUER: missing[^]*SVERKA_OIDC_CLIENT_ID: missing/,
  ],
  ['a plain connection', { SVERKA_OIDC_ISSUER: 'http://id.example', SVERKA_OIDC_CLIENT_ID: 'x' }, /must be an https/],
  ['a plain one in disguise', { SVERKA_OIDC_ISSUER: 'http://localhost:1@id.example' }, /must be an https/],
  ['a plain one of a namesake', { SVERKA_OIDC_ISSUER: 'http://localhost.example/' }, /must be an https/],
])('an identity provider of %s does not start', (_, settings, words) => {
  expect(() => loadConfig(env(settings))).toThrow(words);
});

test('an identity provider has an issuer and a client, and a public client has no secret; passkeys are on', () => {
  const settings = { SVERKA_OIDC_ISSUER: 'http://localhost:9000/realm', SVERKA_OIDC_CLIENT_ID: 'sverka' };
  expect(loadConfig(env(settings))).toMatchObject({ ...settings, SVERKA_APPROVAL_PASSKEY: 'on' });
  expect(() => loadConfig(env({ SVERKA_APPROVAL_PASSKEY: 'yes' }))).toThrow(/SVERKA_APPROVAL_PASSKEY/);
});
