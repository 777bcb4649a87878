import { loadConfig } from '../../src/config.js';
import { custodyAccounts, custodyHooks, custodySettings, simulatedAccounts } from '../../src/local/custody-accounts.js';

const RELAY = 'http://127.0.0.1:1';
const SIMULATOR = 'http://127.0.0.1:2';

test('each unset book gets the simulator, a key and two secrets that src/config.ts accepts', () => {
  const accounts = custodyAccounts({}, RELAY);
  const settings = custodySettings(accounts, SIMULATOR);
  const config = loadConfig({ DATABASE_URL: 'postgres://127.0.0.1/x', ...settings });
  expect(config.providers.map(({ account, url }) => [account, url])).toEqual([
    ['main-live', SIMULATOR],
    ['main-test', SIMULATOR],
  ]);
  for (const { webhookSecrets } of config.providers)
    expect(webhookSecrets.map((secret) => secret.length)).toEqual([48, 48]);
  const all = config.providers.flatMap(({ apiKey, webhookSecrets }) => [apiKey, ...webhookSecrets]);
  expect(new Set(all).size).toBe(6);
});

test('the simulator signs with the newest secret, and the run file names both, newest first', () => {
  const accounts = custodyAccounts({}, RELAY);
  const hooks = custodyHooks(accounts);
  expect(simulatedAccounts(accounts)).toEqual(
    hooks.map((hook, at) => ({
      book: hook.book,
      apiKey: accounts[at]?.simulated?.apiKey,
      hookUrl: `${RELAY}/hooks/custody/${hook.endpoint}`,
      webhookSecret: hook.secrets[0],
    })),
  );
  expect(hooks.map((hook) => hook.url)).toEqual([
    `${RELAY}/hooks/custody/main-live`,
    `${RELAY}/hooks/custody/main-test`,
  ]);
});

test('a book that the environment configures, even in part, is left as it is', () => {
  const env = { SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: 'newest,older', SVERKA_TEST_CUSTODY_URL: '' };
  const accounts = custodyAccounts(env, RELAY);
  expect(Object.keys(custodySettings(accounts, SIMULATOR)).filter((name) => name.includes('LIVE'))).toEqual([]);
  expect(simulatedAccounts(accounts)).toEqual([expect.objectContaining({ book: 'test' })]);
  expect(custodyHooks(accounts)[0]?.secrets).toEqual(['newest', 'older']);
});
