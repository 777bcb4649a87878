import { constants, createPrivateKey, createPublicKey, type KeyObject, privateDecrypt } from 'node:crypto';
import { followFile } from './follow-file.js';
import { KeyError, type KeyProvider, type PublicKey, type PublicKeySource } from './key-provider.js';
import { readKeyring, readPublicKeys } from './keyring-file.js';

/** The default: private keys in a file of this machine. It is read when first asked, and again when it was replaced. */
export function createKeyring(file: string): KeyProvider {
  const current = followFile(file, (path) => {
    const keyring = readKeyring(path);
    return {
      keyring,
      keys: new Map<string, KeyObject>(keyring.keys.map(({ id, privateKey }) => [id, createPrivateKey(privateKey)])),
    };
  });
  return {
    async unwrap(keyId, wrapped) {
      const key = current().keys.get(keyId);
      if (!key) throw new KeyError('unknown_key', `${file} does not hold key ${keyId}: add it from the copy of it.`);
      try {
        return privateDecrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, wrapped);
      } catch (error) {
        throw new KeyError('not_opened', `Key ${keyId} does not unwrap this: it was damaged.`, { cause: error });
      }
    },
    async publicKeys() {
      const { keyring, keys } = current();
      const all = [...keys].map(([keyId, key]) => ({ keyId, key: createPublicKey(key) }));
      return all.sort((a, b) => Number(b.keyId === keyring.current) - Number(a.keyId === keyring.current));
    },
    async close() {},
  };
}

/** The key to seal with, from a file of public keys; read again when it was replaced. */
export function createPublicKeySource(file: string): PublicKeySource {
  return followFile(file, (path): PublicKey => {
    const { current, keys } = readPublicKeys(path);
    const found = keys.find(({ id }) => id === current);
    if (!found) throw new KeyError('unreadable', `${path} does not hold its current key.`);
    try {
      return { keyId: found.id, key: createPublicKey(found.publicKey) };
    } catch (error) {
      throw new KeyError('unreadable', `${path} holds no usable public key ${current}.`, { cause: error });
    }
  });
}
