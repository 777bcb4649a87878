import { timingSafeEqual } from 'node:crypto';
import { readBytes } from '../gateway/body.js';
import { Problem } from '../problem.js';
import { PageError } from './page-error.js';

/** What a form sent. */
export interface Form {
  /** The text of a field, trimmed; '' where there is none. */
  text(name: string): string;
  /** All texts of a field that may stand several times. */
  texts(name: string): readonly string[];
  /** What was uploaded in a field; null where nothing was. */
  file(name: string): File | null;
}

export const NO_FORM: Form = { text: () => '', texts: () => [], file: () => null };
/** A form without files. */
export const FORM_BYTES_MAX = 64 * 1_024;
const TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

/** Reads a form, with its files in memory; throws 413 for more than `limit`, 400 for anything else than a form. */
export async function readForm(request: Request, limit: number = FORM_BYTES_MAX): Promise<Form> {
  const type = request.headers.get('content-type') ?? '';
  if (!TYPES.test(type)) throw new PageError(400);
  const bytes = await readBytes(request, limit).catch((error: unknown) => {
    throw error instanceof Problem ? new PageError(error.code === 'payload_too_large' ? 413 : 400) : error;
  });
  const data = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData().catch(() => {
    throw new PageError(400);
  });
  const texts = (name: string) => data.getAll(name).filter((value) => typeof value === 'string');
  return {
    text: (name) => texts(name)[0]?.trim() ?? '',
    texts,
    file: (name) => {
      const found = data.get(name);
      return found instanceof File && found.size > 0 ? found : null;
    },
  };
}

/**
 * Refuses what did not come from a page of ours: browsers name the origin of every POST, and say for old ones whether
 * it is the same site. A call that says neither is no form of ours.
 */
export function requireOwnOrigin(headers: Headers, origin: string): void {
  const named = headers.get('origin');
  const own = named === null ? headers.get('sec-fetch-site') === 'same-origin' : named === origin;
  const site = headers.get('sec-fetch-site');
  if (!own || (site !== null && site !== 'same-origin')) throw new PageError(403);
}

/** Refuses a form that does not carry the token of its session. */
export function requireToken(form: Form, expected: string): void {
  const [given, wanted] = [Buffer.from(form.text('csrf')), Buffer.from(expected)];
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) throw new PageError(403);
}
