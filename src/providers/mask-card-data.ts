import { maskCardNumbers } from '../domain/card-numbers.js';

/**
 * What of a notification may be stored: its bytes without card numbers and security codes, and without whatever else
 * `mask` leaves out. Nothing is ever taken from a stored body, so masking can spoil no fact; its hash is over the
 * original bytes.
 */
export function maskCardData(rawBody: Buffer, mask: (text: string) => string = maskCardNumbers): Buffer {
  // Latin-1 keeps every byte as it is; JSON may also write a digit as an escape.
  const text = rawBody.toString('latin1');
  const plain = text.replace(/\\u003([0-9])/gi, '$1');
  const masked = mask(plain);
  return masked === plain ? rawBody : Buffer.from(masked, 'latin1');
}
