import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from '../problem.js';

export interface CodecAccess {
  /** What a caller has to know; at least 32 characters. */
  readonly token: string;
  /** Temporal's UI: the one page whose scripts may call, `http://127.0.0.1:8233`. */
  readonly uiOrigin: string;
}

/** How long a browser that has signed in may decode, in seconds. */
export const SESSION_SECONDS = 8 * 3_600;
const COOKIE = 'sverka_codec';

/** Refuses a call from the page of anybody else, whatever it knows. Programs send no Origin. */
export function requireOrigin(headers: Headers, { uiOrigin }: CodecAccess): void {
  const origin = headers.get('origin');
  if (origin === null || origin === uiOrigin) return;
  throw new Problem('permission', {
    detail: "Only Temporal's UI may call this from a browser. Its origin is SVERKA_CODEC_UI_ORIGIN.",
  });
}

/**
 * Who calls: a program by the token, or a browser that has signed in. Throws `authentication` without saying what was
 * wrong. A browser counts only with the UI's own Origin, so that no other page can use its session.
 */
export function requireCaller(headers: Headers, access: CodecAccess): 'token' | 'session' {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (bearer !== undefined && isToken(bearer, access)) return 'token';
  const cookies = (headers.get('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
  const session = cookies.find(([name]) => name === COOKIE)?.[1];
  const isOpen = session !== undefined && headers.get('origin') === access.uiOrigin && isSession(session, access);
  if (isOpen) return 'session';
  throw new Problem('authentication', {
    detail: 'Send the token as `Authorization: Bearer …`, or sign in with this browser.',
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** True when the text is the token; takes as long for any text. */
export function isToken(text: string, { token }: CodecAccess): boolean {
  return timingSafeEqual(digest(text), digest(token));
}

/** `Set-Cookie` of a browser that has shown the token. It does not hold the token, and ends by itself. */
export function sessionCookie(access: CodecAccess, now: number = Date.now()): string {
  const until = Math.floor(now / 1_000) + SESSION_SECONDS;
  const value = `${COOKIE}=${until}.${sign(until, access)}`;
  const secure = access.uiOrigin.startsWith('https:') ? '; Secure' : '';
  // Strict: sent from a page of the same site alone, which the UI must be (other ports of one host are).
  return `${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${SESSION_SECONDS}${secure}`;
}

function isSession(text: string, access: CodecAccess): boolean {
  const [, until = '', signature = ''] = /^([0-9]{1,12})\.([0-9a-f]{64})$/.exec(text) ?? [];
  if (!timingSafeEqual(digest(signature), digest(sign(Number(until), access)))) return false;
  return Number(until) > Date.now() / 1_000;
}

function sign(until: number, { token }: CodecAccess): string {
  return createHmac('sha256', token).update(`codec session until ${until}`).digest('hex');
}

/** Equal lengths, as a comparison in constant time needs them. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
