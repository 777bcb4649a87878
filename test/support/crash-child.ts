import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { REPOSITORY } from '../../src/local/paths.js';
import type { Step } from './crash-steps.js';
import type { WorkerWorld } from './worker-world.js';

/** At which step (by number) each of so many subjects is held, per activity. */
export type CrashPoints = Readonly<Record<string, readonly number[]>>;

export type CrashMessage =
  | { readonly kind: 'ready' }
  /** It stands there, or the answer to this step was lost. */
  | { readonly kind: 'held' | 'lost' | 'came' | 'passed'; readonly step: Step }
  | { readonly kind: 'missed'; readonly step: Step; readonly point: number };

/** A worker process with points in its way. */
export interface CrashWorker {
  /** Where it stands, or which answers it has lost. */
  readonly met: readonly Step[];
  /** SIGSTOP and SIGCONT: a machine that is away for a while and does not know. */
  freeze(): void;
  thaw(): void;
  /** Lets all that is held go on, and resolves when they have come to the end of their activity. */
  release(): Promise<void>;
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

export interface CrashOptions {
  readonly points: CrashPoints;
  readonly bundlePath: string;
  /** `hold` stands before a step for ever; `lose` sends its statement by a wire that loses the answer. */
  readonly mode?: 'hold' | 'lose';
  /** What its process is given beside the world's settings. */
  readonly env?: Readonly<Record<string, string>>;
}

const WITHIN_MS = 90_000;

/**
 * Starts a worker process, lets `begin` give it work, waits until it is held at every point, and kills it (SIGKILL).
 * Answers where it stood. Throws when a point was not met: such a test would have shown nothing.
 */
export async function killAtPoints(
  world: WorkerWorld,
  options: CrashOptions,
  begin: () => Promise<unknown>,
): Promise<Step[]> {
  const worker = await meetPoints(world, options, begin);
  await worker.kill();
  return [...worker.met];
}

/** The same without the kill: the caller's to end. */
export async function meetPoints(
  world: WorkerWorld,
  options: CrashOptions,
  begin: () => Promise<unknown>,
): Promise<CrashWorker> {
  const child = spawnWorker(world, options);
  const gone = once(child, 'exit');
  const met = new Map<string, Step>();
  const wanted = Object.values(options.points).reduce((sum, points) => sum + points.length, 0);
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  try {
    await untilAllMet(child, { met, wanted, begin });
  } catch (error) {
    await kill();
    throw error;
  }
  return {
    met: [...met.values()],
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async release() {
      let left = met.size;
      await new Promise<void>((resolve, reject) => {
        child.once('exit', (code) => reject(new Error(`The worker ended by itself with ${code}.`)));
        child.on('message', ({ kind }: CrashMessage) => {
          if (kind === 'passed') left -= 1;
          if (left === 0) resolve();
        });
        child.send('release');
      });
    },
    kill,
  };
}

function spawnWorker(world: WorkerWorld, { points, bundlePath, mode = 'hold', env }: CrashOptions): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', join(REPOSITORY, 'test/support/crash-worker.ts')], {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...world.env,
      SVERKA_WORKFLOW_BUNDLE: bundlePath,
      TEST_CRASH_POINTS: JSON.stringify(points),
      TEST_CRASH_MODE: mode,
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

interface Meeting {
  readonly met: Map<string, Step>;
  readonly wanted: number;
  readonly begin: () => Promise<unknown>;
}

function untilAllMet(child: ChildProcess, { met, wanted, begin }: Meeting): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      const names = [...met.values()].map(({ activity, number, label }) => `${activity} ${number} ${label}`);
      fail(new Error(`Only ${met.size} of ${wanted} points were met:\n${names.join('\n')}`));
    }, WITHIN_MS);
    const fail = (error: Error) => {
      clearTimeout(late);
      reject(error);
    };
    child.once('exit', (code) => fail(new Error(`The worker ended by itself with ${code}.`)));
    child.on('message', (message: CrashMessage) => {
      if (message.kind === 'ready') begin().catch(fail);
      if (message.kind === 'missed') {
        fail(new Error(`${message.step.activity} has no step ${message.point}; this point is void.`));
      }
      if (message.kind === 'came') fail(new Error(`The answer to ${message.step.label} came; this point is void.`));
      if (message.kind === 'held' || message.kind === 'lost') {
        met.set(`${message.step.activity} ${message.step.subject}`, message.step);
        if (met.size < wanted) return;
        clearTimeout(late);
        resolve();
      }
    });
  });
}
