import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../../src/db/migrate.js';
import { createSupervisor } from '../../src/local/children.js';
import { startGuard } from '../../src/local/guard.js';
import { localPaths } from '../../src/local/paths.js';
import { choosePorts } from '../../src/local/ports.js';
import { ensureDatabase, preparePostgres, withClient } from '../../src/local/postgres.js';
import { isRunning } from '../../src/local/process-info.js';
import { setRolePasswords } from '../../src/local/role-passwords.js';
import { temporalChild } from '../../src/local/temporal.js';
import { findTemporalCli } from '../../src/local/temporal-programs.js';
import { ensureWorkflowBundle } from '../../src/local/workflow-bundle.js';

const TEMPLATE = 'sverka_template';
const FOLDER_PREFIX = 'sverka-test-';

export interface TestServers {
  /** For `process.env`: what test-database.ts and test-temporal.ts read. */
  readonly environment: Readonly<Record<string, string>>;
  /** Names of databases that test files opened and did not close. */
  leftOpen(): Promise<string[]>;
  stop(): Promise<void>;
}

/** One PostgreSQL with a migrated template, one Temporal in memory and one workflow bundle for the whole run. */
export async function startTestServers(env: NodeJS.ProcessEnv): Promise<TestServers> {
  sweepDeadRuns();
  const paths = localPaths(env);
  const folder = mkdtempSync(join(tmpdir(), `${FOLDER_PREFIX}${process.pid}-`));
  chmodSync(folder, 0o711);
  const guard = startGuard({ label: folder });
  const supervisor = createSupervisor({ guard, onNotice: (line) => process.stderr.write(`${line}\n`) });
  const stop = async () => {
    await supervisor.kill();
    guard.done();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    const ports = await choosePorts(['postgres', 'temporal']);
    const [database, bundle] = await Promise.all([
      startPostgres(),
      ensureWorkflowBundle({ repository: paths.repository, folder: paths.bundles }),
      startTemporal(),
    ]);
    return {
      environment: {
        ...database,
        TEST_TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
        TEST_WORKFLOW_BUNDLE: bundle,
      },
      leftOpen: () => openDatabases(database.TEST_DATABASE_ADMIN_URL),
      stop,
    };

    async function startPostgres() {
      const logFile = join(folder, 'postgres.log');
      // fsync stays on: a race that only durable commits lose must be able to show.
      const server = await preparePostgres({ state: folder, port: ports.postgres, logFile, maxConnections: 400 });
      await supervisor.start(server.child);
      await ensureDatabase({ adminUrl: server.url('postgres'), name: TEMPLATE });
      await migrate(server.url(TEMPLATE));
      const roleUrls = await setRolePasswords(server.url(TEMPLATE));
      await withClient(server.url('postgres'), (client) =>
        client.query(`ALTER DATABASE ${TEMPLATE} IS_TEMPLATE true ALLOW_CONNECTIONS false`),
      );
      return {
        TEST_DATABASE_ADMIN_URL: server.url('postgres'),
        TEST_DATABASE_TEMPLATE: TEMPLATE,
        TEST_DATABASE_ROLE_URLS: JSON.stringify(roleUrls),
      };
    }

    async function startTemporal() {
      const program = await findTemporalCli(env, paths);
      const logFile = join(folder, 'temporal.log');
      const options = {
        program,
        port: ports.temporal,
        uiPort: null,
        store: null,
        cwd: folder,
        logFile,
        namespace: 'default',
      };
      await supervisor.start(temporalChild(options));
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openDatabases(adminUrl: string): Promise<string[]> {
  return withClient(adminUrl, async (client) => {
    const found = await client.query<{ datname: string }>(
      `SELECT datname FROM pg_database WHERE datname LIKE 'test\\_%' ORDER BY datname`,
    );
    return found.rows.map((row) => row.datname);
  });
}

/** A run that was ended from outside could not remove its folder; its guard ended its processes. */
function sweepDeadRuns(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(name.startsWith(FOLDER_PREFIX) ? name.slice(FOLDER_PREFIX.length).split('-')[0] : Number.NaN);
    if (Number.isNaN(pid) || isRunning(pid)) continue;
    const folder = join(tmpdir(), name);
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }
}
