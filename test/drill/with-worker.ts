import type { ActivityDeps } from '../../src/activities/deps.js';
import type { WorkerWorld } from '../support/worker-world.js';

/** Every account of ours is the same one of the simulators': pages then come into books of their own. */
export function oneAccount(deps: ActivityDeps): ActivityDeps {
  return {
    ...deps,
    custody: ({ book }) => deps.custody({ book, account: 'main-live' }),
    issuer: ({ book }) => deps.issuer({ book, account: 'main-live' }),
    pert: ({ book }) => deps.pert({ book, account: 'pert-main' }),
  };
}

/** Lets `work` happen with a sound worker of this process. */
export async function withWorker<T>(
  world: WorkerWorld,
  work: () => Promise<T>,
  options: { bundlePath?: string; plant?: (deps: ActivityDeps) => ActivityDeps } = {},
): Promise<T> {
  const { bundlePath, plant = (deps) => deps } = options;
  const worker = await world.startWorker({
    ...(bundlePath === undefined ? {} : { bundlePath }),
    deps: (deps) => plant(oneAccount(deps)),
  });
  try {
    return await work();
  } finally {
    await worker.stop();
  }
}
