import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from './process-info.js';

/** Where the local run keeps what seals identities. Absolute paths. */
export interface KeyFiles {
  readonly keyring: string;
  readonly publicKeys: string;
}

/** 43 characters. */
const SECRET_BYTES = 32;
/** Any of them says that a person has arranged for keys; then nothing is made here. */
const ARRANGED = ['SVERKA_PUBLIC_KEYS_FILE', 'SVERKA_KEYRING_FILE', 'SVERKA_AWS_KMS_KEYS', 'SVERKA_VAULT_URL'];

/** The files of a state folder, whether they are there or not. */
export function keyFiles(state: string): KeyFiles {
  const folder = join(state, 'keys');
  return { keyring: join(folder, 'keyring.json'), publicKeys: join(folder, 'public.json') };
}

/** True when the environment says where keys are: what it leaves out is then its own affair. */
export function hasArrangedKeys(env: NodeJS.ProcessEnv): boolean {
  return ARRANGED.some((name) => env[name]);
}

/** The secret under which fingerprints are kept: made once, for it may never change. */
export function ensureFingerprintKey(state: string): string {
  const file = join(state, 'keys', 'fingerprint');
  mkdirSync(join(state, 'keys'), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(file, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
  return readFileSync(file, 'utf8').trim();
}
