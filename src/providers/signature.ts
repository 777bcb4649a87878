import { createHmac, timingSafeEqual } from 'node:crypto';

/** A secret shorter than this is never used, whatever the configuration let through (CASES B06). */
export const SECRET_CHARACTERS_MIN = 32;

/** More signatures than this in one header is no rotation but an attack on our time. */
const CANDIDATES_MAX = 8;
const HEX_SHA256 = /^[0-9a-f]{64}$/i;
const BASE64_SHA256 = /^[A-Za-z0-9+/]{43}=$/;

export type SignatureEncoding = 'hex' | 'base64';

/** HMAC-SHA256 over the parts as one message. */
export function hmacSha256(secret: string, parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/**
 * True when one of the candidates is the HMAC-SHA256 of the parts under one of the secrets (two during a rotation).
 * Compares in constant time and compares all of them; text of any odd shape or length is simply no match.
 */
export function matchesAnySignature(input: {
  readonly candidates: readonly string[];
  readonly encoding: SignatureEncoding;
  readonly secrets: readonly string[];
  readonly parts: readonly (string | Uint8Array)[];
}): boolean {
  if (input.candidates.length > CANDIDATES_MAX) return false;
  const shape = input.encoding === 'hex' ? HEX_SHA256 : BASE64_SHA256;
  const given = input.candidates.filter((text) => shape.test(text)).map((text) => Buffer.from(text, input.encoding));
  let matched = 0;
  for (const secret of input.secrets) {
    if (secret.length < SECRET_CHARACTERS_MIN) continue;
    const wanted = hmacSha256(secret, input.parts);
    for (const candidate of given) matched |= Number(timingSafeEqual(wanted, candidate));
  }
  return matched === 1;
}

export interface TimedSignature {
  /** Exactly the characters of `t`, for they were signed. */
  readonly timestamp: string;
  readonly seconds: number;
  readonly candidates: readonly string[];
}

/**
 * Reads `t=<unix seconds>,v1=<hex>[,v1=<hex>]`. Unknown schemes (`v0`) are skipped.
 * Returns null for anything else: no or two `t`, another number grammar (`1e3`, `NaN`), no `v1`, an over-long header.
 */
export function readTimedSignature(header: string): TimedSignature | null {
  if (header.length > 2_048) return null;
  const pairs = header.split(',').map((part) => splitPair(part.trim()));
  const times = pairs.filter(([scheme]) => scheme === 't').map(([, value]) => value);
  const candidates = pairs.filter(([scheme]) => scheme === 'v1').map(([, value]) => value);
  const timestamp = times[0] ?? '';
  if (times.length !== 1 || !/^[0-9]{1,12}$/.test(timestamp) || candidates.length === 0) return null;
  return { timestamp, seconds: Number(timestamp), candidates };
}

/** True when the signing time is within the tolerance of now, both ways. `now` is the moment of receipt. */
export function isFresh(input: { seconds: number; nowMs: number; toleranceSeconds: number }): boolean {
  return Math.abs(Math.floor(input.nowMs / 1_000) - input.seconds) <= input.toleranceSeconds;
}

function splitPair(part: string): readonly [string, string] {
  const at = part.indexOf('=');
  return at < 0 ? [part, ''] : [part.slice(0, at), part.slice(at + 1)];
}
