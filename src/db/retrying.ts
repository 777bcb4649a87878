import { setTimeout as pause } from 'node:timers/promises';
import { Retryable } from './errors.js';

/** Three tries stay well under an activity's time, also when each waits for its lock. */
const TRIES = 3;
const FIRST_WAIT_MS = 50;

/**
 * Runs it again when PostgreSQL says that nothing was written and another try may work (55P03, 57014, 40P01, 40001).
 * Full jitter: callers that met once should not meet again. Throws the last error.
 */
export async function retrying<T>(work: () => Promise<T>, random: () => number = Math.random): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Retryable) || tries === TRIES) throw error;
      await pause(random() * FIRST_WAIT_MS * 2 ** tries);
    }
  }
}
