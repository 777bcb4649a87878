import { constants, createCipheriv, createDecipheriv, publicEncrypt, randomBytes } from 'node:crypto';
import { KeyError, type KeyProvider, type PublicKey } from './key-provider.js';

/** Where a ciphertext stands. It is part of what is authenticated: copied to another place, it does not open. */
export interface Place {
  readonly table: string;
  readonly row: string;
  readonly column: string;
}

/** A data key as the database keeps it: only the holder of the private key of that id unwraps it. */
export interface WrappedKey {
  readonly keyId: string;
  readonly wrapped: Uint8Array;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** First byte of every ciphertext; another scheme takes another number. */
const VERSION = 1;

/**
 * A fresh data key, already wrapped to the public key, and what seals with it. Whoever made it can seal until he
 * forgets it, and never open what he finds stored. A sealed value is version, nonce, tag, ciphertext.
 */
export function createDataKey({ keyId, key }: PublicKey): {
  readonly wrapped: WrappedKey;
  seal(plaintext: Uint8Array, place: Place): Buffer;
} {
  const dataKey = randomBytes(KEY_BYTES);
  const wrapped = publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, dataKey);
  return {
    wrapped: { keyId, wrapped },
    seal(plaintext, place) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, dataKey, nonce).setAAD(bound(keyId, place));
      const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), ciphertext]);
    },
  };
}

/** Unwraps a data key, for as long as the caller keeps what opens with it. Throws `KeyError`. */
export async function openDataKey(
  keys: Pick<KeyProvider, 'unwrap'>,
  { keyId, wrapped }: WrappedKey,
): Promise<{ open(sealed: Uint8Array, place: Place): Buffer }> {
  const dataKey = await keys.unwrap(keyId, wrapped);
  if (dataKey.length !== KEY_BYTES) throw new KeyError('not_opened', `What ${keyId} unwrapped is no data key of ours.`);
  return {
    open(sealed, place) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
      const at = { nonce: 1, tag: 1 + NONCE_BYTES, text: 1 + NONCE_BYTES + TAG_BYTES };
      if (bytes.length < at.text || bytes[0] !== VERSION) throw unopened(place);
      const nonce = bytes.subarray(at.nonce, at.tag);
      const decipher = createDecipheriv(CIPHER, dataKey, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(bound(keyId, place)).setAuthTag(bytes.subarray(at.tag, at.text));
      const text = decipher.update(bytes.subarray(at.text));
      try {
        return Buffer.concat([text, decipher.final()]);
      } catch (error) {
        throw unopened(place, error);
      }
    },
  };
}

function unopened({ table, row, column }: Place, cause?: unknown): KeyError {
  const what = `The sealed ${column} of ${table} ${row} does not open: it is damaged, or was sealed for another place.`;
  return new KeyError('not_opened', what, { cause });
}

/** Length-prefixed, so that no two places read alike. */
function bound(keyId: string, { table, row, column }: Place): Buffer {
  const parts = ['sverka', keyId, table, row, column].map((part) => Buffer.from(part, 'utf8'));
  return Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(part.length);
      return [length, part];
    }),
  );
}
