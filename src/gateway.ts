import { logUnaccepted } from './client/accepted.js';
import { startCardChange } from './client/card-changes.js';
import { requestDepositAddress } from './client/deposit-addresses.js';
import { requestIssuance } from './client/issuances.js';
import { requestCardLoad } from './client/loads.js';
import { findRunningRequest } from './client/request-progress.js';
import { retrying } from './db/retrying.js';
import { inTransaction } from './db/transaction.js';
import { fingerprintKeyCheck, poolWaitCheck, publicKeyCheck, temporalCheck } from './http/checks.js';
import { createGatewayApp } from './http/gateway/app.js';
import { openHttpProcess } from './http-process.js';
import { createPublicKeySource } from './providers/keys/keyring.js';

/** Our queries take milliseconds. */
const QUERY_TIMEOUT_MS = 5_000;

const { config, log, metrics, pool, db, temporal, stopping, serve } = openHttpProcess('gateway', QUERY_TIMEOUT_MS);
const publicKey = config.SVERKA_PUBLIC_KEYS_FILE ? createPublicKeySource(config.SVERKA_PUBLIC_KEYS_FILE) : null;

const app = createGatewayApp({
  config,
  db,
  transact: (work) => retrying(() => inTransaction(pool, work)),
  publicKey,
  log,
  metrics,
  stopping,
  starts: {
    depositAddress: async (input, deadlineMs) =>
      logUnaccepted(log, await requestDepositAddress(temporal, input, deadlineMs)),
    issuance: async (input, deadlineMs) => logUnaccepted(log, await requestIssuance(temporal, input, deadlineMs)),
    cardLoad: async (input, deadlineMs) => logUnaccepted(log, await requestCardLoad(temporal, input, deadlineMs)),
    cardChange: (input) => startCardChange(temporal, input),
    findRunning: (of) => findRunningRequest(temporal, of),
  },
});
await serve({
  fetch: app.fetch,
  port: config.SVERKA_GATEWAY_PORT,
  checks: [
    publicKeyCheck(publicKey),
    fingerprintKeyCheck(config.SVERKA_FINGERPRINT_KEY),
    temporalCheck(temporal),
    poolWaitCheck(pool),
  ],
});
