import type pg from 'pg';
import { missingStanding } from '../client/standing.js';
import type { Temporal } from '../client/temporal.js';
import type { Config } from '../config.js';
import { listBreakers } from '../db/breaker.js';
import { schemaVersion } from '../db/migrate.js';
import type { Tx } from '../db/transaction.js';
import { KeyError, type PublicKeySource } from '../providers/keys/key-provider.js';
import type { OpsCheck } from './ops.js';
import type { PagesDeps } from './pages/call.js';

const TEMPORAL_TIMEOUT_MS = 2_000;

/** PostgreSQL answers. Required everywhere. */
export function postgresCheck(db: Tx): OpsCheck {
  return {
    name: 'postgres',
    required: true,
    check: async () => {
      await db.query('select 1');
      return null;
    },
  };
}

/** The database has exactly the schema that this build was made for: `schema_behind` or `schema_ahead` else. */
export function schemaCheck(db: Tx): OpsCheck {
  return {
    name: 'schema',
    required: true,
    check: async () => {
      const [row] = await db.query<{ version: number }>('select version from sverka.schema_version');
      const [found, built] = [row?.version ?? 0, await schemaVersion()];
      if (found === built) return null;
      return found < built ? 'schema_behind' : 'schema_ahead';
    },
  };
}

/** Temporal answers. Watched in the edges: what only reads goes on without it. */
export function temporalCheck({ connection }: Temporal): OpsCheck {
  return {
    name: 'temporal',
    required: false,
    check: async () => {
      await connection.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () =>
        connection.workflowService.getSystemInfo({}),
      );
      return null;
    },
  };
}

/** Each provider is called: none of the breakers is open. Watched: what waits goes on by itself. */
export function breakersCheck(db: Tx): OpsCheck {
  return {
    name: 'breakers',
    required: false,
    check: async () => ((await listBreakers(db)).some(({ state }) => state !== 'closed') ? 'open' : null),
  };
}

/** The standing workflows run and the schedules are there. Watched: the worker makes them again each minute. */
export function standingCheck(temporal: Temporal, config: Config): OpsCheck {
  return {
    name: 'standing',
    required: false,
    check: async () => {
      const missing = await temporal.connection.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () =>
        missingStanding(temporal, config),
      );
      return missing.length === 0 ? null : 'missing';
    },
  };
}

/** There is a key to seal identities with; what it is for opens it elsewhere. */
export function publicKeyCheck(source: PublicKeySource | null): OpsCheck {
  return {
    name: 'cardholder_public_key',
    required: true,
    check: async () => {
      if (source === null) return 'missing';
      try {
        source();
        return null;
      } catch (error) {
        if (error instanceof KeyError) return error.kind;
        throw error;
      }
    },
  };
}

/** What hides personal data in fingerprints is configured. */
export function fingerprintKeyCheck(key: string | undefined): OpsCheck {
  return { name: 'fingerprint_key', required: true, check: async () => (key === undefined ? 'missing' : null) };
}

/** People can sign in: the identity provider answers, or local links are on where there is none. */
export function signInCheck(of: Pick<PagesDeps, 'localLinks' | 'identityProvider'>): OpsCheck {
  return {
    name: 'sign_in',
    required: true,
    check: async () => {
      if (of.identityProvider === null) return of.localLinks ? null : 'missing';
      await of.identityProvider.issuer();
      return null;
    },
  };
}

/** Nobody waits for a database connection because all of them are taken (one that is being opened is no wait). */
export function poolWaitCheck(pool: pg.Pool): OpsCheck {
  const exhausted = () => pool.waitingCount > 0 && pool.idleCount === 0 && pool.totalCount >= pool.options.max;
  return { name: 'pool_wait', required: false, check: async () => (exhausted() ? 'waiting' : null) };
}
