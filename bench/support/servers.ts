import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { migrate } from '../../src/db/migrate.js';
import { createSupervisor } from '../../src/local/children.js';
import { startGuard } from '../../src/local/guard.js';
import { localPaths } from '../../src/local/paths.js';
import { choosePorts } from '../../src/local/ports.js';
import { ensureDatabase, preparePostgres, withClient } from '../../src/local/postgres.js';
import { isRunning } from '../../src/local/process-info.js';
import { type LoginRole, setRolePasswords } from '../../src/local/role-passwords.js';
import { SEARCH_ATTRIBUTES, temporalChild } from '../../src/local/temporal.js';
import { findTemporalCli } from '../../src/local/temporal-programs.js';
import { ensureWorkflowBundle } from '../../src/local/workflow-bundle.js';

/** The servers that all benchmarks of a run use, both sides of each alike. */
export interface BenchServers {
  readonly temporalAddress: string;
  readonly bundlePath: string;
  readonly repository: string;
  /** For logs of what a benchmark starts. */
  readonly folder: string;
  /** Processes of the servers, for their share of the CPU. */
  readonly pids: { postgres: number; temporal: number };
  /** A fresh database with the whole schema. */
  openDatabase(name: string): Promise<BenchDatabase>;
  /** A namespace of Temporal's own, where the ids of standing workflows are free. */
  openNamespace(name: string): Promise<string>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  /** For the owner, a superuser. */
  readonly url: string;
  urlFor(role: LoginRole): string;
  drop(): Promise<void>;
}

const TEMPLATE = 'sverka_template';
const FOLDER_PREFIX = 'sverka-bench-';
const CONNECTIONS_MAX = 400;
const RETENTION_SECONDS = 86_400;
/** Numbers of Temporal's own enum. */
const ATTRIBUTE_TYPES = { Keyword: 2, Bool: 5 } as const;

/**
 * One PostgreSQL as `npm start` starts it (fsync on, its own defaults) and one Temporal with its store in a file, both
 * in a folder that `stop` removes. Throws what could not be started.
 */
export async function startBenchServers(options: {
  env: NodeJS.ProcessEnv;
  say: (line: string) => void;
}): Promise<BenchServers> {
  const { env, say } = options;
  sweepDeadRuns();
  const paths = localPaths(env);
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  chmodSync(folder, 0o711);
  const pids = { postgres: 0, temporal: 0 };
  const guard = startGuard({ label: folder });
  const supervisor = createSupervisor({
    guard,
    onNotice: say,
    onPid: (name, pid) => Object.assign(pids, { [name]: pid }),
  });
  const stop = async () => {
    await supervisor.kill();
    guard.done();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    const ports = await choosePorts(['postgres', 'temporal']);
    const bundlePath = await ensureWorkflowBundle({ repository: paths.repository, folder: paths.bundles });
    const postgres = await preparePostgres({
      state: folder,
      port: ports.postgres,
      logFile: join(folder, 'postgres.log'),
      maxConnections: CONNECTIONS_MAX,
    });
    await supervisor.start(postgres.child);
    const roleUrls = await prepareTemplate(postgres.url);
    await supervisor.start(
      temporalChild({
        program: await findTemporalCli(env, paths),
        port: ports.temporal,
        uiPort: null,
        store: join(folder, 'temporal.db'),
        cwd: folder,
        logFile: join(folder, 'temporal.log'),
        namespace: 'default',
      }),
    );
    const temporalAddress = `127.0.0.1:${ports.temporal}`;
    return {
      temporalAddress,
      bundlePath,
      repository: paths.repository,
      folder,
      pids,
      openDatabase: (name) => openDatabase(name, { adminUrl: postgres.url('postgres'), roleUrls }),
      openNamespace: (name) => openNamespace(name, temporalAddress),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepareTemplate(url: (database: string) => string): Promise<Record<LoginRole, string>> {
  await ensureDatabase({ adminUrl: url('postgres'), name: TEMPLATE });
  await migrate(url(TEMPLATE));
  return setRolePasswords(url(TEMPLATE));
}

async function openDatabase(
  name: string,
  { adminUrl, roleUrls }: { adminUrl: string; roleUrls: Record<LoginRole, string> },
): Promise<BenchDatabase> {
  const database = `bench_${name}_${randomBytes(4).toString('hex')}`;
  const run = (sql: string) => withClient(adminUrl, (client) => client.query(sql));
  await run(`create database ${database} template ${TEMPLATE}`);
  return {
    url: withDatabase(adminUrl, database),
    urlFor: (role) => withDatabase(roleUrls[role], database),
    drop: async () => void (await run(`drop database ${database} with (force)`)),
  };
}

async function openNamespace(name: string, address: string): Promise<string> {
  const namespace = `bench-${name}-${randomBytes(4).toString('hex')}`;
  const connection = await Connection.connect({ address });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: RETENTION_SECONDS, nanos: 0 } as never,
    });
    const attributes = Object.entries(SEARCH_ATTRIBUTES).map(([key, type]) => [key, ATTRIBUTE_TYPES[type]]);
    await connection.operatorService.addSearchAttributes({
      namespace,
      searchAttributes: Object.fromEntries(attributes),
    });
    return namespace;
  } finally {
    await connection.close();
  }
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** A run that was killed could not remove its folder; its guard ended its servers. */
function sweepDeadRuns(): void {
  for (const name of readdirSync(tmpdir()).filter((each) => each.startsWith(FOLDER_PREFIX))) {
    const pid = Number(name.slice(FOLDER_PREFIX.length).split('-')[0]);
    if (!isRunning(pid)) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}
