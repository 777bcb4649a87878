import type pg from 'pg';
import { connectTemporal, type Temporal } from './client/temporal.js';
import type { Config } from './config.js';
import { createPool } from './db/pool.js';
import { queriesOf, type Tx } from './db/transaction.js';
import { postgresCheck, schemaCheck } from './http/checks.js';
import { listen } from './http/listen.js';
import { type OpsCheck, startOps } from './http/ops.js';
import { beginProcess, runUntilStopped } from './run-process.js';
import { createLog, type Log } from './telemetry/log.js';
import { createMetrics, type Metrics } from './telemetry/metrics.js';

/** Calls that run when a stop begins may end within this time. */
const DRAIN_MS = 5_000;

/** What every process that answers HTTP stands on. */
export interface HttpProcess {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly pool: pg.Pool;
  readonly db: Tx;
  readonly temporal: Temporal;
  /** True from the first step of an ordered stop: what would wait gives up its wait. */
  readonly stopping: () => boolean;
  /** Answers until the process shall stop; never returns. */
  readonly serve: (what: Serving) => Promise<never>;
}

export interface Serving {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly port: number;
  /** Beside PostgreSQL and its schema, which all of them need. */
  readonly checks: readonly OpsCheck[];
  /** Once no call is left, before the connections are closed. */
  readonly drained?: () => Promise<void>;
}

/**
 * Opens what a process that answers HTTP stands on, named `sverka-<name>` in PostgreSQL.
 * @param queryTimeoutMs a caller gets an answer that says so rather than silence from a server that no longer answers
 */
export function openHttpProcess(
  name: 'gateway' | 'relay' | 'console' | 'cabinet',
  queryTimeoutMs?: number,
): HttpProcess {
  const config = beginProcess();
  const log = createLog({ process: name, level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
  const metrics = createMetrics();
  const pool = createPool(config.DATABASE_URL, {
    max: config.SVERKA_DATABASE_POOL,
    applicationName: `sverka-${name}`,
    ...(queryTimeoutMs === undefined ? {} : { queryTimeoutMs }),
    onError: (error) => log.warn('An idle database connection broke; the pool opens another.', { error }),
  });
  const db = queriesOf(pool);
  const temporal = connectTemporal(config);
  let stopping = false;

  async function serve({ fetch, port, checks, drained }: Serving): Promise<never> {
    const ops = await startOps({
      process: name,
      host: config.SVERKA_OPS_HOST,
      port: config.SVERKA_OPS_PORT,
      checks: [postgresCheck(db), schemaCheck(db), ...checks],
      metrics: metrics.text,
    });
    const listener = await listen(fetch, { host: config.SVERKA_HOST, port });
    return await runUntilStopped({
      log,
      stop: async () => {
        stopping = true;
        ops.shuttingDown();
        await listener.close(DRAIN_MS);
        await drained?.();
        await temporal.connection.close();
        await pool.end();
        await ops.close();
      },
    });
  }
  return { config, log, metrics, pool, db, temporal, stopping: () => stopping, serve };
}
