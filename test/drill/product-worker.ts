import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { REPOSITORY } from '../../src/local/paths.js';
import { freePort } from '../../src/local/ports.js';
import type { WorkerWorld } from '../support/worker-world.js';

/** The product's own worker process, started again whenever it dies, as `npm start` does. */
export interface ProductWorker {
  /** SIGKILL; resolves when another one is ready. */
  kill(): Promise<void>;
  /** How often it has logged each kind of failure. */
  failures(): Readonly<Record<string, number>>;
  /** How often it ended by itself. */
  ended(): number;
  stop(): Promise<void>;
}

const RESTART_MS = 500;

export async function startProductWorker(world: WorkerWorld, bundlePath: string): Promise<ProductWorker> {
  const failures = new Map<string, number>();
  let ended = 0;
  let killing = false;
  let stopping = false;
  let current: ChildProcess | null = null;
  let cameBack: () => void = () => undefined;

  async function launch(): Promise<void> {
    const child = await spawnWorker(world, bundlePath);
    current = child;
    if (child.stdout) createInterface(child.stdout).on('line', (line) => count(line));
    const gone = once(child, 'exit').then(() => 'gone' as const);
    void gone.then(again);
    if ((await Promise.race([once(child, 'message'), gone])) === 'gone') await pause(RESTART_MS);
  }
  async function again(): Promise<void> {
    if (stopping) return;
    if (!killing) ended += 1;
    killing = false;
    await pause(RESTART_MS);
    if (stopping) return;
    await launch();
    cameBack();
  }
  function count(line: string): void {
    const [, code] = /"code":"([A-Za-z_]+)"/.exec(line) ?? [];
    if (code !== undefined) failures.set(code, (failures.get(code) ?? 0) + 1);
  }
  await launch();
  return {
    async kill() {
      const back = new Promise<void>((resolve) => {
        cameBack = resolve;
      });
      killing = true;
      current?.kill('SIGKILL');
      await back;
    },
    failures: () => Object.fromEntries(failures),
    ended: () => ended,
    async stop() {
      stopping = true;
      if (current === null || current.exitCode !== null || current.signalCode !== null) return;
      const gone = once(current, 'exit');
      current.kill('SIGKILL');
      await gone;
    },
  };
}

async function spawnWorker(world: WorkerWorld, bundlePath: string): Promise<ChildProcess> {
  return spawn(process.execPath, ['--import', 'tsx', join(REPOSITORY, 'src/worker.ts')], {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...world.env,
      SVERKA_LOG_LEVEL: 'warn',
      SVERKA_METRICS_PORT: String(await freePort()),
      SVERKA_WORKFLOW_BUNDLE: bundlePath,
    },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
}
