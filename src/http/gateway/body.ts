import type { z } from 'zod';
import { type FieldError, isPlainName } from '../../contracts/problems.js';
import { Problem, validationProblem } from '../problem.js';
import { refusalWords } from './refusal-words.js';

/** API.md 1: a body is at most so large. */
const BODY_BYTES_MAX = 64 * 1024;

/**
 * Reads a body as a JSON object: `unsupported_media_type`, `payload_too_large` or `malformed_body` for anything else.
 * A member that stands twice is malformed, for two readers could take different ones.
 */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  requireJson(request.headers);
  const bytes = await readBytes(request, BODY_BYTES_MAX);
  return parseObject(bytes);
}

/** The same for a call that needs no body: nothing at all is an empty object, of whatever type it says to be. */
export async function readOptionalObject(request: Request): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, BODY_BYTES_MAX);
  if (bytes.length === 0) return {};
  requireJson(request.headers);
  return parseObject(bytes);
}

/** Checks a body against its schema; `validation` points at each refused member, never quoting its value. */
export function checkBody<Output>(schema: z.ZodType<Output>, body: unknown): Output {
  const parsed = schema.safeParse(body, { error: refusalWords });
  if (parsed.success) return parsed.data;
  throw validationProblem(parsed.error.issues.flatMap(toFieldErrors));
}

/** Refuses whatever is not said to be JSON in UTF-8, or is encoded. */
export function requireJson(headers: Headers): void {
  const [type, ...parameters] = (headers.get('content-type') ?? '').toLowerCase().split(';');
  const charsets = parameters.map((parameter) => parameter.trim().replaceAll('"', '')).filter((text) => text !== '');
  const isJson = type?.trim() === 'application/json' && charsets.every((text) => text === 'charset=utf-8');
  if (!isJson || headers.has('content-encoding')) throw new Problem('unsupported_media_type');
}

/** The raw bytes; reading stops at the limit, whatever Content-Length said. */
export async function readBytes(request: Request, limit: number): Promise<Buffer> {
  const declared = Number(request.headers.get('content-length') ?? '0');
  if (declared > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (request.body === null) return Buffer.alloc(0);
  try {
    for await (const chunk of request.body) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  } catch {
    // The caller hung up, and nobody hears this.
    throw malformed('The body ended too early.');
  }
  if (size > limit) throw tooLarge(limit);
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): Problem {
  return new Problem('payload_too_large', { detail: `The body is larger than ${limit} bytes.` });
}

function parseObject(bytes: Buffer): Record<string, unknown> {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('The body is not UTF-8.');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw malformed('The body is not JSON.');
  }
  if (!isObject(value)) throw malformed('The body is not a JSON object.');
  if (countMembers(value) !== countNames(text)) throw malformed('The body names a member twice.');
  return value;
}

function malformed(detail: string): Problem {
  return new Problem('malformed_body', { detail });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// The parser keeps the last of two members of one name: then it kept fewer than the text names.
function countMembers(root: unknown): number {
  let count = 0;
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    const inside = Object.values(value);
    if (!Array.isArray(value)) count += inside.length;
    for (const item of inside) waiting.push(item);
  }
  return count;
}

function countNames(validJson: string): number {
  return [...validJson.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter((match) => match[1] !== undefined).length;
}

function toFieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  const pointer = issue.path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  if (issue.code !== 'unrecognized_keys') return [{ pointer, detail: issue.message }];
  return issue.keys.map((key) => ({ pointer: `${pointer}${pointerTo(key)}`, detail: 'is not a member here' }));
}

function pointerTo(name: string): string {
  return isPlainName(name) ? `/${name}` : '';
}
