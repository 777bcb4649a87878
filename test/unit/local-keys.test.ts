import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureFingerprintKey, hasArrangedKeys, keyFiles } from '../../src/local/key-files.js';
import { localPaths } from '../../src/local/paths.js';
import { PRODUCT_PROCESSES, type ProductSettings, productChild } from '../../src/local/product-children.js';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'sverka-local-keys-'));
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

const NAMES = /^SVERKA_(KEYRING_FILE|PUBLIC_KEYS_FILE|FINGERPRINT_KEY|VAULT_TOKEN)$/;

/** What each process is told of keys. */
function told(env: NodeJS.ProcessEnv, keys: ProductSettings['keys']) {
  const settings = {
    env,
    keys,
    paths: localPaths({ SVERKA_STATE_DIR: state }),
    ports: {} as ProductSettings['ports'],
    databaseUrls: {} as ProductSettings['databaseUrls'],
    temporalAddress: '',
    temporalNamespace: '',
    temporalUiUrl: null,
    taskQueue: '',
    bundlePath: '',
    accounts: [],
    payloadKeysFile: null,
    codec: null,
  };
  const entries = PRODUCT_PROCESSES.map((name) => {
    const given = Object.entries(productChild(name, settings).env ?? {});
    return [name, Object.fromEntries(given.filter(([key, value]) => NAMES.test(key) && value !== undefined))];
  });
  return Object.fromEntries(entries);
}

test('only the worker learns where private keys are, only the edges what seals', () => {
  const files = keyFiles(state);
  expect(told({}, { files, fingerprint: 'f' })).toEqual({
    simulators: {},
    worker: { SVERKA_KEYRING_FILE: files.keyring },
    gateway: { SVERKA_PUBLIC_KEYS_FILE: files.publicKeys, SVERKA_FINGERPRINT_KEY: 'f' },
    relay: { SVERKA_PUBLIC_KEYS_FILE: files.publicKeys },
    console: {},
    cabinet: {},
  });
});

test('what a person arranged is kept, and is hidden just the same from who does not need it', () => {
  const env = { SVERKA_VAULT_URL: 'http://v', SVERKA_VAULT_TOKEN: 't', SVERKA_PUBLIC_KEYS_FILE: '/p' };
  expect(hasArrangedKeys(env)).toBe(true);
  expect(told({ ...env, SVERKA_FINGERPRINT_KEY: 'f' }, { files: null, fingerprint: 'f' })).toEqual({
    simulators: {},
    worker: { SVERKA_VAULT_TOKEN: 't', SVERKA_PUBLIC_KEYS_FILE: '/p', SVERKA_FINGERPRINT_KEY: 'f' },
    gateway: { SVERKA_PUBLIC_KEYS_FILE: '/p', SVERKA_FINGERPRINT_KEY: 'f' },
    relay: { SVERKA_PUBLIC_KEYS_FILE: '/p' },
    console: {},
    cabinet: {},
  });
  expect(hasArrangedKeys({ SVERKA_FINGERPRINT_KEY: 'f', SVERKA_KEYRING_FILE: '' })).toBe(false);
});

test('the fingerprint key is made once, for its owner alone, and stays', () => {
  const made = ensureFingerprintKey(state);
  expect(made).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(ensureFingerprintKey(state)).toBe(made);
  const file = join(state, 'keys/fingerprint');
  expect([readFileSync(file, 'utf8').trim(), statSync(file).mode & 0o777]).toEqual([made, 0o600]);
});
