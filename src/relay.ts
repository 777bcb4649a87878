import { hostname } from 'node:os';
import { connectTemporal } from './client/temporal.js';
import { Retryable, Unavailable } from './db/errors.js';
import { acceptDeliveries, type Delivery } from './db/inbox.js';
import { createPool } from './db/pool.js';
import { oldestPendingSeconds, relayHeartbeat } from './db/relay-heartbeat.js';
import { retrying } from './db/retrying.js';
import { queriesOf } from './db/transaction.js';
import { postgresCheck, schemaCheck, temporalCheck } from './http/checks.js';
import { listen } from './http/listen.js';
import { startOps } from './http/ops.js';
import { createRelayApp } from './http/relay/app.js';
import { createBatcher } from './http/relay/batcher.js';
import { createEndpoints, type SealBody } from './http/relay/endpoints.js';
import { createRelayNudge } from './http/relay/nudge.js';
import { createPublicKeySource } from './providers/keys/keyring.js';
import { sealBytes } from './providers/keys/seal-bytes.js';
import { beginProcess, runUntilStopped } from './run-process.js';
import { createLog } from './telemetry/log.js';
import { createCounter, createMetrics } from './telemetry/metrics.js';

/** A backlog older than this is shown as degraded. */
const BACKLOG_SECONDS = 60;
const HEARTBEAT_MS = 10_000;

const config = beginProcess();
const log = createLog({ process: 'relay', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
const pool = createPool(config.DATABASE_URL, { max: config.SVERKA_DATABASE_POOL, applicationName: 'sverka-relay' });
const db = queriesOf(pool);
const temporal = connectTemporal(config);
const metrics = createMetrics();
const counted = createCounter(metrics, {
  name: 'sverka_webhooks_refused_total',
  help: 'Notifications not taken.',
  labels: ['provider', 'endpoint', 'what'],
});
const totals = { rejected: 0, failed: 0 };

const publicKey = config.SVERKA_PUBLIC_KEYS_FILE ? createPublicKeySource(config.SVERKA_PUBLIC_KEYS_FILE) : null;
const seal: SealBody | null = publicKey && ((body, place) => sealBytes(publicKey(), body, place));
if (!seal) log.warn('No public key is configured, so bodies of an issuer are not kept: set SVERKA_PUBLIC_KEYS_FILE.');

const accept = createBatcher((batch: readonly Delivery[]) => retrying(() => acceptDeliveries(db, batch)), {
  isOutage: (error) => error instanceof Unavailable || error instanceof Retryable,
  lanes: 2,
  deadlineMs: config.SVERKA_RELAY_DEADLINE,
});
const nudge = createRelayNudge({ temporal, db }, (error) =>
  log.warn('a nudge did not arrive; the sweep will come for it', { error }),
);
const app = createRelayApp({
  endpoints: createEndpoints(config.providers, seal ? { seal } : {}),
  log,
  rateLimit: config.SVERKA_RELAY_RATE_LIMIT,
  accept,
  nudge: nudge.nudge,
  count: (what, endpoint) => {
    totals[what] += 1;
    counted.inc({ provider: endpoint.provider, endpoint: endpoint.name, what });
  },
});
const heartbeat = setInterval(() => {
  relayHeartbeat(db, `${hostname()}:${process.pid}`, totals).catch((error: unknown) =>
    log.warn('the heartbeat was not stored', { error }),
  );
}, HEARTBEAT_MS);

const ops = await startOps({
  process: 'relay',
  host: config.SVERKA_OPS_HOST,
  port: config.SVERKA_OPS_PORT,
  metrics: () => metrics.text(),
  checks: [
    postgresCheck(db),
    schemaCheck(db),
    // Held by loadConfig: a short secret does not start.
    { name: 'secrets', required: true, check: async () => null },
    temporalCheck(temporal),
    {
      name: 'inbox',
      required: false,
      check: async () => ((await oldestPendingSeconds(db)) > BACKLOG_SECONDS ? 'backlog' : null),
    },
  ],
});
const listener = await listen(app, { host: config.SVERKA_HOST, port: config.SVERKA_RELAY_PORT });

await runUntilStopped({
  log,
  stop: async () => {
    ops.shuttingDown();
    clearInterval(heartbeat);
    await listener.close(5_000);
    await nudge.idle();
    await temporal.connection.close();
    await pool.end();
    await ops.close();
  },
});
