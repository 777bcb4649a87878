import type { Payload } from '@temporalio/common';
import fc from 'fast-check';
import { EncryptionCodec } from '../../src/client/encryption-codec.js';
import { readPayloadKeys } from '../../src/client/payload-keys.js';
import { type PayloadKeysFile, payloadKeysFile } from '../support/payload-keys.js';

const files: PayloadKeysFile[] = [];
afterAll(() => {
  for (const file of files) file.remove();
});

function codecWith(current: string | null, ids: readonly string[]): EncryptionCodec {
  const file = payloadKeysFile(current, ids);
  files.push(file);
  return new EncryptionCodec(readPayloadKeys(file.path));
}

const K1 = codecWith('k1', ['k1']);
const IN = { type: 'workflow', namespace: 'default', workflowId: 'deposit:live:custody:d-1' } as const;

function payload(data: string, metadata: Record<string, string> = { encoding: 'json/plain' }): Payload {
  const bytes = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text)] as const);
  return { metadata: Object.fromEntries(bytes), data: Buffer.from(data) };
}

/** Bytes as text, so that two payloads can be compared whatever kind of array they have. */
function shown({ metadata, data }: Payload) {
  const texts = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, Buffer.from(bytes).toString('latin1')]);
  return { metadata: Object.fromEntries(texts), data: Buffer.from(data ?? []).toString('latin1') };
}

async function sealed(of = payload('"a secret"'), context: typeof IN | undefined = IN): Promise<Payload> {
  const [one] = await K1.encode([of], context);
  if (!one) throw new Error('Nothing came back.');
  return one;
}

test('any payload comes back as it was, of any encoding and any bytes', async () => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  const metadata = fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), bytes, {
    maxKeys: 4,
    noNullPrototype: true,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.record({ metadata, data: bytes }), { maxLength: 4 }), async (payloads) => {
      const opened = await K1.decode(await K1.encode(payloads, IN), IN);
      expect(opened.map(shown)).toEqual(payloads.map(shown));
    }),
    { numRuns: 200 },
  );
});

test('of a payload only the key id and the workflow id can be read, and no two look alike', async () => {
  const [one, other] = [await sealed(), await sealed()];
  expect(shown(one).metadata).toEqual({
    encoding: 'binary/encrypted',
    'encryption-key-id': 'k1',
    'encryption-subject': IN.workflowId,
  });
  expect(shown(one).data).not.toMatch(/secret|json/);
  expect(shown(one).data).not.toBe(shown(other).data);
});

test('a payload in clear passes, so that encryption can be switched on over what runs', async () => {
  const clear = payload('"clear"');
  expect(await K1.decode([clear], IN)).toEqual([clear]);
});

test('the newest key encrypts, and each key decrypts what it encrypted', async () => {
  const rotated = codecWith('k2', ['k1', 'k2']);
  const old = await sealed();
  const [fresh] = await rotated.encode([payload('"new"')], IN);
  expect(fresh && shown(fresh).metadata['encryption-key-id']).toBe('k2');
  const opened = await rotated.decode([old, fresh ?? old], IN);
  expect(opened.map((each) => shown(each).data)).toEqual(['"a secret"', '"new"']);
});

test('with no current key nothing is encrypted, and what was encrypted is opened', async () => {
  const decrypting = codecWith(null, ['k1']);
  const clear = payload('"clear"');
  expect(await decrypting.encode([clear], IN)).toEqual([clear]);
  expect((await decrypting.decode([await sealed()], IN)).map(shown)).toEqual([shown(payload('"a secret"'))]);
});

test.each([
  ['without keys', new EncryptionCodec(null), 'no_keys', /set SVERKA_PAYLOAD_KEYS_FILE/],
  ['without its key', codecWith('k2', ['k2']), 'unknown_key', /key k1, and [^ ]+ holds only k2: put it back/],
])('%s a payload is refused, and the error says what to do', async (_, codec, code, says) => {
  await expect(codec.decode([await sealed()], IN)).rejects.toMatchObject({
    name: 'PayloadNotOpened',
    code,
    message: expect.stringMatching(says),
  });
});

test('every changed bit of what is encrypted or stands beside it is found', async () => {
  const whole = await sealed();
  const data = Buffer.from(whole.data ?? []);
  const refused = { code: 'wrong_key_or_changed' };
  for (let at = 0; at < data.length; at += 1) {
    const changed = Buffer.from(data);
    changed[at] = (changed[at] ?? 0) ^ 1;
    await expect(K1.decode([{ ...whole, data: changed }], IN)).rejects.toMatchObject(refused);
  }
  for (const bytes of [0, 11, 27, data.length - 1]) {
    await expect(K1.decode([{ ...whole, data: data.subarray(0, bytes) }], IN)).rejects.toMatchObject(refused);
  }
  const elsewhere = { ...whole.metadata, 'encryption-subject': Buffer.from('deposit:live:custody:d-2') };
  await expect(K1.decode([{ ...whole, metadata: elsewhere }])).rejects.toMatchObject(refused);
  const { 'encryption-subject': _subject, ...without } = whole.metadata ?? {};
  await expect(K1.decode([{ ...whole, metadata: without }])).rejects.toMatchObject(refused);
});

test('another key under the same id is found', async () => {
  const file = payloadKeysFile('k1', ['k1']);
  files.push(file);
  file.writeKeys({ k1: 'another' });
  const other = new EncryptionCodec(readPayloadKeys(file.path));
  await expect(other.decode([await sealed()], IN)).rejects.toThrow(/restore the one that encrypted it/);
});

test('a payload in another workflow is refused; where nobody says which workflow it is, it opens', async () => {
  const elsewhere = { ...IN, workflowId: 'deposit:live:custody:d-2' };
  await expect(K1.decode([await sealed()], elsewhere)).rejects.toMatchObject({ code: 'moved' });
  expect(await K1.decode([await sealed()])).toHaveLength(1);
  const [unbound] = await K1.encode([payload('"from the endpoint"')]);
  expect(await K1.decode([unbound ?? payload('')], elsewhere)).toHaveLength(1);
});

test('a run of a schedule has the arguments of its schedule, and no other workflow has', async () => {
  const of = await sealed(payload('"x"'), { ...IN, workflowId: 'drift-check' } as unknown as typeof IN);
  const run = (workflowId: string) => K1.decode([of], { ...IN, workflowId });
  expect(await run('drift-check-2026-11-30T03:00:00Z')).toHaveLength(1);
  await expect(run('drift-check-2')).rejects.toMatchObject({ code: 'moved' });
  await expect(run('full-check-2026-11-30T03:00:00Z')).rejects.toMatchObject({ code: 'moved' });
});

test('an activity is bound to its workflow', async () => {
  const activity = { type: 'activity', namespace: 'default', activityId: '1', isLocal: false } as const;
  const [one] = await K1.encode([payload('"x"')], { ...activity, workflowId: 'a' });
  expect(await K1.decode([one ?? payload('')], { ...activity, activityId: '2', workflowId: 'a' })).toHaveLength(1);
  await expect(K1.decode([one ?? payload('')], { ...activity, workflowId: 'b' })).rejects.toMatchObject({
    code: 'moved',
  });
});
