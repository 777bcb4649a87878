import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { join } from 'node:path';
import { createPool } from '../../src/db/pool.js';
import type { BenchServers } from './servers.js';

/** On what it was measured: a number without it says nothing. */
export interface Machine {
  readonly when: string;
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  /** Over 1, 5 and 15 minutes, before the run: above the cores, somebody else works here too. */
  readonly load: readonly number[];
  readonly versions: Readonly<Record<string, string>>;
  /** PostgreSQL's, as they are in force. */
  readonly settings: Readonly<Record<string, string>>;
}

const SETTINGS = [
  ...['fsync', 'synchronous_commit', 'full_page_writes', 'wal_level', 'shared_buffers', 'max_wal_size'],
  ...['checkpoint_timeout', 'max_connections', 'jit', 'data_checksums'],
];

export async function describeMachine(servers: BenchServers, load: readonly number[]): Promise<Machine> {
  const database = await servers.openDatabase('machine');
  const pool = createPool(database.url, { max: 1, applicationName: 'bench' });
  try {
    const { rows } = await pool.query<{ name: string; setting: string; version: string }>(
      `select name, current_setting(name) as setting, current_setting('server_version') as version
       from pg_settings where name = any ($1) order by name`,
      [SETTINGS],
    );
    return {
      when: new Date().toISOString(),
      cores: cpus().length,
      processor: cpus()[0]?.model ?? 'unknown',
      memoryGb: Math.round(totalmem() / 1_024 ** 3),
      load: load.map((value) => Math.round(value * 100) / 100),
      versions: {
        node: process.versions.node,
        postgres: rows[0]?.version ?? 'unknown',
        temporal: await temporalVersion(servers.temporalAddress),
        sdk: packageVersion(servers.repository, '@temporalio/worker'),
        pg: packageVersion(servers.repository, 'pg'),
        commit: commitOf(servers.repository),
      },
      settings: Object.fromEntries(rows.map(({ name, setting }) => [name, setting])),
    };
  } finally {
    await pool.end();
    await database.drop();
  }
}

/** Load of the machine now. */
export function loadNow(): readonly number[] {
  return loadavg();
}

async function temporalVersion(address: string): Promise<string> {
  const { Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address });
  try {
    return (await connection.workflowService.getSystemInfo({})).serverVersion ?? 'unknown';
  } finally {
    await connection.close();
  }
}

function packageVersion(repository: string, name: string): string {
  const manifest = readFileSync(join(repository, 'node_modules', name, 'package.json'), 'utf8');
  return String((JSON.parse(manifest) as { version: unknown }).version);
}

function commitOf(repository: string): string {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
    const changed = git('status', '--porcelain', '--', 'src', 'bench', 'migrations') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' and changes' : ''}`;
  } catch {
    // Not a checkout.
    return 'unknown';
  }
}
