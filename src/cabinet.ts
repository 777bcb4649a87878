import { connectTemporal } from './client/temporal.js';
import { nudgeWithdrawal } from './client/withdrawals.js';
import { createPool } from './db/pool.js';
import { queriesOf } from './db/transaction.js';
import { createCabinetApp } from './http/cabinet/app.js';
import { poolWaitCheck, postgresCheck, schemaCheck, signInCheck, temporalCheck } from './http/checks.js';
import { listen } from './http/listen.js';
import { startOps } from './http/ops.js';
import { createIdentityProvider } from './http/pages/identity-provider.js';
import { beginProcess, runUntilStopped } from './run-process.js';
import { createLog } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';

/** Pages that run when a stop begins may end within this time. */
const DRAIN_MS = 5_000;
/** A reader gets a page that says so rather than silence from a server that no longer answers. */
const QUERY_TIMEOUT_MS = 10_000;

const config = beginProcess();
const log = createLog({ process: 'cabinet', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
const metrics = createMetrics();
const pool = createPool(config.DATABASE_URL, {
  max: config.SVERKA_DATABASE_POOL,
  applicationName: 'sverka-cabinet',
  queryTimeoutMs: QUERY_TIMEOUT_MS,
  onError: (error) => log.warn('An idle database connection broke; the pool opens another.', { error }),
});
const db = queriesOf(pool);
const temporal = connectTemporal(config);
const identityProvider = createIdentityProvider(config);
const localLinks = config.SVERKA_LOCAL_LINKS === 'on' && identityProvider === null;
let stopping = false;

const app = createCabinetApp({
  ...{ db, pool, log, metrics, localLinks, identityProvider },
  stopping: () => stopping,
  origin: config.SVERKA_CABINET_URL,
  nudge: (input) =>
    nudgeWithdrawal(temporal, input).catch((error: unknown) =>
      log.warn('Temporal was not told of a withdrawal; the sweep finds it.', { error }),
    ),
});
const ops = await startOps({
  process: 'cabinet',
  host: config.SVERKA_OPS_HOST,
  port: config.SVERKA_OPS_PORT,
  checks: [
    ...[postgresCheck(db), schemaCheck(db), signInCheck({ localLinks, identityProvider })],
    ...[temporalCheck(temporal), poolWaitCheck(pool)],
  ],
  metrics: metrics.text,
});
const listener = await listen(app.fetch, { host: config.SVERKA_HOST, port: config.SVERKA_CABINET_PORT });

await runUntilStopped({
  log,
  stop: async () => {
    stopping = true;
    ops.shuttingDown();
    await listener.close(DRAIN_MS);
    await temporal.connection.close();
    await pool.end();
    await ops.close();
  },
});
