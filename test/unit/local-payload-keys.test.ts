import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPayloadKeys } from '../../src/client/payload-keys.js';
import { ensurePayloadKeys, localPayloadKeys, rotatePayloadKeys } from '../../src/local/payload-keys.js';

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'sverka-keys-'));
});
afterEach(() => rmSync(state, { recursive: true }));

const start = (encrypt: boolean, env: NodeJS.ProcessEnv = {}) => localPayloadKeys({ env, state, encrypt });
const file = () => join(state, 'payload-keys.json');

test('a run that was not asked to encrypt has no keys', () => {
  expect(start(false)).toEqual({ file: null, encrypts: false });
});

test('one that was asked makes a key, for its user alone, and keeps it', () => {
  expect(start(true)).toEqual({ file: file(), encrypts: true });
  const made = readFileSync(file(), 'utf8');
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(readPayloadKeys(file()).current).toBe('k1');
  start(true);
  expect(readFileSync(file(), 'utf8')).toBe(made);
});

test('a later run without the flag decrypts only, and one with it encrypts again with the same key', () => {
  start(true);
  const key = () => Buffer.from(readPayloadKeys(file()).keys.get('k1') ?? []).toString('hex');
  const first = key();
  expect(start(false)).toEqual({ file: file(), encrypts: false });
  expect([readPayloadKeys(file()).current, key()]).toEqual([null, first]);
  start(true);
  expect([readPayloadKeys(file()).current, key()]).toEqual(['k1', first]);
});

test('a file that the environment names is made where it is missing, and never changed', () => {
  const named = join(state, 'elsewhere', 'keys.json');
  const env = { SVERKA_PAYLOAD_KEYS_FILE: named };
  expect(start(false, env)).toEqual({ file: named, encrypts: true });
  rotatePayloadKeys(named, 'add');
  const content = readFileSync(named, 'utf8');
  start(true, env);
  expect(readFileSync(named, 'utf8')).toBe(content);
});

test('a rotation has two halves: the new key is everywhere before it encrypts', () => {
  expect([ensurePayloadKeys(file()), ensurePayloadKeys(file())]).toEqual([true, false]);
  expect(rotatePayloadKeys(file(), 'add')).toBe('k2');
  expect(readPayloadKeys(file())).toMatchObject({ current: 'k1' });
  expect(rotatePayloadKeys(file(), 'use')).toBe('k2');
  const { current, keys } = readPayloadKeys(file());
  expect([current, [...keys.keys()]]).toEqual(['k2', ['k1', 'k2']]);
  expect(keys.get('k1')).not.toEqual(keys.get('k2'));
  expect(statSync(file()).mode & 0o777).toBe(0o600);
});
