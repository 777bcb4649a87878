import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPayloadKeys } from '../../src/client/payload-keys.js';
import { keyOf } from '../support/payload-keys.js';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-keys-'));
  file = join(folder, 'keys.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const K1 = keyOf('k1');

function read(content: unknown, mode = 0o600) {
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(file, mode);
  return () => readPayloadKeys(file);
}

test('keys are read by id, and the current one is named', () => {
  const { current, keys } = read({ current: 'k2', keys: { k1: K1, k2: keyOf('k2') } })();
  expect(current).toBe('k2');
  expect([...keys].map(([id, key]) => [id, Buffer.from(key).toString('base64')])).toEqual([
    ['k1', K1],
    ['k2', keyOf('k2')],
  ]);
  expect(read({ current: null, keys: { k1: K1 } })().current).toBeNull();
});

test.each([
  ['too short a key', { current: 'k1', keys: { k1: Buffer.alloc(31).toString('base64') } }, /key k1 is not 32 bytes/],
  ['too long a key', { current: 'k1', keys: { k1: Buffer.alloc(33).toString('base64') } }, /key k1 is not 32 bytes/],
  ['a key that is not quite base64', { current: 'k1', keys: { k1: `${K1}\n` } }, /key k1 is not 32 bytes in base64/],
  ['a key that is a number', { current: 'k1', keys: { k1: 7 } }, /openssl rand -base64 32/],
  ['no key', { current: 'k1', keys: {} }, /it has no key/],
  ['a current key that is not there', { current: 'k2', keys: { k1: K1 } }, /current names none of the keys/],
  ['no current key', { keys: { k1: K1 } }, /current names none of the keys: name one, or null/],
  ['a current key from elsewhere', { current: 'toString', keys: { k1: K1 } }, /current names none/],
  ['an id that does not fit', { current: 'k 1', keys: { 'k 1': K1 } }, /the id of key 1 is not/],
  ['another member', { current: 'k1', keys: { k1: K1 }, old: {} }, /1 more: remove them/],
  ['a list', [], /it has not the form/],
  ['another text', 'k1=abc', /it is not JSON/],
])('%s is refused, and the error says what to do', (_, content, says) => {
  expect(read(content)).toThrow(says);
  expect(read(content)).toThrow(file);
});

test('one error names everything that is wrong, and quotes no key', () => {
  const short = Buffer.alloc(8, 'secret').toString('base64');
  const load = read({ current: 'k9', keys: { k1: short, k2: K1 } });
  expect(load).toThrow(/key k1 is not 32 bytes[^]*current names none/);
  expect(load).not.toThrow(new RegExp(`${short}|${K1.replaceAll('+', '\\+')}`));
});

test.each([0o644, 0o604, 0o602, 0o660, 0o620, 0o601])('a file of mode %o is refused: others may use it', (mode) => {
  expect(read({ current: 'k1', keys: { k1: K1 } }, mode)).toThrow(/others may use it \(mode [0-7]{3}\): chmod 600/);
});

test.each([0o600, 0o400, 0o440, 0o640])(
  'a file of mode %o is taken: a secret of a container is its group’s to read',
  (mode) => {
    expect(read({ current: 'k1', keys: { k1: K1 } }, mode)().current).toBe('k1');
  },
);

test('a file that is not there is named with what to do', () => {
  expect(() => readPayloadKeys(join(folder, 'none.json'))).toThrow(/none\.json cannot be used[^]*ENOENT\): make it/);
});
