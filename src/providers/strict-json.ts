import { LosslessNumber, parse } from 'lossless-json';
import { isDecimalString } from '../domain/money.js';

export type StrictJsonRefusal = 'byte_order_mark' | 'not_utf8' | 'not_json' | 'repeated_member' | 'too_deep';
export type StrictJson =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** A member named `__proto__` stands somewhere. */
      readonly hasProto: boolean;
    }
  | { readonly ok: false; readonly reason: StrictJsonRefusal };

const DEPTH_MAX = 32;

/**
 * Reads JSON that a stranger sent. Numbers stay as written (`LosslessNumber`), never a double (CASES B11); bytes must
 * be UTF-8 without a byte order mark (B08); a member that stands twice is refused even when both say the same, for two
 * readers could take different ones; nesting is bounded. Never throws. `__proto__` becomes an own member (B10).
 */
export function readStrictJson(bytes: Uint8Array): StrictJson {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return { ok: false, reason: 'byte_order_mark' };
  const text = decodeUtf8(bytes);
  if (text === null) return { ok: false, reason: 'not_utf8' };
  const scan = scanStructure(text);
  if (typeof scan === 'string') return { ok: false, reason: scan };
  try {
    return { ok: true, value: parse(text), hasProto: scan.hasProto };
  } catch {
    return { ok: false, reason: 'not_json' };
  }
}

/** The digits of a JSON number that is whole, not negative, without exponent and at most `max`; else null. */
export function wholeNumberOf(value: unknown, max: number): number | null {
  if (!(value instanceof LosslessNumber) || !/^(0|[1-9][0-9]{0,14})$/.test(value.value)) return null;
  const number = Number(value.value);
  return number <= max ? number : null;
}

/**
 * A decimal that is not negative, as a string of the grammar or as a JSON number, in plain digits: `25.00` stays as it
 * is, and the number `1e-7` is `0.0000001`. Null for anything else, and for what takes more than 60 characters.
 */
export function plainDecimalOf(value: unknown): string | null {
  const text = value instanceof LosslessNumber ? withoutExponent(value.value) : value;
  return isDecimalString(text) ? text : null;
}

/** True for text of 1 to `max` characters without control characters and lone surrogates: PostgreSQL can keep it. */
export function isPlainText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= max && !/[\p{Cc}\p{Cs}]/u.test(value);
}

/** True for an id that may stand in a path, a key and a workflow id: visible ASCII, at most 128, not a dot segment. */
export function isProviderId(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,128}$/.test(value) && !/^\.+$/.test(value);
}

function withoutExponent(number: string): string {
  const [, whole = '', fraction = '', exponent] = /^([0-9]+)(?:\.([0-9]+))?[eE]([+-]?[0-9]{1,3})$/.exec(number) ?? [];
  if (exponent === undefined) return number;
  const point = whole.length + Number(exponent);
  const digits = whole + fraction;
  const before =
    point > 0
      ? digits
          .slice(0, point)
          .padEnd(point, '0')
          .replace(/^0+(?=[0-9])/, '')
      : '0';
  const after = point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits;
  return after === '' ? before : `${before}.${after}`;
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

// The parser is recursive and forgives a repeated member with an equal value, so both are looked at before it runs.
// Character by character: of the regular expressions that find a string, each is quadratic for some text.
function scanStructure(text: string): StrictJsonRefusal | { hasProto: boolean } {
  const open: (Set<string> | null)[] = [];
  let hasProto = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : null);
      if (open.length > DEPTH_MAX) return 'too_deep';
    } else if (character === '}' || character === ']') {
      open.pop();
    } else if (character === '"') {
      const end = endOfString(text, at);
      if (isMemberName(text, end)) {
        const member = memberName(text.slice(at, end + 1));
        if (member === null) return 'not_json';
        if (member === '__proto__') hasProto = true;
        const known = open.at(-1);
        if (known?.has(member)) return 'repeated_member';
        known?.add(member);
      }
      at = end;
    }
  }
  return { hasProto };
}

/** Where the string that begins there has its closing quote; the end of the text where it has none. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** A colon comes after the string that ends there. */
function isMemberName(text: string, end: number): boolean {
  let at = end + 1;
  while (' \t\n\r'.includes(text[at] ?? 'x')) at += 1;
  return text[at] === ':';
}

// Escapes are undone, so that "\u0061" and "a" are one name.
function memberName(quoted: string): string | null {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    const name: unknown = JSON.parse(quoted);
    return typeof name === 'string' ? name : null;
  } catch {
    return null;
  }
}
