import { createHash } from 'node:crypto';
import { accessSync, chmodSync, constants, mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where everything of a local run lies. Absolute paths. */
export interface LocalPaths {
  readonly repository: string;
  /** `.sverka`, or `SVERKA_STATE_DIR`. */
  readonly state: string;
  readonly runFile: string;
  readonly logs: string;
  /** One file for each person of the local run, with an unused one-time link. */
  readonly logins: string;
  readonly temporalStore: string;
  /** Workflow bundles, by the hash of their sources. */
  readonly bundles: string;
  /** Programs that were fetched once: shared by all checkouts of this user. */
  readonly cache: string;
}

export const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url)).replace(/\/$/, '');

/** Reads `SVERKA_STATE_DIR`, `SVERKA_CACHE_DIR` and `XDG_CACHE_HOME`; creates the state folder. */
export function localPaths(env: NodeJS.ProcessEnv): LocalPaths {
  const state = resolve(REPOSITORY, env['SVERKA_STATE_DIR'] || '.sverka');
  const logs = join(state, 'log');
  createFolders(state, logs);
  return {
    repository: REPOSITORY,
    state,
    logs,
    logins: join(state, 'login'),
    runFile: join(state, 'run.json'),
    temporalStore: join(state, 'temporal.db'),
    bundles: join(state, 'bundles'),
    cache: cacheFolder(env, state),
  };
}

/** A path as `run.json` shows it: relative to the repository. */
export function relativeToRepository(path: string): string {
  return relative(REPOSITORY, path);
}

/** Short name of a folder, for what must lie elsewhere and still belong to it. */
export function folderHash(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 12);
}

function createFolders(state: string, logs: string): void {
  try {
    // As root, PostgreSQL's user passes through this folder; it never lists it.
    const created = mkdirSync(state, { recursive: true, mode: 0o700 }) !== undefined;
    if (created && process.getuid?.() === 0) chmodSync(state, 0o711);
    mkdirSync(logs, { recursive: true, mode: 0o700 });
    accessSync(state, constants.W_OK);
  } catch {
    throw new Error(
      `${state} cannot be written by this user. Run Sverka as the owner of the checkout, or set SVERKA_STATE_DIR.`,
    );
  }
}

function cacheFolder(env: NodeJS.ProcessEnv, state: string): string {
  if (env['SVERKA_CACHE_DIR']) return resolve(env['SVERKA_CACHE_DIR']);
  const base = env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return isWritable(base) ? join(base, 'sverka') : join(state, 'cache');
}

function isWritable(folder: string): boolean {
  for (let path = folder; ; path = dirname(path)) {
    if (statSync(path, { throwIfNoEntry: false }) === undefined && path !== dirname(path)) continue;
    try {
      accessSync(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }
}
