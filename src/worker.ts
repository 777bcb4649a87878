import { NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import { createActivities } from './activities/create-activities.js';
import type { ActivityDeps } from './activities/deps.js';
import { breakerLimits, guardProvider } from './activities/guard-client.js';
import { createActivityInterceptor } from './activities/interceptor.js';
import { nudgeBalances } from './client/balances.js';
import { startCardChange } from './client/card-changes.js';
import { startDepositAddress } from './client/deposit-addresses.js';
import { nudgeDeposit } from './client/deposits.js';
import { nudgeIssuance, startIssuance } from './client/issuances.js';
import { keepStanding } from './client/keep-standing.js';
import { startCardLoad } from './client/loads.js';
import { ensureStanding } from './client/standing.js';
import { connectTemporal, temporalConnection } from './client/temporal.js';
import { nudgeWithdrawal } from './client/withdrawals.js';
import { createPool } from './db/pool.js';
import { queriesOf } from './db/transaction.js';
import { breakersCheck, postgresCheck, schemaCheck, standingCheck, temporalCheck } from './http/checks.js';
import { startOps } from './http/ops.js';
import { createProviders } from './providers/create-providers.js';
import { createKeyProvider } from './providers/keys/create-key-provider.js';
import { keySettings } from './providers/keys/key-settings.js';
import { beginProcess, runUntilStopped } from './run-process.js';
import { createLog } from './telemetry/log.js';
import { runtimeOptions } from './telemetry/temporal-runtime.js';
import { createWorkers } from './temporal-workers.js';

const config = beginProcess();
const log = createLog({ process: 'worker', level: config.SVERKA_LOG_LEVEL, file: config.SVERKA_LOG_FILE });
Runtime.install(runtimeOptions({ log, metricsAddress: `${config.SVERKA_OPS_HOST}:${config.SVERKA_METRICS_PORT}` }));

const pool = createPool(config.DATABASE_URL, { max: config.SVERKA_DATABASE_POOL, applicationName: 'sverka-worker' });
const db = queriesOf(pool);
const behind = await schemaCheck(db).check();
if (behind)
  throw new Error(`The database is not of this build (${behind}): run the migrations, then start the worker.`);

const providers = createProviders(config);
const temporal = connectTemporal(config);
const limits = breakerLimits(config);
const keys = createKeyProvider(keySettings(config, config.SVERKA_PROVIDER_TIMEOUT));
const deps: ActivityDeps = {
  pool,
  config,
  log,
  custody: guardProvider(db, { provider: 'custody', clientOf: providers.custody }, limits),
  issuer: guardProvider(db, { provider: 'issuer', clientOf: providers.issuer }, limits),
  pert: guardProvider(db, { provider: 'pert', clientOf: providers.pert }, limits),
  keys,
  nudgeDeposit: (input, options) => nudgeDeposit(temporal, input, options),
  startDepositAddress: (input) => startDepositAddress(temporal, input),
  nudgeIssuance: (of) => nudgeIssuance(temporal, of),
  startIssuance: (input) => startIssuance(temporal, input),
  startCardLoad: (input) => startCardLoad(temporal, input),
  startCardChange: (input) => startCardChange(temporal, input),
  nudgeWithdrawal: (input) => nudgeWithdrawal(temporal, input),
  nudgeBalances: (input) => nudgeBalances(temporal, input),
};
const connection = await NativeConnection.connect(temporalConnection(config));
const workers = await createWorkers({
  connection,
  config,
  activities: createActivities(deps),
  interceptor: (context) => createActivityInterceptor(deps, context),
});
await ensureStanding(temporal, config);
const standing = keepStanding(temporal, config, (error) =>
  log.error('standing workflows and schedules could not be made sure of; the next turn tries again', { error }),
);
const running = Promise.all(workers.map((worker) => worker.run()));
const state = () => workers.map((worker: Worker) => worker.getState());

const ops = await startOps({
  process: 'worker',
  host: config.SVERKA_OPS_HOST,
  port: config.SVERKA_OPS_PORT,
  live: () => state().every((each) => each !== 'FAILED' && each !== 'STOPPED'),
  checks: [
    postgresCheck(db),
    schemaCheck(db),
    // A worker whose server is gone still says RUNNING, so the server is asked.
    { ...temporalCheck(temporal), required: true },
    {
      name: 'worker',
      required: true,
      check: async () => (state().every((each) => each === 'RUNNING') ? null : 'not_running'),
    },
    // Held at start: an undeclared create or a short secret does not start.
    { name: 'providers', required: true, check: async () => null },
    breakersCheck(db),
    standingCheck(temporal, config),
  ],
});

await runUntilStopped({
  log,
  failed: running,
  stop: async () => {
    ops.shuttingDown();
    await standing.stop();
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
    await connection.close();
    await temporal.connection.close();
    await providers.close();
    await keys.close();
    await pool.end();
    await ops.close();
  },
});
