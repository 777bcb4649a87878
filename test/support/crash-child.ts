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
  | { readonly kind: 'held'; readonly step: Step }
  | { readonly kind: 'missed'; readonly step: Step; readonly point: number };

const WITHIN_MS = 30_000;

/**
 * Starts a worker process, lets `begin` give it work, waits until it is held at every point, and kills it (SIGKILL).
 * Answers where it stood. Throws when a point was not met: such a test would have shown nothing.
 */
export async function killAtPoints(
  world: WorkerWorld,
  options: { points: CrashPoints; bundlePath: string },
  begin: () => Promise<unknown>,
): Promise<Step[]> {
  const wanted = Object.values(options.points).reduce((sum, points) => sum + points.length, 0);
  const child = spawn(process.execPath, ['--import', 'tsx', join(REPOSITORY, 'test/support/crash-worker.ts')], {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...world.env,
      SVERKA_WORKFLOW_BUNDLE: options.bundlePath,
      TEST_CRASH_POINTS: JSON.stringify(options.points),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const held = new Map<string, Step>();
  try {
    await untilAllHeld(child, { held, wanted, begin });
  } finally {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  return [...held.values()];
}

function untilAllHeld(
  child: ChildProcess,
  { held, wanted, begin }: { held: Map<string, Step>; wanted: number; begin: () => Promise<unknown> },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      const met = [...held.values()].map(({ activity, number, label }) => `${activity} ${number} ${label}`);
      fail(new Error(`Only ${held.size} of ${wanted} points were met:\n${met.join('\n')}`));
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
      if (message.kind === 'held') {
        held.set(`${message.step.activity} ${message.step.subject}`, message.step);
        if (held.size < wanted) return;
        clearTimeout(late);
        resolve();
      }
    });
  });
}
