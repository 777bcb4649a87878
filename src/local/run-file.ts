import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { LocalPaths } from './paths.js';
import { folderHash } from './paths.js';
import { commandLine, endProcess, errorCode, isRunning } from './process-info.js';
import type { LoginRole } from './role-passwords.js';

/** A merchant with its keys, as a test or a tool may use them. */
export interface RunMerchant {
  readonly id: string;
  readonly book: 'live' | 'test';
  readonly apiKey: string;
  readonly readOnlyKey: string;
}

/** A person who can sign in, and where the one-time link lies. */
export interface RunLogin {
  readonly user: string;
  readonly role: string;
  /** Where the link leads to. */
  readonly at: 'console' | 'cabinet';
  /** Relative to the repository. */
  readonly linkFile: string;
}

/** How to sign what one webhook endpoint accepts. */
export interface RunHook {
  readonly provider: 'custody' | 'issuer' | 'pert';
  readonly endpoint: string;
  readonly book: 'live' | 'test';
  readonly url: string;
  readonly signatureHeader: string;
  readonly scheme: 't,v1' | 'sha256=';
  readonly encoding: 'hex';
  readonly deliveryId: string;
  /** Newest first. */
  readonly secrets: readonly string[];
}

/** An account whose balances are mirrored, and whose it is. */
export interface RunSource {
  readonly provider: 'pert';
  readonly source: string;
  readonly book: 'live' | 'test';
  readonly merchantId: string;
}

/** `.sverka/run.json` of a stack that is up (API.md 7). What is not built, or is not ours, has no member. */
export interface RunFile {
  readonly version: 1;
  /** Becomes true last. */
  readonly ready: boolean;
  readonly startedAt: string;
  readonly gatewayUrl: string;
  readonly relayUrl: string;
  /** Where people of ours, and requesters of merchants, open their pages. */
  readonly consoleUrl: string;
  readonly cabinetUrl: string;
  /** The codec's listener, and what its callers must show; null and absent where payloads are not encrypted. */
  readonly codecUrl: string | null;
  readonly codecToken?: string;
  /** Relative to the repository; also where payloads are no longer encrypted, for those that were. */
  readonly payloadKeysFile?: string;
  readonly temporalAddress: string;
  readonly temporalNamespace: string;
  readonly temporalUiUrl?: string;
  readonly taskQueue: string;
  readonly databaseUrl: string;
  readonly databaseUrls: Readonly<Record<LoginRole, string>>;
  readonly pids: Readonly<Record<string, number>>;
  readonly opsUrls: Readonly<Record<string, string>>;
  readonly metricsUrls: Readonly<Record<string, string>>;
  readonly simulators: Readonly<Record<string, { readonly url: string }>>;
  readonly hooks: readonly RunHook[];
  readonly merchants: readonly RunMerchant[];
  readonly sources: readonly RunSource[];
  readonly logins: readonly RunLogin[];
  /** Relative to the repository. */
  readonly logFiles: Readonly<Record<string, string>>;
}

/** The run file of this process: each change replaces it atomically. */
export interface RunFileWriter {
  current(): Partial<RunFile>;
  set(change: Partial<RunFile>): void;
  /** Adds to one of its maps. */
  put(map: 'pids' | 'opsUrls' | 'metricsUrls' | 'simulators' | 'logFiles', name: string, value: unknown): void;
  remove(): void;
}

const STOP_MS = 5_000;
const LOCK_RETRY_MS = 50;
/** Who is ended later, because the others use it. */
const SERVERS = ['temporal', 'postgres', 'guard'];

/**
 * Takes `.sverka/run.json` for this process. Throws when another start that lives holds it; what a killed one left
 * running is ended first, each pid only after its command line was found to be ours.
 */
export async function claimRunFile(paths: LocalPaths): Promise<RunFileWriter> {
  const unlock = await lock(`${paths.runFile}.lock`);
  try {
    await endDeadRun(paths);
    const file = writer(paths.runFile, { version: 1, ready: false, startedAt: new Date().toISOString() });
    file.put('pids', 'self', process.pid);
    return file;
  } finally {
    unlock();
  }
}

/** What the file says, or null when there is none. A damaged file counts as none: nothing in it can be trusted. */
export function readRunFile(file: string): Partial<RunFile> | null {
  try {
    const value: unknown = JSON.parse(readIfThere(file) ?? 'null');
    return typeof value === 'object' ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function writer(file: string, first: Partial<RunFile>): RunFileWriter {
  let content = first;
  const set = (change: Partial<RunFile>) => {
    content = { ...content, ...change };
    const partial = `${file}.${process.pid}`;
    writeFileSync(partial, text(content), { mode: 0o600 });
    renameSync(partial, file);
  };
  return {
    current: () => content,
    set,
    put: (map, name, value) => set({ [map]: { ...content[map], [name]: value } }),
    remove: () => rmSync(file, { force: true }),
  };
}

function text(content: Partial<RunFile>): string {
  return `${JSON.stringify(content, null, 1)}\n`;
}

/** Two starts at once look at the run file one after the other. A lock whose owner died is taken away. */
async function lock(file: string): Promise<() => void> {
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, String(process.pid), { mode: 0o600 });
  try {
    // A link is made only where nothing is, and shows the pid from its first moment.
    while (!tryLink(mine, file)) {
      const owner = Number(readIfThere(file) ?? process.pid);
      if (owner === process.pid || isStart(owner)) await pause(LOCK_RETRY_MS);
      else rmSync(file, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
  return () => rmSync(file, { force: true });
}

function readIfThere(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

async function endDeadRun(paths: LocalPaths): Promise<void> {
  const found = readRunFile(paths.runFile);
  if (found === null) return;
  const self = found.pids?.['self'];
  if (self !== undefined && isStart(self)) {
    throw new Error(
      `Sverka already runs here: process ${self}, since ${found.startedAt}. Stop it with Ctrl-C in its terminal or ` +
        `by \`kill ${self}\`; or give this one a folder of its own by SVERKA_STATE_DIR.`,
    );
  }
  // Nobody who waits for `ready` may take the dead run for the one that begins now.
  writer(paths.runFile, found).set({ ready: false });
  const pids = Object.entries(found.pids ?? {}).filter(([name]) => name !== 'self');
  const users = pids.filter(([name]) => !SERVERS.includes(name));
  await Promise.all(users.map(([, pid]) => endLeftover(pid, 'SIGTERM', paths.state)));
  for (const server of SERVERS) {
    const pid = found.pids?.[server];
    if (pid !== undefined) await endLeftover(pid, server === 'postgres' ? 'SIGINT' : 'SIGTERM', paths.state);
  }
}

function isStart(pid: number): boolean {
  return isRunning(pid) && commandLine(pid)?.includes('start.ts') === true;
}

async function endLeftover(pid: number, signal: NodeJS.Signals, state: string): Promise<void> {
  if (isRunning(pid) && isOfState(commandLine(pid) ?? '', state)) await endProcess({ pid, signal, graceMs: STOP_MS });
}

/** Every process we start has its state folder, or the hash of it, on its command line. */
function isOfState(command: string, state: string): boolean {
  return `${command} `.includes(`=${state} `) || command.includes(`${state}/`) || command.includes(folderHash(state));
}
