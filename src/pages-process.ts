import { poolWaitCheck, signInCheck, temporalCheck } from './http/checks.js';
import type { PagesDeps } from './http/pages/call.js';
import { createIdentityProvider } from './http/pages/identity-provider.js';
import { type HttpProcess, openHttpProcess, type Serving } from './http-process.js';

/** Pages read more than a call of the API does. */
const QUERY_TIMEOUT_MS = 10_000;

export interface PagesProcess extends Pick<HttpProcess, 'config' | 'temporal'> {
  /** What the pages of both audiences work with. */
  readonly pages: Omit<PagesDeps, 'audience'>;
  /** Waits for a nudge; one that fails is no failure, since the row is there and the sweep finds it. */
  readonly untilTheSweep: (nudged: Promise<unknown>) => Promise<void>;
  readonly serve: (fetch: Serving['fetch'], port: number) => Promise<never>;
}

/**
 * Opens what a process that shows pages stands on.
 * @param originOf where browsers find it, by its configuration
 */
export function openPagesProcess(
  name: 'console' | 'cabinet',
  originOf: (config: HttpProcess['config']) => string,
): PagesProcess {
  const { config, log, metrics, pool, db, temporal, stopping, serve } = openHttpProcess(name, QUERY_TIMEOUT_MS);
  const identityProvider = createIdentityProvider(config);
  const localLinks = config.SVERKA_LOCAL_LINKS === 'on' && identityProvider === null;
  const checks = [signInCheck({ localLinks, identityProvider }), temporalCheck(temporal), poolWaitCheck(pool)];
  return {
    ...{ config, temporal },
    pages: { ...{ db, pool, log, metrics, localLinks, identityProvider, stopping }, origin: originOf(config) },
    untilTheSweep: async (nudged) => {
      await nudged.catch((error: unknown) =>
        log.warn('Temporal was not told of what a person did; the sweep finds it.', { error }),
      );
    },
    serve: (fetch, port) => serve({ fetch, port, checks }),
  };
}
