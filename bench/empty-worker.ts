import { NativeConnection, Runtime } from '@temporalio/worker';
import { loadConfig } from '../src/config.js';
import type { DepositSeen, IssuanceInput, IssuanceReserved, IssuanceSeen } from '../src/contracts/messages.js';
import { runUntilStopped } from '../src/run-process.js';
import { createLog } from '../src/telemetry/log.js';
import { runtimeOptions } from '../src/telemetry/temporal-runtime.js';
import { createWorkers } from '../src/temporal-workers.js';

// The floor of `deposit` and `issuance`: the same workflows from the same bundle under the same worker options; their
// activities answer constants, and no interceptor of ours stands around them.
const SEEN: DepositSeen = {
  state: 'final',
  depositId: 'dep_00000000000000000000000000',
  merchantId: 'mer_00000000000000000000000000',
  reason: null,
  needsOperator: false,
  ended: true,
  waitMs: null,
};

const CARD = {
  cardId: 'card_00000000000000000000000000',
  merchantId: 'mer_00000000000000000000000000',
  reason: null,
  needsOperator: false,
  waitMs: null,
} as const;
const SUBMITTED: IssuanceSeen = { ...CARD, state: 'submitted', next: 'create' };
const ACTIVE: IssuanceSeen = { ...CARD, state: 'active', next: 'end' };

async function reserved({ request }: IssuanceInput): Promise<IssuanceReserved> {
  const resource = { type: 'card', id: CARD.cardId, made: true };
  const accepted = { fingerprint: request.fingerprint, resource, refusal: null };
  return { accepted, issuanceId: 'iss_00000000000000000000000000' };
}

const config = loadConfig();
const log = createLog({ process: 'worker', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
Runtime.install(runtimeOptions({ log, metricsAddress: `${config.SVERKA_OPS_HOST}:${config.SVERKA_METRICS_PORT}` }));
const connection = await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
const workers = await createWorkers({
  connection,
  config,
  activities: {
    providerReadDeposit: async () => SEEN,
    databaseReserveIssuance: reserved,
    databaseSubmitIssuance: async () => SUBMITTED,
    providerCreateIssuance: async () => ACTIVE,
  },
  interceptor: () => ({}),
});
const running = Promise.all(workers.map((worker) => worker.run()));

await runUntilStopped({
  log,
  failed: running,
  stop: async () => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
    await connection.close();
  },
});
