import { readFileSync, statSync } from 'node:fs';

/** The keys that payloads in Temporal are encrypted with. */
export interface PayloadKeys {
  /** Id of the key that encrypts; null: nothing is encrypted from now on, and every key still decrypts. */
  readonly current: string | null;
  /** AES-256 keys, 32 bytes each, by id. */
  readonly keys: ReadonlyMap<string, Uint8Array>;
}

/** What an id of a key looks like: it stands in clear beside everything it encrypts. */
export const PAYLOAD_KEY_ID = /^[A-Za-z0-9._-]{1,64}$/;

const KEY_BYTES = 32;
/** Anything for others, and more than reading for the group; a container's secret is its group's to read. */
const MODE_REFUSED = 0o037;
const SHAPE = '{"current":"k1","keys":{"k1":"<32 bytes in base64>"}}';

/**
 * Reads the file of `SVERKA_PAYLOAD_KEYS_FILE`. Throws one error that names everything that is wrong with it and what
 * to do; it never quotes a key.
 */
export function readPayloadKeys(file: string): PayloadKeys {
  const content = readProtected(file);
  const problems = [...problemsOf(content)];
  if (problems.length > 0) throw unusable(file, problems);
  const { current, keys } = content as { current: string | null; keys: Record<string, string> };
  return { current, keys: new Map(Object.entries(keys).map(([id, text]) => [id, Buffer.from(text, 'base64')])) };
}

function readProtected(file: string): unknown {
  let mode: number;
  let text: string;
  try {
    mode = statSync(file).mode & 0o777;
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown';
    throw unusable(file, [`it cannot be read by this process (${code}): make it, or correct the setting`]);
  }
  if (mode & MODE_REFUSED) throw unusable(file, [`others may use it (mode ${mode.toString(8)}): chmod 600 it`]);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // What the parser says would quote the file.
    throw unusable(file, [`it is not JSON: write ${SHAPE}`]);
  }
}

function* problemsOf(content: unknown): Generator<string> {
  if (!isObject(content) || !isObject(content['keys'])) return yield `it has not the form ${SHAPE}`;
  const { current, keys, ...rest } = content;
  const unknown = Object.keys(rest);
  if (unknown.length > 0) yield `it may only have current and keys, and has ${unknown.length} more: remove them`;
  const entries = Object.entries(keys);
  if (entries.length === 0) yield 'it has no key: make one with `openssl rand -base64 32`';
  for (const [at, [id, key]] of entries.entries()) {
    if (!PAYLOAD_KEY_ID.test(id)) yield `the id of key ${at + 1} is not 1 to 64 letters, digits, dots, _ or -`;
    else if (!isKey(key)) yield `key ${id} is not ${KEY_BYTES} bytes in base64: \`openssl rand -base64 32\` makes one`;
  }
  const isNamed = typeof current === 'string' && Object.hasOwn(keys, current);
  if (current !== null && !isNamed) yield 'current names none of the keys: name one, or null to encrypt nothing';
}

/** Exactly the base64 of 32 bytes: a lenient reader would take a damaged key for another one. */
function isKey(text: unknown): boolean {
  if (typeof text !== 'string') return false;
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === KEY_BYTES && bytes.toString('base64') === text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unusable(file: string, problems: readonly string[]): Error {
  return new Error(`${file} cannot be used (SVERKA_PAYLOAD_KEYS_FILE):\n${problems.map((of) => `  ${of}`).join('\n')}`);
}
