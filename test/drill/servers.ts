import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate } from '../../src/db/migrate.js';
import { createSupervisor } from '../../src/local/children.js';
import { startGuard } from '../../src/local/guard.js';
import { localPaths } from '../../src/local/paths.js';
import { accepts, choosePorts } from '../../src/local/ports.js';
import { ensureDatabase, preparePostgres, withClient } from '../../src/local/postgres.js';
import { sendSignal } from '../../src/local/process-info.js';
import { setRolePasswords } from '../../src/local/role-passwords.js';
import { temporalChild } from '../../src/local/temporal.js';
import { findTemporalCli } from '../../src/local/temporal-programs.js';
import { ensureWorkflowBundle } from '../../src/local/workflow-bundle.js';

const TEMPLATE = 'sverka_template';
const UP_WITHIN_MS = 60_000;

/** A PostgreSQL and a Temporal of the drill's own, which it may kill; both are started again when they die. */
export interface DrillServers {
  /** For `process.env`: what test-database.ts and test-temporal.ts read. */
  readonly environment: Readonly<Record<string, string>>;
  /** kill -9 of the postmaster and all its backends; resolves when PostgreSQL answers again. */
  killPostgres(): Promise<void>;
  /** kill -9; with `lost` its store is gone too. Resolves when it takes connections again. */
  killTemporal(store: 'kept' | 'lost'): Promise<void>;
  stop(): Promise<void>;
}

export async function startDrillServers(env: NodeJS.ProcessEnv): Promise<DrillServers> {
  const paths = localPaths(env);
  const folder = mkdtempSync(join(tmpdir(), `sverka-drill-${process.pid}-`));
  chmodSync(folder, 0o711);
  const guard = startGuard({ label: folder });
  const pids = new Map<string, number>();
  const supervisor = createSupervisor({ guard, onPid: (name, pid) => void pids.set(name, pid) });
  const stop = async () => {
    await supervisor.kill();
    guard.done();
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  };
  try {
    const ports = await choosePorts(['postgres', 'temporal']);
    const logFile = join(folder, 'postgres.log');
    const server = await preparePostgres({ state: folder, port: ports.postgres, logFile, maxConnections: 400 });
    const store = join(folder, 'temporal.db');
    const [database, bundle] = await Promise.all([
      startPostgres(),
      ensureWorkflowBundle({ repository: paths.repository, folder: paths.bundles }),
      startTemporal(),
    ]);
    const reachable = {
      postgres: () => withClient(server.url('postgres'), (client) => client.query('select 1')).then(() => true),
      temporal: () => accepts({ host: '127.0.0.1', port: ports.temporal }),
    };
    const kill = async (name: keyof typeof reachable, also: () => void): Promise<void> => {
      const pid = killAll(pids.get(name));
      also();
      await until(async () => pids.get(name) !== pid && (await reachable[name]().catch(() => false)));
    };
    return {
      environment: {
        ...database,
        TEST_TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
        TEST_WORKFLOW_BUNDLE: bundle,
      },
      killPostgres: () => kill('postgres', () => undefined),
      killTemporal: (what) =>
        kill('temporal', () => {
          if (what === 'kept') return;
          for (const file of [store, `${store}-wal`, `${store}-shm`]) rmSync(file, { force: true });
        }),
      stop,
    };

    async function startPostgres() {
      await supervisor.start(server.child);
      await ensureDatabase({ adminUrl: server.url('postgres'), name: TEMPLATE });
      await migrate(server.url(TEMPLATE));
      const roleUrls = await setRolePasswords(server.url(TEMPLATE));
      return {
        TEST_DATABASE_ADMIN_URL: server.url('postgres'),
        TEST_DATABASE_TEMPLATE: TEMPLATE,
        TEST_DATABASE_ROLE_URLS: JSON.stringify(roleUrls),
      };
    }

    async function startTemporal() {
      const program = await findTemporalCli(env, paths);
      const options = { program, port: ports.temporal, uiPort: null, store, cwd: folder, namespace: 'default' };
      await supervisor.start(temporalChild({ ...options, logFile: join(folder, 'temporal.log') }));
    }
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The process and those that it has started; answers its id. */
function killAll(pid: number | undefined): number {
  if (pid === undefined) throw new Error('It does not run.');
  for (const each of [pid, ...childrenOf(pid)]) sendSignal(each, 'SIGKILL');
  return pid;
}

/** Linux only; elsewhere the backends find out by themselves that their postmaster is gone. */
function childrenOf(parent: number): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | null {
  try {
    const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(/\) /);
    return Number(rest.split(' ')[1]);
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

async function until(ask: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + UP_WITHIN_MS; Date.now() < end; ) {
    if (await ask()) return;
    await pause(50);
  }
  throw new Error('A killed server did not come back.');
}
