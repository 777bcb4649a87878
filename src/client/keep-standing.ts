import { setTimeout as pause } from 'node:timers/promises';
import type { Config } from '../config.js';
import { ensureStanding } from './standing.js';
import type { Temporal } from './temporal.js';

export interface StandingKeeper {
  /** Resolves when no call is in flight. */
  stop(): Promise<void>;
}

/**
 * Makes what must always be there again each `SVERKA_STANDING_INTERVAL`, for as long as the worker lives: a server
 * whose store was lost comes back empty, and nothing in it would start a sweep. `onFailure` is told what did not work;
 * the next turn tries again.
 */
export function keepStanding(temporal: Temporal, config: Config, onFailure: (error: unknown) => void): StandingKeeper {
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    while (await restedFor(config.SVERKA_STANDING_INTERVAL, stopping.signal)) {
      await ensureStanding(temporal, config).catch(onFailure);
    }
  };
  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/** False when the rest was cut short. */
function restedFor(ms: number, signal: AbortSignal): Promise<boolean> {
  return pause(ms, true, { signal }).catch(() => false);
}
