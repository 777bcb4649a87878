import { createHmac, randomUUID } from 'node:crypto';
import type { RequestInput } from '../../contracts/messages.js';
import { isFreeOfCardNumbers, NO_CARD_NUMBER } from '../../contracts/values.js';
import type { Scope } from '../../db/lists.js';
import { hashParts, requestId } from '../../db/new-id.js';
import { Problem } from '../problem.js';

const KEY = /^[A-Za-z0-9._:-]{1,128}$/;

/** The Idempotency-Key of a call, without surrounding quotes; `idempotency_key_missing` when absent or malformed. */
export function readIdempotencyKey(header: string | undefined): string {
  const key = header?.trim().replace(/^"(.*)"$/, '$1');
  if (key !== undefined && KEY.test(key) && isFreeOfCardNumbers(key)) return key;
  const wrong = key !== undefined && KEY.test(key) ? NO_CARD_NUMBER : 'must be 1 to 128 of A-Z a-z 0-9 . _ : -';
  const detail = header === undefined ? 'must be present' : wrong;
  throw new Problem('idempotency_key_missing', { errors: [{ pointer: 'Idempotency-Key', detail }] });
}

/** A call as the body is understood: defaults filled, amounts in minor units, as text. */
export type Understood = { readonly [member: string]: string | null | boolean | readonly string[] | Understood };

/**
 * Everything that a key stands for: its request id, derived from book, merchant and key, and its fingerprint, under
 * the server's `secret` where the body holds personal data.
 */
export function toRequestInput(
  of: Scope,
  call: { key: string; method: string; path: string; understood: Understood; secret?: string | null },
): RequestInput {
  const { key, method, path, understood, secret } = call;
  const plain = fingerprint(method, path, understood);
  const id = requestId({ ...of, key });
  return { id, key, method, path, fingerprint: secret ? keyed(secret, plain) : plain, callId: randomUUID() };
}

/** SHA-256, hex, over method, path and the body as understood; the order of members does not matter. */
export function fingerprint(method: string, path: string, understood: Understood): string {
  return hashParts([method, path, canonical(understood)]).toString('hex');
}

/** HMAC-SHA256, hex, of a fingerprint: who has it and not the secret cannot try out what it might stand for. */
export function keyed(secret: string, plain: string): string {
  return createHmac('sha256', secret).update(plain, 'hex').digest('hex');
}

/** Throws `idempotency_key_reused` when a key has led another call somewhere already. */
export function requireSameCall(known: string | Buffer, request: RequestInput): void {
  const text = typeof known === 'string' ? known : known.toString('hex');
  if (text !== request.fingerprint) throw new Problem('idempotency_key_reused');
}

function canonical(value: Understood[string]): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isTexts(value)) return `[${value.map((item) => JSON.stringify(item)).join(',')}]`;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

function isTexts(value: object): value is readonly string[] {
  return Array.isArray(value);
}
