import { loadConfig } from '../../src/config.js';
import { providerAccountName } from '../../src/contracts/ids.js';
import { BOOKS } from '../../src/domain/books.js';
import {
  providerAccounts,
  providerHooks,
  providerSettings,
  SIMULATED_PROVIDERS,
  simulatedAccounts,
} from '../../src/local/provider-accounts.js';

const RELAY = 'http://127.0.0.1:1';
const simulator = (provider: string) => `http://127.0.0.1/${provider}`;

test('each unset book gets at each provider the simulator, a key and two secrets that src/config.ts accepts', () => {
  const settings = providerSettings(providerAccounts({}, RELAY, providerAccountName), simulator);
  const { providers } = loadConfig({ DATABASE_URL: 'postgres://127.0.0.1/x', ...settings });
  expect(providers.map(({ provider, account, url }) => [provider, account, url])).toEqual(
    SIMULATED_PROVIDERS.flatMap((provider) =>
      BOOKS.map((book) => [provider, providerAccountName(provider, book), simulator(provider)]),
    ),
  );
  for (const { webhookSecrets } of providers) {
    expect(webhookSecrets.map((secret) => secret.length)).toEqual([48, 48]);
  }
  const all = providers.flatMap(({ apiKey, webhookSecrets }) => [apiKey, ...webhookSecrets]);
  expect(new Set(all).size).toBe(18);
});

test.each(SIMULATED_PROVIDERS)('the simulated %s signs with the newest secret, and the run file names both', (name) => {
  const accounts = providerAccounts({}, RELAY, providerAccountName);
  const hooks = providerHooks(accounts).filter(({ provider }) => provider === name);
  const own = accounts.filter(({ provider }) => provider === name);
  expect(simulatedAccounts(accounts, name)).toEqual(
    hooks.map((hook, at) => ({
      book: hook.book,
      apiKey: own[at]?.simulated?.apiKey,
      hookUrl: `${RELAY}/hooks/${name}/${hook.endpoint}`,
      webhookSecret: hook.secrets[0],
    })),
  );
  expect(hooks.map(({ url }) => url)).toEqual(
    BOOKS.map((book) => `${RELAY}/hooks/${name}/${providerAccountName(name, book)}`),
  );
  expect(hooks.map(({ secrets }) => secrets.length)).toEqual([2, 2]);
});

test('a book that the environment configures, even in part, is left as it is, and at that provider alone', () => {
  const env = { SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: 'newest,older', SVERKA_TEST_CUSTODY_URL: '' };
  const accounts = providerAccounts(env, RELAY, providerAccountName);
  expect(Object.keys(providerSettings(accounts, simulator)).filter((name) => /LIVE_CUSTODY/.test(name))).toEqual([]);
  expect(simulatedAccounts(accounts, 'custody')).toEqual([expect.objectContaining({ book: 'test' })]);
  expect(simulatedAccounts(accounts, 'issuer')).toHaveLength(2);
  expect(providerHooks(accounts)[0]?.secrets).toEqual(['newest', 'older']);
});
