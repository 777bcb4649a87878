import type { Context } from '@temporalio/activity';
import { DefaultLogger, type Logger, NativeConnection, Runtime, type Worker } from '@temporalio/worker';
import type pg from 'pg';
import { createActivities } from '../../src/activities/create-activities.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { createActivityInterceptor } from '../../src/activities/interceptor.js';
import { nudgeBalances } from '../../src/client/balances.js';
import { startCardChange } from '../../src/client/card-changes.js';
import { startDepositAddress } from '../../src/client/deposit-addresses.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { nudgeIssuance, startIssuance } from '../../src/client/issuances.js';
import { startCardLoad } from '../../src/client/loads.js';
import { connectTemporal, type Temporal } from '../../src/client/temporal.js';
import { nudgeWithdrawal } from '../../src/client/withdrawals.js';
import { type Config, loadConfig } from '../../src/config.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf, type Tx } from '../../src/db/transaction.js';
import { createProviders, type Providers } from '../../src/providers/create-providers.js';
import { silentLog } from '../../src/telemetry/log.js';
import { createWorkers } from '../../src/temporal-workers.js';
import { type SimulatedCustody, startSimulatedCustody, TEST_SECRET } from './simulated-custody.js';
import { type SimulatedPert, startSimulatedPert } from './simulated-pert.js';
import { openTestDatabase, type TestDatabase } from './test-database.js';
import { testKeyring } from './test-keyring.js';
import { testTemporal, uniqueTaskQueue } from './test-temporal.js';
import { startWorldIssuer, type WorldIssuer } from './world-issuer.js';

/** Everything a flow needs but a worker: database, simulated providers, Temporal, and the deps of activities. */
export interface WorkerWorld {
  readonly database: TestDatabase;
  /** The owner of the database: for what a test prepares and asserts. */
  readonly owner: pg.Pool;
  readonly tx: Tx;
  readonly custody: SimulatedCustody;
  readonly issuer: WorldIssuer;
  /** A provider of balances, where one was asked for. */
  readonly pert: SimulatedPert | null;
  readonly temporal: Temporal;
  readonly config: Config;
  /** What a process of ours would be given. */
  readonly env: Readonly<Record<string, string>>;
  readonly deps: ActivityDeps;
  readonly providers: Providers;
  /** Starts workers on the world's task queues; every one must be stopped before `close`. */
  startWorker(options?: WorkerOptions): Promise<RunningWorker>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  /** Another bundle than the run's. */
  readonly bundlePath?: string;
  readonly maxCachedWorkflows?: number;
  /** Where this worker works, when that is not where the world is. */
  readonly namespace?: string;
  /** Other keys of payloads than the world's; null: none. */
  readonly keysFile?: string | null;
  /** Wraps what activities are given: gates, counters, lost answers. */
  readonly deps?: (deps: ActivityDeps) => ActivityDeps;
  /** Wraps or replaces the activities themselves. */
  readonly activities?: (activities: object) => object;
}

export interface RunningWorker {
  stop(): Promise<void>;
}

/** Waits as short as they can be; polls and sweeps so rare that none happens unless a test asks for it. */
const SETTINGS = {
  SVERKA_DATABASE_POOL: '40',
  SVERKA_SWEEP_INTERVAL: '100ms',
  SVERKA_SWEEP_GRACE: '1ms',
  SVERKA_UNKNOWN_LOOKUP_INTERVAL: '700ms',
  SVERKA_UNKNOWN_LOOKUP_INTERVAL_MAX: '3s',
  SVERKA_DEPOSIT_POLL_INTERVAL: '1h',
  SVERKA_DEPOSIT_NOT_FOUND_INTERVAL: '50ms',
  SVERKA_MISCONFIGURED_INTERVAL: '200ms',
  SVERKA_PROVIDER_TIMEOUT: '2s',
  SVERKA_STICKY_TIMEOUT: '500ms',
} as const;

export interface WorldOptions {
  /** Names of `src/config.ts`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly namespace?: string;
  readonly address?: string;
  /** With a provider of balances, whose account `pert-main` is mirrored. */
  readonly pert?: boolean;
}

/** Opens a world of its own on the run's Temporal. */
export async function openWorkerWorld(options: WorldOptions = {}): Promise<WorkerWorld> {
  const [database, custody, issuer, pert] = await Promise.all([
    openTestDatabase(),
    startSimulatedCustody(),
    startWorldIssuer(),
    options.pert === true ? startSimulatedPert() : null,
  ]);
  const { address, namespace } = testTemporal();
  const env = {
    ...SETTINGS,
    DATABASE_URL: database.urlFor('worker'),
    TEMPORAL_ADDRESS: options.address ?? address,
    TEMPORAL_NAMESPACE: options.namespace ?? namespace,
    SVERKA_TASK_QUEUE: uniqueTaskQueue(),
    ...custodySettings(custody.url),
    ...issuer.settings,
    ...(pert === null ? {} : pertSettings(pert.url)),
    SVERKA_KEYRING_FILE: testKeyring().file,
    ...options.settings,
  };
  const config = loadConfig(env);
  const owner = createPool(database.url, { max: 4, applicationName: 'test' });
  const pool = createPool(config.DATABASE_URL, { max: config.SVERKA_DATABASE_POOL, applicationName: 'test-worker' });
  const providers = createProviders(config);
  const temporal = connectTemporal(config);
  const deps: ActivityDeps = {
    pool,
    config,
    log: silentLog,
    custody: providers.custody,
    issuer: providers.issuer,
    pert: providers.pert,
    keys: testKeyring().keys,
    nudgeDeposit: (input, how) => nudgeDeposit(temporal, input, how),
    startDepositAddress: (input) => startDepositAddress(temporal, input),
    nudgeIssuance: (of) => nudgeIssuance(temporal, of),
    startIssuance: (input) => startIssuance(temporal, input),
    startCardLoad: (input) => startCardLoad(temporal, input),
    startCardChange: (input) => startCardChange(temporal, input),
    nudgeWithdrawal: (input) => nudgeWithdrawal(temporal, input),
    nudgeBalances: (input) => nudgeBalances(temporal, input),
  };
  let native: NativeConnection | undefined;
  const world: WorkerWorld = {
    database,
    owner,
    tx: queriesOf(owner),
    custody,
    issuer,
    pert,
    temporal,
    config,
    env,
    deps,
    providers,
    async startWorker(how = {}) {
      installRuntime();
      native ??= await NativeConnection.connect({ address: config.TEMPORAL_ADDRESS });
      return startWorkers(world, native, how);
    },
    async close() {
      await native?.close();
      await temporal.connection.close();
      await Promise.all([providers.close(), pool.end(), owner.end()]);
      await Promise.all([database.close(), custody.close(), issuer.close(), pert?.close()]);
    },
  };
  return world;
}

let installed = false;

/**
 * Once in a process: what the SDK warns of is not part of a test's output. Only where a worker follows, for without
 * one nothing would ever end the runtime, nor the process.
 */
export function installRuntime(logger: Logger = new DefaultLogger('ERROR')): void {
  if (installed) return;
  installed = true;
  Runtime.install({
    logger,
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: { core: 'ERROR', other: 'ERROR' }, forward: {} } },
  });
}

function custodySettings(url: string): Record<string, string> {
  return {
    SVERKA_LIVE_CUSTODY_URL: url,
    SVERKA_LIVE_CUSTODY_API_KEY: 'live-key',
    SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: TEST_SECRET,
    SVERKA_TEST_CUSTODY_URL: url,
    SVERKA_TEST_CUSTODY_API_KEY: 'test-key',
    SVERKA_TEST_CUSTODY_WEBHOOK_SECRETS: `other ${TEST_SECRET}`,
  };
}

function pertSettings(url: string): Record<string, string> {
  return {
    SVERKA_LIVE_PERT_URL: url,
    SVERKA_LIVE_PERT_API_KEY: 'live-key',
    SVERKA_LIVE_PERT_WEBHOOK_SECRETS: TEST_SECRET,
  };
}

async function startWorkers(
  world: WorkerWorld,
  connection: NativeConnection,
  { bundlePath, maxCachedWorkflows, namespace, keysFile, deps, activities }: WorkerOptions,
): Promise<RunningWorker> {
  const given = deps ? deps(world.deps) : world.deps;
  const created = createActivities(given);
  const workers: Worker[] = await createWorkers({
    connection,
    config: {
      ...world.config,
      SVERKA_WORKFLOW_BUNDLE: bundlePath ?? testTemporal().bundlePath,
      TEMPORAL_NAMESPACE: namespace ?? world.config.TEMPORAL_NAMESPACE,
      SVERKA_PAYLOAD_KEYS_FILE:
        keysFile === undefined ? world.config.SVERKA_PAYLOAD_KEYS_FILE : (keysFile ?? undefined),
    },
    activities: activities ? activities(created) : created,
    interceptor: (context: Context) => createActivityInterceptor(given, context),
    ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
  });
  const running = Promise.all(workers.map((worker) => worker.run()));
  return {
    async stop() {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await running;
    },
  };
}
