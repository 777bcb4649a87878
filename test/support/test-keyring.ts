import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyProvider, PublicKeySource } from '../../src/providers/keys/key-provider.js';
import { createKeyring } from '../../src/providers/keys/keyring.js';

export interface TestKeyring {
  /** For processes of a test: `SVERKA_KEYRING_FILE`. */
  readonly file: string;
  readonly keys: KeyProvider;
  /** What a gateway seals with. */
  readonly publicKey: PublicKeySource;
}

let made: TestKeyring | null = null;

/** A keyring of this test file's own, with one key; a short one, for it guards nothing and is quick to make. */
export function testKeyring(): TestKeyring {
  if (made) return made;
  const file = join(mkdtempSync(join(tmpdir(), 'sverka-keyring-')), 'keyring.json');
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const key = { id: 'test-1', createdAt: new Date().toISOString(), privateKey };
  writeFileSync(file, JSON.stringify({ version: 1, current: key.id, keys: [key] }), { mode: 0o600 });
  made = { file, keys: createKeyring(file), publicKey: () => ({ keyId: key.id, key: pair.publicKey }) };
  return made;
}
