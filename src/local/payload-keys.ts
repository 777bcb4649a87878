import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { REPOSITORY } from './paths.js';

/** As src/client/payload-keys.ts reads it. */
interface KeysFile {
  readonly current: string | null;
  readonly keys: Readonly<Record<string, string>>;
}

/** How this run treats payloads in Temporal: `file` is null where there never was a key. */
export interface LocalPayloadKeys {
  readonly file: string | null;
  /** Whether payloads are encrypted from now on. */
  readonly encrypts: boolean;
}

const KEY_BYTES = 32;

/**
 * Makes the file of keys where encryption is asked for: by `encrypt`, or by `SVERKA_PAYLOAD_KEYS_FILE` in `env`, whose
 * content stays as it is where there is one. Not asked for, a file of an earlier run still decrypts: the workflows of
 * that run go on.
 */
export function localPayloadKeys(of: { env: NodeJS.ProcessEnv; state: string; encrypt: boolean }): LocalPayloadKeys {
  const named = of.env['SVERKA_PAYLOAD_KEYS_FILE'];
  if (named) {
    const file = resolve(REPOSITORY, named);
    ensurePayloadKeys(file);
    return { file, encrypts: true };
  }
  const file = join(of.state, 'payload-keys.json');
  if (!of.encrypt && !existsSync(file)) return { file: null, encrypts: false };
  ensurePayloadKeys(file);
  const { keys, current } = read(file);
  const wanted = of.encrypt ? (Object.keys(keys).at(-1) ?? null) : null;
  if (current !== wanted) write(file, { current: wanted, keys });
  return { file, encrypts: of.encrypt };
}

/** Makes a file with one new key, for its owner alone, where there is none. Answers whether it did. */
export function ensurePayloadKeys(file: string): boolean {
  if (existsSync(file)) return false;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  write(file, { current: 'k1', keys: { k1: newKey() } });
  return true;
}

/**
 * One half of a rotation. `add` puts a new key beside the others, which encrypts nothing yet; `use` makes the newest
 * one encrypt. Between them every process must have read the file again. Answers the id of the newest key.
 */
export function rotatePayloadKeys(file: string, step: 'add' | 'use'): string {
  const { current, keys } = read(file);
  const ids = Object.keys(keys);
  const id = step === 'use' ? (ids.at(-1) ?? 'k1') : nextId(ids);
  write(file, step === 'use' ? { current: id, keys } : { current, keys: { ...keys, [id]: newKey() } });
  return id;
}

function nextId(ids: readonly string[]): string {
  const numbers = ids.map((id) => Number(/^k([0-9]{1,9})$/.exec(id)?.[1] ?? 0));
  return `k${Math.max(0, ...numbers) + 1}`;
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

function read(file: string): KeysFile {
  return JSON.parse(readFileSync(file, 'utf8')) as KeysFile;
}

/** Replaced as a whole: no process ever reads half of it. */
function write(file: string, content: KeysFile): void {
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(content, null, 1)}\n`, { mode: 0o600 });
  renameSync(partial, file);
}
