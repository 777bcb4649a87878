import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from './process-info.js';

/** The page that opens a session by that token; `pagesUrl` is that of the console or of the cabinet. */
export function loginLink(pagesUrl: string, token: string): string {
  return `${pagesUrl}/sign-in?link=${token}`;
}

/** Puts a fresh one-time link where its person finds it: one line, for this user alone, replaced atomically. */
export function writeLoginFile(file: string, link: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, `${link}\n`, { mode: 0o600 });
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
