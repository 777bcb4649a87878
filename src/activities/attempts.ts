import type { ActivityDeps } from './deps.js';

/** Calls to Temporal at the same time. */
const CALLS_AT_ONCE = 10;
/** Subjects that may fail in one part before Temporal itself is taken to be away. */
const FAILURES_PER_PART = 3;

/** Runs one call to Temporal; null for one that failed, so that one subject never stops the sweep of the others. */
export type Attempt = <T>(call: () => Promise<T>) => Promise<T | null>;

export function createAttempts(deps: ActivityDeps): Attempt {
  let failures = 0;
  return async (call) => {
    if (failures > FAILURES_PER_PART) throw new Error('Temporal takes nothing now; the rest of this part is left.');
    try {
      return await call();
    } catch (error) {
      failures += 1;
      // Then it is Temporal and not the subject: the part is tried again.
      if (failures > FAILURES_PER_PART) throw error;
      deps.log.warn('a swept subject could not be passed on', {
        code: error instanceof Error ? error.name : 'unknown',
      });
      return null;
    }
  };
}

/** Works on all of them, so many at a time; throws the first error. */
export async function eachOf<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane));
}
