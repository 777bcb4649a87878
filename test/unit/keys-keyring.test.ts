import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyProvider } from '../../src/providers/keys/create-key-provider.js';
import { KeyError } from '../../src/providers/keys/key-provider.js';
import { createKeyring, createPublicKeySource } from '../../src/providers/keys/keyring.js';
import { ensureKeyring, readKeyring, rotateKeyring } from '../../src/providers/keys/keyring-file.js';
import { openBytes, sealBytes } from '../../src/providers/keys/seal-bytes.js';

const PLACE = { table: 't', row: 'r', column: 'c' };
let folder: string;
let places: { keyring: string; publicKeys: string };

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-keys-'));
  places = { keyring: join(folder, 'keys/keyring.json'), publicKeys: join(folder, 'keys/public.json') };
  ensureKeyring(places);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = async (keys: ReturnType<typeof createKeyring>, sealed: Buffer) =>
  (await openBytes(keys, sealed, PLACE)).toString();
const kind = (work: () => unknown) => {
  try {
    work();
    return 'done';
  } catch (error) {
    return error instanceof KeyError ? error.kind : String(error);
  }
};

test('a keyring is made for its owner alone, once, and its public half holds nothing private', () => {
  expect(statSync(places.keyring).mode & 0o777).toBe(0o600);
  const before = readFileSync(places.keyring, 'utf8');
  ensureKeyring(places);
  expect(readFileSync(places.keyring, 'utf8')).toBe(before);
  expect(before).toContain('PRIVATE KEY');
  expect(readFileSync(places.publicKeys, 'utf8')).not.toContain('PRIVATE');
});

test('public keys that were lost are made again from the keyring', () => {
  const before = readFileSync(places.publicKeys, 'utf8');
  rmSync(places.publicKeys);
  ensureKeyring(places);
  expect(readFileSync(places.publicKeys, 'utf8')).toBe(before);
});

test('what the public file seals, the keyring opens', async () => {
  const sealed = sealBytes(createPublicKeySource(places.publicKeys)(), Buffer.from('text'), PLACE);
  expect(await opened(createKeyring(places.keyring), sealed)).toBe('text');
});

test('after a rotation new values take the new key, old ones still open, and nothing is started again', async () => {
  const [source, keyring] = [createPublicKeySource(places.publicKeys), createKeyring(places.keyring)];
  const old = sealBytes(source(), Buffer.from('old'), PLACE);
  const [first] = await keyring.publicKeys();
  expect(await opened(keyring, old)).toBe('old');

  const { current, keys } = rotateKeyring(places);
  expect(keys.map(({ id }) => id)).toEqual([current, first?.keyId]);
  expect(source().keyId).toBe(current);
  expect((await keyring.publicKeys()).map(({ keyId }) => keyId)).toEqual([current, first?.keyId]);
  const fresh = sealBytes(source(), Buffer.from('new'), PLACE);
  expect([await opened(keyring, old), await opened(keyring, fresh)]).toEqual(['old', 'new']);
  expect(statSync(places.keyring).mode & 0o777).toBe(0o600);
});

test('a key that the keyring does not hold is named, and is found as soon as the file holds it', async () => {
  const copy = readFileSync(places.keyring, 'utf8');
  const source = createPublicKeySource(places.publicKeys);
  rotateKeyring(places);
  const sealed = sealBytes(source(), Buffer.from('text'), PLACE);
  const rotated = readFileSync(places.keyring, 'utf8');
  writeFileSync(places.keyring, copy);
  const keyring = createKeyring(places.keyring);
  await expect(opened(keyring, sealed)).rejects.toMatchObject({ kind: 'unknown_key' });
  await expect(opened(keyring, sealed)).rejects.toThrow(source().keyId);
  writeFileSync(places.keyring, rotated);
  expect(await opened(keyring, sealed)).toBe('text');
});

test('a keyring that others may read is refused, whenever its mode was changed', async () => {
  const keyring = createKeyring(places.keyring);
  expect(await keyring.publicKeys()).toHaveLength(1);
  chmodSync(places.keyring, 0o640);
  await expect(keyring.publicKeys()).rejects.toThrow(/chmod 600/);
  chmodSync(places.keyring, 0o600);
  expect(await keyring.publicKeys()).toHaveLength(1);
});

test('a second rotation at the same time is refused, for it would lose a key', () => {
  writeFileSync(`${places.keyring}.lock`, '');
  expect(kind(() => rotateKeyring(places))).toBe('refused');
  rmSync(`${places.keyring}.lock`);
  expect(kind(() => rotateKeyring(places))).toBe('done');
  expect(readKeyring(places.keyring).keys).toHaveLength(2);
});

test.each([
  ['missing', null],
  ['no JSON', '{"version":1,'],
  ['of another shape', '{"version":1,"current":"a","keys":[]}'],
  ['without its current key', '{"version":1,"current":"a","keys":[{"id":"b","createdAt":"","privateKey":"SECRET"}]}'],
])('a keyring that is %s is named by its path and never quoted', (_what, content) => {
  rmSync(places.keyring);
  if (content !== null) writeFileSync(places.keyring, content, { mode: 0o600 });
  expect(() => readKeyring(places.keyring)).toThrow(places.keyring);
  expect(() => readKeyring(places.keyring)).not.toThrow(/SECRET/);
  expect(kind(() => readKeyring(places.keyring))).toBe('unreadable');
});

test('where nothing is configured, the error names the settings', async () => {
  const keys = createKeyProvider({ keyringFile: undefined, awsKms: null, vault: null, timeoutMs: 1_000 });
  expect(await keys.publicKeys()).toEqual([]);
  const sealed = sealBytes(createPublicKeySource(places.publicKeys)(), Buffer.from('text'), PLACE);
  await expect(opened(keys, sealed)).rejects.toThrow(/SVERKA_KEYRING_FILE/);
  await keys.close();
});
