import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { migrate } from '../../src/db/migrate.js';
import { startGuard } from '../../src/local/guard.js';
import { freePort } from '../../src/local/ports.js';
import { ensureDatabase, preparePostgres } from '../../src/local/postgres.js';
import { setRolePasswords } from '../../src/local/role-passwords.js';
import type { TestDatabase, TestRole } from './test-database.js';

/** A PostgreSQL of the test's own, with our schema: one that may be killed, stopped and started again. */
export interface OwnPostgres extends TestDatabase {
  /** The server's data folder. */
  readonly dataFolder: string;
  /** `kill -9` of the server; resolves when it is gone. What was not written through is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same folder and waits until it answers. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Spawned as our child and reaped, so that a killed one never keeps its folder locked. */
export async function openOwnPostgres(): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), `sverka-test-${process.pid}-own-`));
  chmodSync(folder, 0o711);
  const guard = startGuard({ label: folder });
  const port = await freePort();
  const { child: spec, dataFolder, url } = await preparePostgres({ state: folder, port, logFile: '/dev/null' });
  let server: ChildProcess | undefined;
  const start = async () => {
    const { cwd, env, owner } = spec;
    server = spawn(spec.command, spec.args, { cwd, env, stdio: 'ignore', ...(owner ?? {}) });
    guard.add({ pid: server.pid ?? 0, signal: 'SIGQUIT', stage: 0 });
    while (spec.isReady === 'message' || !(await spec.isReady())) {
      if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}.`);
      await pause(20);
    }
  };
  const end = async (signal: NodeJS.Signals) => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill(signal);
    await gone;
    guard.drop(server.pid ?? 0);
  };
  await start();
  await ensureDatabase({ adminUrl: url('postgres'), name: 'sverka' });
  await migrate(url('sverka'));
  const urls: Record<TestRole, string> = await setRolePasswords(url('sverka'));
  return {
    url: url('sverka'),
    dataFolder,
    urlFor: (role) => urls[role],
    kill: () => end('SIGKILL'),
    start,
    async close() {
      await end('SIGQUIT');
      guard.done();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
