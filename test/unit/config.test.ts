import { loadConfig } from '../../src/config.js';

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
