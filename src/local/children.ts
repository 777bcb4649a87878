import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Guard } from './guard.js';
import { sendSignal } from './process-info.js';

/** One process to keep running. */
export interface ChildSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Its output goes here; each start of the product begins a new file. */
  readonly logFile: string;
  /** Another user to run as; only root can. */
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  readonly stopSignal: NodeJS.Signals;
  /** A higher stage is stopped earlier: what uses a server before the server. */
  readonly stage: number;
  /** `message`: it sends `{ready: true}` over its ipc channel. Else asked again until true. */
  readonly isReady: 'message' | (() => Promise<boolean>);
}

export interface SupervisorOptions {
  readonly guard: Guard;
  /** Called with each new pid, also after a restart. */
  readonly onPid?: (name: string, pid: number) => void;
  /** One line for a person: what ended, and when it starts again. */
  readonly onNotice?: (line: string) => void;
}

/** Starts children in process groups of their own, starts them again when they die, stops them in order. */
export interface Supervisor {
  /** Resolves when the child is ready. Throws, with the end of its output, when it ends before that or is too slow. */
  start(spec: ChildSpec): Promise<void>;
  /** Stops all, the highest stage first; a child that does not leave in time is killed. */
  stop(): Promise<void>;
  /** Kills all at once, and resolves when they are gone. */
  kill(): Promise<void>;
}

const FIRST_RESTART_MS = 1_000;
const LAST_RESTART_MS = 15_000;
/** A child that was ready for so long is sound again: its next restart waits the shortest time. */
const SOUND_MS = 10_000;
const READY_WITHIN_MS = 60_000;
/** Longer than our processes allow themselves. */
const STOP_WITHIN_MS = 20_000;
const PROBE_MS = 25;

interface Kept {
  readonly spec: ChildSpec;
  process: ChildProcess | null;
  restartMs: number;
  timer: NodeJS.Timeout | null;
}

interface Family {
  readonly options: SupervisorOptions;
  readonly children: Kept[];
  stopping: boolean;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const family: Family = { options, children: [], stopping: false };
  return {
    async start(spec) {
      if (family.stopping) throw new Error(`${spec.name} is not started: everything is being stopped.`);
      const kept: Kept = { spec, process: null, restartMs: FIRST_RESTART_MS, timer: null };
      truncate(spec.logFile);
      family.children.push(kept);
      await launch(family, kept);
      watch(family, kept);
    },
    async stop() {
      family.stopping = true;
      const stages = new Set(family.children.map(({ spec }) => spec.stage));
      for (const stage of [...stages].toSorted((a, b) => b - a)) {
        const group = family.children.filter(({ spec }) => spec.stage === stage);
        await Promise.all(group.map((kept) => stopOne(family, kept)));
      }
    },
    async kill() {
      family.stopping = true;
      await Promise.all(family.children.map(killOne));
    },
  };
}

/** Starts the process and waits until it is ready. */
async function launch({ options }: Family, kept: Kept): Promise<void> {
  const child = spawnChild(kept.spec);
  kept.process = child;
  const { pid } = child;
  if (pid !== undefined) {
    options.guard.add({ pid, signal: kept.spec.stopSignal, stage: kept.spec.stage });
    child.once('exit', () => {
      options.guard.drop(pid);
      // Whatever it had started itself goes with it.
      sendSignal(-pid, 'SIGKILL');
    });
    options.onPid?.(kept.spec.name, pid);
  }
  await untilReady(child, kept.spec);
}

/** From now on an end is unexpected. */
function watch(family: Family, kept: Kept): void {
  const child = kept.process;
  const readySince = Date.now();
  if (child === null) return;
  const again = () => {
    if (family.stopping) return;
    if (Date.now() - readySince > SOUND_MS) kept.restartMs = FIRST_RESTART_MS;
    scheduleRestart(family, kept, describeEnd(child));
  };
  if (hasEnded(child)) again();
  else child.once('exit', again);
}

function scheduleRestart(family: Family, kept: Kept, reason: string): void {
  const delay = kept.restartMs;
  kept.restartMs = Math.min(delay * 2, LAST_RESTART_MS);
  family.options.onNotice?.(`${kept.spec.name} ended (${reason}); it starts again in ${delay / 1_000} s.`);
  kept.timer = setTimeout(() => {
    launch(family, kept).then(
      () => watch(family, kept),
      (error: unknown) => {
        if (kept.process !== null && !hasEnded(kept.process)) kept.process.kill('SIGKILL');
        if (!family.stopping) scheduleRestart(family, kept, error instanceof Error ? error.message : String(error));
      },
    );
  }, delay);
}

async function stopOne({ options }: Family, kept: Kept): Promise<void> {
  const child = living(kept);
  if (child === null) return;
  const ended = endOf(child);
  child.kill(kept.spec.stopSignal);
  const late = pause(STOP_WITHIN_MS, 'late' as const, { ref: false });
  if ((await Promise.race([ended, late])) !== 'late') return;
  options.onNotice?.(`${kept.spec.name} did not stop within ${STOP_WITHIN_MS / 1_000} s and is killed.`);
  await killOne(kept);
}

async function killOne(kept: Kept): Promise<void> {
  const child = living(kept);
  if (child === null) return;
  const ended = endOf(child);
  sendSignal(-(child.pid ?? 0), 'SIGKILL');
  await ended;
}

/** The process of a child that runs; one that waits for its restart will not be started any more. */
function living(kept: Kept): ChildProcess | null {
  if (kept.timer !== null) clearTimeout(kept.timer);
  const child = kept.process;
  return child?.pid === undefined || hasEnded(child) ? null : child;
}

function spawnChild(spec: ChildSpec): ChildProcess {
  const log = openSync(spec.logFile, 'a', 0o600);
  try {
    return spawn(spec.command, spec.args, {
      cwd: spec.cwd,
      env: spec.env,
      detached: true,
      ...(spec.owner ?? {}),
      stdio: spec.isReady === 'message' ? ['ignore', log, log, 'ipc'] : ['ignore', log, log],
    });
  } finally {
    closeSync(log);
  }
}

async function untilReady(child: ChildProcess, spec: ChildSpec): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = endOf(child).then((reason) => {
    // Later ends are the business of `watch`.
    if (signal.aborted) return;
    throw new Error(`${spec.name} ended before it was ready (${reason}).${lastLines(spec.logFile)}`);
  });
  const late = pause(READY_WITHIN_MS, undefined, { signal }).then(() => {
    throw new Error(`${spec.name} was not ready after ${READY_WITHIN_MS / 1_000} s.${lastLines(spec.logFile)}`);
  });
  // When another one wins the race, this one is cut short: nobody's error.
  late.catch(() => {});
  try {
    await Promise.race([ended, late, spec.isReady === 'message' ? readyMessage(child) : probe(spec.isReady, signal)]);
  } finally {
    waiting.abort();
  }
}

function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', () => resolve(describeEnd(child)));
  });
}

function readyMessage(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('message', (message: unknown) => {
      if (typeof message === 'object' && message !== null && 'ready' in message && message.ready === true) resolve();
    });
  });
}

async function probe(isReady: () => Promise<boolean>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isReady())) await pause(PROBE_MS);
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function describeEnd(child: ChildProcess): string {
  return child.signalCode ?? `exit ${child.exitCode ?? 'unknown'}`;
}

function truncate(file: string): void {
  closeSync(openSync(file, 'w', 0o600));
}

function lastLines(file: string): string {
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
  return lines === '' ? ` It wrote nothing; see ${file}.` : ` The end of ${file}:\n${lines}`;
}
