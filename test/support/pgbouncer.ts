import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { withClient } from '../../src/local/postgres.js';

/** PgBouncer in transaction mode, before the server of these URLs. */
export interface PgBouncer {
  /** The same URL, by way of PgBouncer. */
  through(url: string): string;
  close(): Promise<void>;
}

/**
 * True when PgBouncer is on PATH. Without it such a test is skipped and says so; in CI it has to be there (`.ci/run`
 * installs it), so the test runs and fails.
 */
export function canRunPgBouncer(): boolean {
  return process.env.CI === 'true' || spawnSync('pgbouncer', ['--version']).status === 0;
}

/** Starts one for users that log in as in `urls`, with at most `poolSize` connections to the server for each. */
export async function startPgBouncer(urls: readonly string[], poolSize: number): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-pgbouncer-'));
  const port = await freePort();
  const server = new URL(urls[0] ?? '');
  const users = urls.map((url) => new URL(url)).map(({ username, password }) => `"${username}" "${password}"`);
  const files = { users: join(folder, 'users.txt'), settings: join(folder, 'pgbouncer.ini') };
  writeFileSync(files.users, `${users.join('\n')}\n`);
  writeFileSync(
    files.settings,
    `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${files.users}
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
`,
  );
  const user = ownedByPostgres([folder, ...Object.values(files)]);
  const child = spawn('pgbouncer', ['-q', ...user, files.settings], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => {
    said += bytes.toString();
  });
  const through = (url: string) => {
    const changed = new URL(url);
    changed.hostname = '127.0.0.1';
    changed.port = String(port);
    return changed.href;
  };
  await answering(child, through(urls[0] ?? ''), () => said);
  return {
    through,
    close: async () => {
      if (child.exitCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PgBouncer refuses to run as root: it drops to `postgres`, which then has to be able to read its files. */
function ownedByPostgres(paths: readonly string[]): string[] {
  if (process.getuid?.() !== 0) return [];
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, 'postgres']).stdout.toString()));
  for (const path of paths) {
    chownSync(path, uid ?? 0, gid ?? 0);
    chmodSync(path, 0o700);
  }
  return ['-u', 'postgres'];
}

async function answering(child: ChildProcess, url: string, said: () => string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended at once: ${said()}`);
    try {
      await withClient(url, (client) => client.query('select 1'));
      return;
    } catch {
      // Not listening yet.
      await pause(20);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
