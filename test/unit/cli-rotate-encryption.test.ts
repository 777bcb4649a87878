import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { keyFiles } from '../../src/local/key-files.js';
import { createKeyring, createPublicKeySource } from '../../src/providers/keys/keyring.js';
import { ensureKeyring } from '../../src/providers/keys/keyring-file.js';
import { openBytes, sealBytes } from '../../src/providers/keys/seal-bytes.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { startVault, VAULT_TOKEN } from '../support/key-services.js';

const ROTATE = ['keys', 'rotate-encryption'];
const PLACE = { table: 't', row: 'r', column: 'c' };
let cli: CommandLine;
let files: ReturnType<typeof keyFiles>;

beforeEach(() => {
  // No database is needed, and none is there.
  cli = openCommandLine(runWithConsole('postgres://127.0.0.1:9/none'));
  files = keyFiles(cli.state);
  ensureKeyring(files);
});
afterEach(() => cli.remove());

const content = () => [files.keyring, files.publicKeys].map((file) => readFileSync(file, 'utf8'));

test('a rotation gives what runs a new key to seal with, and what was sealed before still opens', async () => {
  const [source, keyring] = [createPublicKeySource(files.publicKeys), createKeyring(files.keyring)];
  const old = { keyId: source().keyId, sealed: sealBytes(source(), Buffer.from('old'), PLACE) };
  const document = await cli.json(ROTATE);
  expect(document).toEqual({
    object: 'encryption_key',
    id: expect.stringMatching(/^local-[0-9a-f]{12}$/),
    older: [old.keyId],
    files: [files.keyring, files.publicKeys],
  });
  expect(source().keyId).toBe(document['id']);
  expect((await openBytes(keyring, old.sealed, PLACE)).toString()).toBe('old');
  expect((await openBytes(keyring, sealBytes(source(), Buffer.from('new'), PLACE), PLACE)).toString()).toBe('new');
  expect(statSync(files.keyring).mode & 0o777).toBe(0o600);
});

test('a dry run says what it would do, and writes nothing; nothing ever shows a key', async () => {
  const before = content();
  const dry = await cli.json([...ROTATE, '--dry-run']);
  expect(dry).toMatchObject({
    object: 'dry_run',
    would: expect.stringMatching(/^seal with a new key and keep one older key/),
  });
  expect(content()).toEqual(before);
  const { stdout, stderr } = await cli.run(...ROTATE);
  expect(stdout).toMatch(/Sealing with local-[0-9a-f]{12} from now on; what one older key sealed/);
  expect(stdout + stderr).not.toMatch(/PRIVATE|BEGIN/);
});

test('a keyring that is missing, open to others, or being rotated is left as it is', async () => {
  writeFileSync(`${files.keyring}.lock`, '');
  expect(await cli.problem(ROTATE, 4)).toMatchObject({ detail: expect.stringMatching(/Another rotation/) });
  rmSync(`${files.keyring}.lock`);
  chmodSync(files.keyring, 0o644);
  expect(await cli.problem(ROTATE, 4)).toMatchObject({ detail: expect.stringMatching(/chmod 600/) });
  rmSync(files.keyring);
  expect(await cli.problem(ROTATE, 4)).toMatchObject({ detail: expect.stringMatching(/cannot be read/) });
});

test('where keys lie is taken from the settings, and has to be said', async () => {
  const elsewhere = openCommandLine(null, {
    SVERKA_KEYRING_FILE: files.keyring,
    SVERKA_PUBLIC_KEYS_FILE: files.publicKeys,
  });
  expect(await elsewhere.json(ROTATE)).toMatchObject({ files: [files.keyring, files.publicKeys] });
  elsewhere.remove();
  const half = openCommandLine(null, { SVERKA_KEYRING_FILE: files.keyring });
  expect(await half.problem(ROTATE, 2)).toMatchObject({ detail: expect.stringMatching(/SVERKA_PUBLIC_KEYS_FILE/) });
  half.remove();
});

test('of keys in Vault the newest becomes current in the public file', async () => {
  const vault = await startVault();
  const there = openCommandLine(null, {
    SVERKA_PUBLIC_KEYS_FILE: files.publicKeys,
    SVERKA_VAULT_URL: vault.url,
    SVERKA_VAULT_TOKEN: VAULT_TOKEN,
    SVERKA_VAULT_KEY: 'identities',
  });
  vault.rotate();
  expect(await there.json(ROTATE)).toEqual({
    object: 'encryption_key',
    id: 'vault:identities:2',
    older: ['vault:identities:1'],
    files: [files.publicKeys],
  });
  expect(createPublicKeySource(files.publicKeys)().keyId).toBe('vault:identities:2');
  await vault.close();
  await there.problem(ROTATE, 6);
  there.remove();
});

test('doctor names a keyring that is missing or open to others, and its fix', async () => {
  const found = async (check: string) => {
    const { checks } = await cli.json(['doctor'], 1);
    return (checks as { check: string }[]).find((each) => each.check === check);
  };
  expect(await found('keyring')).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^current local-/) });
  expect(await found('public-keys')).toMatchObject({ state: 'ok' });
  chmodSync(files.keyring, 0o640);
  expect(await found('keyring')).toMatchObject({ state: 'missing', fix: expect.stringContaining('chmod 600') });
  rmSync(files.keyring);
  expect(await found('keyring')).toMatchObject({ state: 'missing', detail: 'it is missing or damaged' });
});

test('doctor says when the gateway seals with a key that the keyring does not hold', async () => {
  const kept = readFileSync(files.keyring, 'utf8');
  await cli.json(ROTATE);
  writeFileSync(files.keyring, kept);
  const { checks } = await cli.json(['doctor'], 1);
  expect(checks).toContainEqual(expect.objectContaining({ check: 'keys-agree', state: 'missing' }));
});
