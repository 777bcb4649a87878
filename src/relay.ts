import { hostname } from 'node:os';
import { Retryable, Unavailable } from './db/errors.js';
import { acceptDeliveries, type Delivery } from './db/inbox.js';
import { oldestPendingSeconds, relayHeartbeat } from './db/relay-heartbeat.js';
import { retrying } from './db/retrying.js';
import { temporalCheck } from './http/checks.js';
import { createRelayApp } from './http/relay/app.js';
import { createBatcher } from './http/relay/batcher.js';
import { createEndpoints, type SealBody } from './http/relay/endpoints.js';
import { createRelayNudge } from './http/relay/nudge.js';
import { openHttpProcess } from './http-process.js';
import { createPublicKeySource } from './providers/keys/keyring.js';
import { sealBytes } from './providers/keys/seal-bytes.js';
import { createCounter } from './telemetry/metrics.js';

/** A backlog older than this is shown as degraded. */
const BACKLOG_SECONDS = 60;
const HEARTBEAT_MS = 10_000;

// No limit for a query: the batcher answers its callers by a deadline of its own.
const { config, log, metrics, db, temporal, serve } = openHttpProcess('relay');
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
const fetch = createRelayApp({
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

await serve({
  fetch,
  port: config.SVERKA_RELAY_PORT,
  checks: [
    // Held by loadConfig: a short secret does not start.
    { name: 'secrets', required: true, check: async () => null },
    temporalCheck(temporal),
    {
      name: 'inbox',
      required: false,
      check: async () => ((await oldestPendingSeconds(db)) > BACKLOG_SECONDS ? 'backlog' : null),
    },
  ],
  drained: async () => {
    clearInterval(heartbeat);
    await nudge.idle();
  },
});
