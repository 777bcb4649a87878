import { constants, generateKeyPairSync, type KeyObject, privateDecrypt } from 'node:crypto';
import { KeyError, type KeyProvider, type PublicKey } from '../../src/providers/keys/key-provider.js';

/** Keys of these ids, for as long as the test runs; the first one is current. */
export function memoryKeys(...ids: readonly string[]): KeyProvider & { publicKey(id: string): PublicKey } {
  const pairs = new Map<string, { publicKey: KeyObject; privateKey: KeyObject }>();
  for (const id of ids) pairs.set(id, generateKeyPairSync('rsa', { modulusLength: 2_048 }));
  const pairOf = (id: string) => {
    const pair = pairs.get(id);
    if (!pair) throw new KeyError('unknown_key', `The test has no key ${id}.`);
    return pair;
  };
  return {
    async unwrap(keyId, wrapped) {
      const key = pairOf(keyId).privateKey;
      try {
        return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, wrapped);
      } catch (error) {
        throw new KeyError('not_opened', `Key ${keyId} does not unwrap this.`, { cause: error });
      }
    },
    publicKeys: async () => ids.map((keyId) => ({ keyId, key: pairOf(keyId).publicKey })),
    publicKey: (keyId) => ({ keyId, key: pairOf(keyId).publicKey }),
    async close() {},
  };
}
