import { constants, generateKeyPairSync, privateDecrypt } from 'node:crypto';
import { createDataKey, openDataKey } from '../../src/providers/keys/data-key.js';
import { KeyError } from '../../src/providers/keys/key-provider.js';
import { openBytes, sealBytes } from '../../src/providers/keys/seal-bytes.js';
import { memoryKeys } from '../support/memory-keys.js';

const PLACE = { table: 'sverka.inbox', row: 'inb_1', column: 'body' };
const TEXT = Buffer.from('Анна Köhler 1990-02-28', 'utf8');
const keys = memoryKeys('k-1', 'k-2');
const first = keys.publicKey('k-1');

/** The kind of the error, or `opened`. */
async function kindOf(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => 'opened',
    (error: unknown) => (error instanceof KeyError ? error.kind : String(error)),
  );
}

describe('a sealed value', () => {
  test('opens at its place, and shows nothing of its text', async () => {
    const sealed = sealBytes(first, TEXT, PLACE);
    expect(await openBytes(keys, sealed, PLACE)).toEqual(TEXT);
    for (const part of ['Анна', 'Köhler', '1990']) expect(sealed.includes(Buffer.from(part))).toBe(false);
  });

  test('may be empty, and may stand in a part of a larger buffer', async () => {
    expect(await openBytes(keys, sealBytes(first, Buffer.alloc(0), PLACE), PLACE)).toHaveLength(0);
    const sealed = sealBytes(first, TEXT, PLACE);
    const part = new Uint8Array(Buffer.concat([Buffer.alloc(7), sealed])).subarray(7);
    expect(await openBytes(keys, part, PLACE)).toEqual(TEXT);
  });

  test('is another each time, for the data key and the nonce are fresh', () => {
    expect(sealBytes(first, TEXT, PLACE).equals(sealBytes(first, TEXT, PLACE))).toBe(false);
  });

  test.each([
    ['table', { ...PLACE, table: 'sverka.other' }],
    ['row', { ...PLACE, row: 'inb_2' }],
    ['column', { ...PLACE, column: 'other' }],
    ['borders between the three', { table: 'sverka.inboxinb_', row: '1', column: 'body' }],
  ])('does not open with another %s', async (_what, place) => {
    const sealed = sealBytes(first, TEXT, PLACE);
    expect(await kindOf(openBytes(keys, sealed, place))).toBe('not_opened');
    expect(await kindOf(openBytes(keys, sealed, PLACE))).toBe('opened');
  });

  test('does not open when the id of its key was changed to another that unwraps it', async () => {
    const sealed = sealBytes(first, TEXT, PLACE);
    const renamed = Buffer.from(sealed);
    renamed.write('k-9', 4);
    const twin = { unwrap: (_id: string, wrapped: Uint8Array) => keys.unwrap('k-1', wrapped) };
    expect(await kindOf(openBytes(twin, renamed, PLACE))).toBe('not_opened');
    expect(await kindOf(openBytes(twin, sealed, PLACE))).toBe('opened');
  });

  test('does not open when any one of its bytes was changed or is missing', async () => {
    const sealed = sealBytes(first, Buffer.from('x'), PLACE);
    const kinds = new Set<string>();
    for (let at = 0; at < sealed.length; at += 1) {
      const damaged = Buffer.from(sealed);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      kinds.add(await kindOf(openBytes(keys, damaged, PLACE)));
    }
    for (const length of [0, 3, 4, 100, sealed.length - 1]) {
      kinds.add(await kindOf(openBytes(keys, sealed.subarray(0, length), PLACE)));
    }
    expect([...kinds].sort()).toEqual(['not_opened', 'unknown_key']);
  });

  test('does not open with another private key', async () => {
    const sealed = sealBytes(first, TEXT, PLACE);
    const other = { unwrap: (_id: string, wrapped: Uint8Array) => keys.unwrap('k-2', wrapped) };
    expect(await kindOf(openBytes(other, sealed, PLACE))).toBe('not_opened');
  });

  test('cannot be opened with what sealed it', async () => {
    const sealed = sealBytes(first, TEXT, PLACE);
    const padding = { padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' };
    const sealer = {
      unwrap: async (_id: string, wrapped: Uint8Array) => privateDecrypt({ ...first, ...padding }, wrapped),
    };
    await expect(openBytes(sealer, sealed, PLACE)).rejects.toThrow(/private/i);
  });
});

describe('a data key', () => {
  test('seals several columns of a row, and one of them does not stand for another', async () => {
    const { wrapped, seal } = createDataKey(first);
    const at = (column: string) => ({ table: 't', row: 'r', column });
    const [one, two] = [seal(Buffer.from('1'), at('one')), seal(Buffer.from('2'), at('two'))];
    const { open } = await openDataKey(keys, wrapped);
    expect([open(one, at('one')).toString(), open(two, at('two')).toString()]).toEqual(['1', '2']);
    expect(() => open(one, at('two'))).toThrow(/damaged, or was sealed for another place/);
  });

  test('of another length than ours is refused', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    expect(privateKey.type).toBe('private');
    const wrapped = createDataKey({ keyId: 'x', key: publicKey }).wrapped;
    expect(await kindOf(openDataKey({ unwrap: async () => Buffer.alloc(16) }, wrapped))).toBe('not_opened');
  });

  test('says in its errors where it stands, and nothing of what it holds', async () => {
    const sealed = sealBytes(first, TEXT, PLACE);
    const error = await openBytes(keys, sealed, { ...PLACE, row: 'inb_2' }).catch((thrown: unknown) => thrown);
    expect(String(error)).toContain('inb_2');
    expect(String(error)).not.toMatch(/Анна|Köhler|1990/);
  });
});
