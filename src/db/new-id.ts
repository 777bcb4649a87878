import { createHash, randomBytes } from 'node:crypto';
import { decodeId, encodeId, type IdKind } from '../contracts/ids.js';

/** A new public id: the prefix and a UUIDv7, so that ids made later sort later (roughly: never rely on it). */
export function newId(kind: IdKind): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return encodeId(kind, bytes);
}

/** SHA-256 over length-prefixed parts, so that joined parts can never collide (CASES A11). */
export function hashParts(parts: readonly string[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) {
    const bytes = Buffer.from(part, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hash.update(length).update(bytes);
  }
  return hash.digest();
}

/** `req_` of (book, merchant, Idempotency-Key): derived, so that it answers even before a row exists (API.md 1). */
export function requestId(input: { book: string; merchantId: string; key: string }): string {
  return encodeId('request', hashParts([input.book, input.merchantId, input.key]));
}

/** `mov_` of an operation key. */
export function movementId(operationKey: Uint8Array): string {
  return encodeId('movement', operationKey);
}

/** The operation keys that a movement's public id can stand for, from and to: it is their first half. */
export function operationKeysOf(id: string): [Buffer, Buffer] {
  const half = decodeId(id);
  return [Buffer.concat([half, Buffer.alloc(16)]), Buffer.concat([half, Buffer.alloc(16, 0xff)])];
}

/** `wal_` of book and owner: a wallet has no row of its own, so its id is derived. */
export function walletId(book: string, ownerId: string): string {
  return encodeId('wallet', hashParts(['wallet', book, ownerId]));
}
