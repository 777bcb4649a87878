import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { ChildSpec } from './children.js';
import {
  findPostgresPrograms,
  isReachable,
  outsideFolder,
  type PostgresPrograms,
  privateFolder,
} from './postgres-programs.js';
import { commandLine, endProcess, errorCode, isRunning } from './process-info.js';

export interface PostgresOptions {
  /** Absolute; its `postgres` folder is used, or one in `/var/tmp` when PostgreSQL's user cannot reach it. */
  readonly state: string;
  readonly port: number;
  readonly logFile: string;
  readonly maxConnections?: number;
}

/** A cluster that is ready to be started. */
export interface PostgresServer {
  readonly child: ChildSpec;
  readonly dataFolder: string;
  /** URL of one of its databases for the owner (a superuser of this cluster alone). */
  url(database: string): string;
}

const OWNER = 'postgres';
const STOP_MS = 5_000;

/**
 * Makes the cluster on its first use (0.5 s) and ends one that a killed start left behind.
 * Throws when there are no programs, or the folder cannot be used.
 */
export async function preparePostgres(options: PostgresOptions): Promise<PostgresServer> {
  const programs = findPostgresPrograms(options.state);
  const folder = clusterFolder(options.state, programs);
  privateFolder(folder, programs.owner);
  const dataFolder = join(folder, 'data');
  const passwordFile = `${folder}.password`;
  if (!existsSync(join(dataFolder, 'PG_VERSION')) || !existsSync(passwordFile)) {
    await createCluster({ programs, folder, dataFolder, passwordFile });
  }
  await endLeftover(dataFolder);
  const password = readFileSync(passwordFile, 'utf8');
  const url = (database: string) => `postgres://${OWNER}:${password}@127.0.0.1:${options.port}/${database}`;
  return { dataFolder, url, child: serverChild({ options, programs, dataFolder, probeUrl: url('postgres') }) };
}

/** Creates a database of that name unless it is there. */
export async function ensureDatabase(input: { adminUrl: string; name: string }): Promise<void> {
  await withClient(input.adminUrl, async (client) => {
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [input.name]);
    if (found.rowCount === 0) await client.query(`CREATE DATABASE ${client.escapeIdentifier(input.name)}`);
  });
}

/** Runs `use` on one connection and closes it. */
export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    application_name: 'sverka-start',
  });
  // A connection that breaks between two queries makes the next one fail; the event itself must not end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

function clusterFolder(state: string, programs: PostgresPrograms): string {
  return join(isReachable(state, programs.owner) ? state : outsideFolder(state), 'postgres');
}

interface NewCluster {
  readonly programs: PostgresPrograms;
  readonly folder: string;
  readonly dataFolder: string;
  readonly passwordFile: string;
}

/** Made beside its place and moved there, so that a start killed in the middle leaves nothing half made. */
async function createCluster({ programs, folder, dataFolder, passwordFile }: NewCluster): Promise<void> {
  if (existsSync(join(dataFolder, 'PG_VERSION'))) {
    throw new Error(`${passwordFile} is gone, so ${dataFolder} cannot be opened. Restore it, or remove that folder.`);
  }
  const password = randomBytes(24).toString('base64url');
  const fresh = join(folder, 'data.new');
  const handedOver = join(folder, 'password.new');
  rmSync(fresh, { recursive: true, force: true });
  writeFileSync(handedOver, password, { mode: 0o600 });
  if (programs.owner) chownSync(handedOver, programs.owner.uid, programs.owner.gid);
  const settings = ['--encoding=UTF8', '--locale-provider=builtin', '--locale=C.UTF-8', '--no-sync'];
  const access = ['-U', OWNER, '--auth=scram-sha-256', `--pwfile=${handedOver}`];
  try {
    await runProgram({ command: programs.initdb, args: ['-D', fresh, ...access, ...settings], folder, programs });
  } finally {
    rmSync(handedOver, { force: true });
  }
  writeFileSync(passwordFile, password, { mode: 0o600 });
  renameSync(fresh, dataFolder);
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly programs: PostgresPrograms;
}

function runProgram({ command, args, folder, programs }: Program): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: folder, env: bareEnvironment(), ...(programs.owner ?? {}) });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
    child.once('error', (error) => reject(new Error(`${command} cannot be run: ${error.message}`)));
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}:\n${output.trimEnd()}`)),
    );
  });
}

interface Server {
  readonly options: PostgresOptions;
  readonly programs: PostgresPrograms;
  readonly dataFolder: string;
  readonly probeUrl: string;
}

function serverChild({ options, programs, dataFolder, probeUrl }: Server): ChildSpec {
  const settings = {
    port: options.port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: options.maxConnections ?? 200,
    timezone: 'UTC',
    log_timezone: 'UTC',
  };
  return {
    name: 'postgres',
    command: programs.postgres,
    args: ['-D', dataFolder, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    cwd: dataFolder,
    env: bareEnvironment(),
    logFile: options.logFile,
    owner: programs.owner,
    // SIGINT is PostgreSQL's fast shutdown: sessions are ended, everything is written.
    stopSignal: 'SIGINT',
    stage: 0,
    isReady: () => answers(probeUrl),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch (error) {
    // 28P01: it is up and our password is wrong; waiting would not help.
    if (errorCode(error) === '28P01') throw error;
    return false;
  }
}

/** A killed start may have left a server on this folder, or only its pid file with a number that now is another's. */
async function endLeftover(dataFolder: string): Promise<void> {
  const file = join(dataFolder, 'postmaster.pid');
  if (!existsSync(file)) return;
  const pid = Number.parseInt(readFileSync(file, 'utf8'), 10);
  if (Number.isNaN(pid) || !isRunning(pid)) return;
  if (commandLine(pid)?.includes(dataFolder)) await endProcess({ pid, signal: 'SIGINT', graceMs: STOP_MS });
  else rmSync(file, { force: true });
}

/** PostgreSQL sees nothing of our environment. */
function bareEnvironment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
}
