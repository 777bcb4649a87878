import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './process-info.js';

/** The token stands behind this in a link; the console's own links will begin with its address. */
const LINK = 'sverka://login/';

/** Puts a fresh one-time link where its person finds it: one line, for this user alone, replaced atomically. */
export function writeLoginFile(file: string, token: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, `${LINK}${token}\n`, { mode: 0o600 });
  renameSync(partial, file);
}

/** The token of the link that lies there; null when there is none. */
export function readLoginFile(file: string): string | null {
  try {
    return /([A-Za-z0-9_-]{43})\s*$/.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** Takes a used link away, so that nobody tries it again. */
export function removeLoginFile(file: string): void {
  rmSync(file, { force: true });
}
