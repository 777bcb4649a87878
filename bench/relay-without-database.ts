import { nudgeDeposit } from '../src/client/deposits.js';
import { createNudger } from '../src/client/nudger.js';
import { connectTemporal } from '../src/client/temporal.js';
import { loadConfig } from '../src/config.js';
import type { DepositInput } from '../src/contracts/messages.js';
import { listen } from '../src/http/listen.js';
import { createRelayApp } from '../src/http/relay/app.js';
import { createEndpoints } from '../src/http/relay/endpoints.js';
import { runUntilStopped } from '../src/run-process.js';
import { createLog } from '../src/telemetry/log.js';

// The floor of `accept`: src/relay.ts to the letter, but what it takes is stored nowhere.
const config = loadConfig();
const log = createLog({ process: 'relay', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
const temporal = connectTemporal(config);
const nudger = createNudger(
  (input: DepositInput) => nudgeDeposit(temporal, input, { start: true }),
  (error) => log.warn('a nudge did not arrive; the sweep will come for it', { error }),
);
const app = createRelayApp({
  endpoints: createEndpoints(config.providers),
  log,
  rateLimit: config.SVERKA_RELAY_RATE_LIMIT,
  accept: async () => 'stored',
  nudge: ({ provider, endpoint, book, subject, traceId }) => {
    if (provider !== 'custody' || subject?.type !== 'deposit') return;
    nudger.nudge(`${endpoint} ${subject.ref}`, { book, provider, account: endpoint, ref: subject.ref, traceId });
  },
  count: () => undefined,
});
const listener = await listen(app, { host: config.SVERKA_HOST, port: config.SVERKA_RELAY_PORT });

await runUntilStopped({
  log,
  stop: async () => {
    await listener.close(5_000);
    await nudger.idle();
    await temporal.connection.close();
  },
});
