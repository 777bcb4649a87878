import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { REPOSITORY } from '../../src/local/paths.js';
import { commandLine, isRunning, sendSignal } from '../../src/local/process-info.js';
import { type RunFile, readRunFile } from '../../src/local/run-file.js';

const UP_WITHIN_MS = 90_000;

/** A state folder of its own, so that no test touches the developer's `.sverka`. */
export interface ProductFolder {
  readonly state: string;
  /** Runs `npm start` with these arguments and answers when it is up; throws with its output when it ends before. */
  start(args?: readonly string[], env?: NodeJS.ProcessEnv): Promise<RunningProduct>;
  /** Everything that was started with this folder and still runs, as command lines. */
  leftBehind(): string[];
  /** Ends what is left and removes the folder. */
  remove(): void;
}

export interface RunningProduct {
  readonly process: ChildProcess;
  /** The run file as it is now. */
  run(): RunFile;
  /** What it has printed so far. */
  output(): string;
  /** Asks it to stop and resolves with its exit code. */
  stop(): Promise<number | null>;
}

export function productFolder(): ProductFolder {
  const state = mkdtempSync(join(tmpdir(), 'sverka-product-'));
  // PostgreSQL's user passes through it when the tests run as root.
  chmodSync(state, 0o711);
  const started: ChildProcess[] = [];
  return {
    state,
    start: (args = ['--no-story'], env = {}) => start(state, { args, env, started }),
    leftBehind: () => processesOf(state).map(({ command }) => command),
    remove() {
      for (const child of started) child.kill('SIGKILL');
      for (const { pid } of processesOf(state)) sendSignal(pid, 'SIGKILL');
      rmSync(state, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** Asks again until the answer is neither null nor false; throws with `what` when that takes too long. */
export async function eventually<T>(
  what: string,
  ask: () => T | Promise<T>,
  withinMs: number = UP_WITHIN_MS,
): Promise<Exclude<T, null | undefined | false>> {
  const until = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) {
      return answer as Exclude<T, null | undefined | false>;
    }
    if (performance.now() > until) throw new Error(`This did not happen: ${what}`);
    await pause(50);
  }
}

interface How {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Takes the new process, so that the folder can end it whatever happens. */
  readonly started: ChildProcess[];
}

async function start(state: string, how: How): Promise<RunningProduct> {
  let output = '';
  const child = spawn(process.execPath, ['--import', 'tsx', 'src/start.ts', ...how.args], {
    cwd: REPOSITORY,
    env: { ...withoutTestSettings(), ...how.env, SVERKA_STATE_DIR: state },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  how.started.push(child);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const file = join(state, 'run.json');
  await eventually('the product is up', () => {
    if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}:\n${output}`);
    const run = readRunFile(file);
    return run?.ready === true && run.pids?.['self'] === child.pid;
  });
  return {
    process: child,
    run: () => JSON.parse(readFileSync(file, 'utf8')) as RunFile,
    output: () => output,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

function withoutTestSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(TEST_|JEST_|npm_)/.test(name)));
}

/** Linux only: found by /proc. Elsewhere nothing is found, and tests that rely on it say so. */
function processesOf(state: string): { pid: number; command: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map((name) => ({ pid: Number(name), command: commandLine(Number(name)) ?? '' }))
    .filter(({ pid, command }) => command.includes(state) && isRunning(pid));
}
