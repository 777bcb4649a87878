import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { REPOSITORY } from '../../src/local/paths.js';
import { freePort } from '../../src/local/ports.js';
import type { WorkerWorld } from './worker-world.js';

/** The product's own worker process. */
export interface WorkerProcess {
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

/** Starts `src/worker.ts` for that world and resolves when it says that it is ready. */
export async function startWorkerProcess(world: WorkerWorld, bundlePath: string): Promise<WorkerProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', join(REPOSITORY, 'src/worker.ts')], {
    cwd: REPOSITORY,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...world.env,
      SVERKA_LOG_LEVEL: 'fatal',
      SVERKA_METRICS_PORT: String(await freePort()),
      SVERKA_WORKFLOW_BUNDLE: bundlePath,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit');
  const ended = gone.then(([code]) => {
    throw new Error(`The worker ended with ${String(code)} before it was ready.`);
  });
  await Promise.race([once(child, 'message'), ended]);
  ended.catch(() => undefined);
  return {
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
