import { createAwsKms } from '../../src/providers/keys/aws-kms.js';
import { createKeyProvider } from '../../src/providers/keys/create-key-provider.js';
import type { KeyProvider } from '../../src/providers/keys/key-provider.js';
import { openBytes, sealBytes } from '../../src/providers/keys/seal-bytes.js';
import { createVaultTransit } from '../../src/providers/keys/vault-transit.js';
import { type KeyService, startKms, startVault, VAULT_TOKEN } from '../support/key-services.js';

const PLACE = { table: 't', row: 'r', column: 'c' };
const TEXT = Buffer.from('a name that nobody may read');
const ENVIRONMENT = { AWS_ACCESS_KEY_ID: 'test-key', AWS_SECRET_ACCESS_KEY: 'test-secret', AWS_REGION: 'eu-central-1' };

let service: KeyService;
let keys: KeyProvider;
const before = { ...process.env };

beforeAll(() => void Object.assign(process.env, ENVIRONMENT));
afterAll(() => {
  for (const name of Object.keys(ENVIRONMENT)) {
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
  }
});
afterEach(async () => {
  await keys.close();
  await service.close();
});

async function sealedByNewest(): Promise<Buffer> {
  const [newest] = await keys.publicKeys();
  if (!newest) throw new Error('The service names no key.');
  return sealBytes(newest, TEXT, PLACE);
}

describe('Vault Transit', () => {
  const vault = (token = VAULT_TOKEN) =>
    createVaultTransit({ url: `${service.url}/`, token, mount: 'transit', key: 'identities', timeoutMs: 2_000 });
  beforeEach(async () => {
    service = await startVault();
    keys = vault();
  });

  test('opens what its public key sealed, and is sent nothing but the wrapped key', async () => {
    expect(await openBytes(keys, await sealedByNewest(), PLACE)).toEqual(TEXT);
    expect(service.asked).toEqual(['GET /v1/transit/keys/identities', 'POST /v1/transit/decrypt/identities']);
  });

  test('after a rotation seals with the newest version, and opens the older one', async () => {
    const old = await sealedByNewest();
    service.rotate();
    expect((await keys.publicKeys()).map(({ keyId }) => keyId)).toEqual(['vault:identities:2', 'vault:identities:1']);
    expect(await openBytes(keys, await sealedByNewest(), PLACE)).toEqual(TEXT);
    expect(await openBytes(keys, old, PLACE)).toEqual(TEXT);
  });

  test.each([
    [503, 'unavailable'],
    [403, 'refused'],
    [404, 'unknown_key'],
    [400, 'not_opened'],
    [307, 'unavailable'],
  ])('that answers %d is %s, in words that hold neither token nor answer', async (status, kind) => {
    const sealed = await sealedByNewest();
    service.failNext(status, { errors: ['words of the service'] });
    const error: unknown = await openBytes(keys, sealed, PLACE).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'KeyError', kind });
    expect(String(error)).not.toMatch(/token|words of the service/);
  });

  test('that answers something else, or not at all, is unavailable', async () => {
    const sealed = await sealedByNewest();
    service.failNext(200, { data: {} });
    await expect(openBytes(keys, sealed, PLACE)).rejects.toMatchObject({ kind: 'unavailable' });
    const gone = createVaultTransit({
      url: 'http://127.0.0.1:9',
      token: 't',
      mount: 'm',
      key: 'identities',
      timeoutMs: 500,
    });
    await expect(openBytes(gone, sealed, PLACE)).rejects.toMatchObject({ kind: 'unavailable' });
    await gone.close();
  });

  test('is not asked for a key of another name', async () => {
    await expect(keys.unwrap('vault:others:1', Buffer.alloc(256))).rejects.toMatchObject({ kind: 'unknown_key' });
    expect(service.asked).toEqual([]);
  });
});

describe('AWS KMS', () => {
  beforeEach(async () => {
    service = await startKms();
    keys = createAwsKms({ keys: ['key-1'], endpoint: service.url, timeoutMs: 2_000 });
  });

  test('opens what its public key sealed, by signed calls', async () => {
    expect(await openBytes(keys, await sealedByNewest(), PLACE)).toEqual(TEXT);
    expect(service.asked).toEqual(['POST TrentService.GetPublicKey', 'POST TrentService.Decrypt']);
  });

  test('with a new key first seals with that one, and opens the older one', async () => {
    const old = await sealedByNewest();
    await keys.close();
    service.rotate();
    keys = createAwsKms({ keys: ['key-2', 'key-1'], endpoint: service.url, timeoutMs: 2_000 });
    expect((await keys.publicKeys()).map(({ keyId }) => keyId)).toEqual(['aws-kms:key-2', 'aws-kms:key-1']);
    expect(await openBytes(keys, await sealedByNewest(), PLACE)).toEqual(TEXT);
    expect(await openBytes(keys, old, PLACE)).toEqual(TEXT);
  });

  test.each([
    ['InvalidCiphertextException', 400, 'not_opened'],
    ['AccessDeniedException', 400, 'refused'],
    ['NotFoundException', 400, 'unknown_key'],
    ['KMSInternalException', 500, 'unavailable'],
    ['ThrottlingException', 400, 'unavailable'],
  ])('that answers %s (%d) is %s, once, in words that hold no account', async (type, status, kind) => {
    const sealed = await sealedByNewest();
    service.failNext(status, { __type: type, message: 'User: arn:aws:iam::123456789012:user/x' });
    const error: unknown = await openBytes(keys, sealed, PLACE).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'KeyError', kind });
    expect(String(error)).not.toContain('123456789012');
    expect(service.asked).toHaveLength(2);
  });

  test('is not asked for a key that is not configured', async () => {
    await expect(keys.unwrap('aws-kms:key-9', Buffer.alloc(256))).rejects.toMatchObject({ kind: 'unknown_key' });
    expect(service.asked).toEqual([]);
  });
});

test('several keepers are one: the id of a key says whose it is', async () => {
  service = await startVault();
  const kms = await startKms();
  const vault = { url: service.url, token: VAULT_TOKEN, mount: 'transit', key: 'identities' };
  const awsKms = { keys: ['key-1'], endpoint: kms.url };
  keys = createKeyProvider({ keyringFile: undefined, awsKms, vault, timeoutMs: 2_000 });
  const all = await keys.publicKeys();
  expect(all.map(({ keyId }) => keyId)).toEqual(['vault:identities:1', 'aws-kms:key-1']);
  for (const key of all) expect(await openBytes(keys, sealBytes(key, TEXT, PLACE), PLACE)).toEqual(TEXT);
  await expect(keys.unwrap('local-1', Buffer.alloc(256))).rejects.toThrow(/is not configured/);
  await kms.close();
});
