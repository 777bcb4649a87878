import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ensureKeyring } from '../../src/providers/keys/keyring-file.js';
import type { BenchServers } from './servers.js';

/** Files of a keyring of the benchmarks' own, and the key of fingerprints. */
export interface BenchKeys {
  readonly keyring: string;
  readonly publicKeys: string;
  readonly fingerprint: string;
}

/** Keys of the product's own size, so that opening an identity costs what it costs in life. */
export function makeKeys({ folder }: BenchServers): BenchKeys {
  const places = { keyring: join(folder, 'keyring.json'), publicKeys: join(folder, 'public.json') };
  ensureKeyring(places);
  return { ...places, fingerprint: randomBytes(32).toString('base64url') };
}
