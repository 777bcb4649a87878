import { createDataKey, openDataKey, type Place } from './data-key.js';
import { KeyError, type KeyProvider, type PublicKey } from './key-provider.js';

/** First byte of a value that carries its own data key. */
const VERSION = 1;
const HEAD_BYTES = 4;

/**
 * Seals one value under a data key of its own, for exactly this place. What comes out stands alone (for one `bytea`
 * column): version, lengths, key id, wrapped data key, sealed value; about 420 bytes more than the value.
 */
export function sealBytes(publicKey: PublicKey, plaintext: Uint8Array, place: Place): Buffer {
  const { wrapped, seal } = createDataKey(publicKey);
  const keyId = Buffer.from(wrapped.keyId, 'utf8');
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt8(VERSION, 0);
  head.writeUInt8(keyId.length, 1);
  head.writeUInt16BE(wrapped.wrapped.length, 2);
  return Buffer.concat([head, keyId, wrapped.wrapped, seal(plaintext, place)]);
}

/** Opens what `sealBytes` made for that place. Throws `KeyError`, `not_opened` for anything else. */
export async function openBytes(keys: Pick<KeyProvider, 'unwrap'>, sealed: Uint8Array, place: Place): Promise<Buffer> {
  const { keyId, wrapped, value } = partsOf(Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength));
  const { open } = await openDataKey(keys, { keyId, wrapped });
  return open(value, place);
}

function partsOf(bytes: Buffer): { keyId: string; wrapped: Buffer; value: Buffer } {
  if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) throw notSealed();
  const keyAt = HEAD_BYTES + bytes.readUInt8(1);
  const valueAt = keyAt + bytes.readUInt16BE(2);
  if (bytes.length < valueAt) throw notSealed();
  return {
    keyId: bytes.toString('utf8', HEAD_BYTES, keyAt),
    wrapped: bytes.subarray(keyAt, valueAt),
    value: bytes.subarray(valueAt),
  };
}

function notSealed(): KeyError {
  return new KeyError('not_opened', 'These bytes are no sealed value, or only a part of one.');
}
