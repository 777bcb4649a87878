import { logUnaccepted } from './client/accepted.js';
import { startCardChange } from './client/card-changes.js';
import { requestDepositAddress } from './client/deposit-addresses.js';
import { requestIssuance } from './client/issuances.js';
import { requestCardLoad } from './client/loads.js';
import { findRunningRequest } from './client/request-progress.js';
import { connectTemporal } from './client/temporal.js';
import { createPool } from './db/pool.js';
import { retrying } from './db/retrying.js';
import { inTransaction, queriesOf } from './db/transaction.js';
import {
  fingerprintKeyCheck,
  poolWaitCheck,
  postgresCheck,
  publicKeyCheck,
  schemaCheck,
  temporalCheck,
} from './http/checks.js';
import { createGatewayApp } from './http/gateway/app.js';
import { listen } from './http/listen.js';
import { startOps } from './http/ops.js';
import { createPublicKeySource } from './providers/keys/keyring.js';
import { beginProcess, runUntilStopped } from './run-process.js';
import { createLog } from './telemetry/log.js';
import { createMetrics } from './telemetry/metrics.js';

/** Calls that run when a stop begins may end within this time; a create waits 10 s at most, but gives up its wait. */
const DRAIN_MS = 5_000;
/** A caller gets 503 rather than silence from a server that no longer answers; our queries take milliseconds. */
const QUERY_TIMEOUT_MS = 5_000;

const config = beginProcess();
const log = createLog({ process: 'gateway', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
const metrics = createMetrics();
const pool = createPool(config.DATABASE_URL, {
  max: config.SVERKA_DATABASE_POOL,
  applicationName: 'sverka-gateway',
  queryTimeoutMs: QUERY_TIMEOUT_MS,
  onError: (error) => log.warn('An idle database connection broke; the pool opens another.', { error }),
});
const db = queriesOf(pool);
const temporal = connectTemporal(config);
const publicKey = config.SVERKA_PUBLIC_KEYS_FILE ? createPublicKeySource(config.SVERKA_PUBLIC_KEYS_FILE) : null;
let stopping = false;

const app = createGatewayApp({
  config,
  db,
  transact: (work) => retrying(() => inTransaction(pool, work)),
  publicKey,
  log,
  metrics,
  stopping: () => stopping,
  starts: {
    depositAddress: async (input, deadlineMs) =>
      logUnaccepted(log, await requestDepositAddress(temporal, input, deadlineMs)),
    issuance: async (input, deadlineMs) => logUnaccepted(log, await requestIssuance(temporal, input, deadlineMs)),
    cardLoad: async (input, deadlineMs) => logUnaccepted(log, await requestCardLoad(temporal, input, deadlineMs)),
    cardChange: (input) => startCardChange(temporal, input),
    findRunning: (of) => findRunningRequest(temporal, of),
  },
});
const ops = await startOps({
  process: 'gateway',
  host: config.SVERKA_OPS_HOST,
  port: config.SVERKA_OPS_PORT,
  checks: [
    postgresCheck(db),
    schemaCheck(db),
    publicKeyCheck(publicKey),
    fingerprintKeyCheck(config.SVERKA_FINGERPRINT_KEY),
    temporalCheck(temporal),
    poolWaitCheck(pool),
  ],
  metrics: metrics.text,
});
const listener = await listen(app.fetch, { host: config.SVERKA_HOST, port: config.SVERKA_GATEWAY_PORT });

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
