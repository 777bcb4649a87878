import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { withClient } from '../../src/local/postgres.js';

export type TestRole = 'worker' | 'gateway' | 'relay' | 'console' | 'cabinet' | 'reports' | 'simulators';

export interface TestDatabase {
  /** For the owner, a superuser. */
  readonly url: string;
  /** For one of our roles. */
  urlFor(role: TestRole): string;
  /** Drops it. Throws, naming them, when connections are still open: a pool was not ended. */
  close(): Promise<void>;
}

/** PostgreSQL takes a moment to end a session after its client has left. */
const GOODBYE_MS = 3_000;
const CLONE_WITHIN_MS = 30_000;

/** A fresh database with the whole schema, a clone of the run's template (0.1 s): one per test file, or per test. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const adminUrl = required('TEST_DATABASE_ADMIN_URL');
  const roleUrls = JSON.parse(required('TEST_DATABASE_ROLE_URLS')) as Record<TestRole, string>;
  const name = databaseName();
  await clone({ adminUrl, name, template: required('TEST_DATABASE_TEMPLATE') });
  return {
    url: withDatabase(adminUrl, name),
    urlFor: (role) => withDatabase(roleUrls[role], name),
    close: () => drop(adminUrl, name),
  };
}

/** The file's name is part of it, so that a database somebody left open tells whose it is. */
function databaseName(): string {
  const file = basename(expect.getState().testPath ?? 'unknown', '.test.ts');
  const readable = file
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .slice(0, 40);
  return `test_${readable}_${randomBytes(4).toString('hex')}`;
}

async function clone(input: { adminUrl: string; name: string; template: string }): Promise<void> {
  const until = Date.now() + CLONE_WITHIN_MS;
  await withClient(input.adminUrl, async (client) => {
    for (;;) {
      try {
        await client.query(`CREATE DATABASE ${input.name} TEMPLATE ${input.template}`);
        return;
      } catch (error) {
        // 55006: the template is busy. Others that collide here are races of two clones as well.
        const code = error instanceof Error && 'code' in error ? String(error.code) : '';
        if (!['55006', '40P01', '57014'].includes(code) || Date.now() > until) throw error;
        await pause(50);
      }
    }
  });
}

async function drop(adminUrl: string, name: string): Promise<void> {
  const left = await withClient(adminUrl, async (client) => {
    const until = Date.now() + GOODBYE_MS;
    for (;;) {
      const found = await client.query<{ usename: string; application_name: string; state: string; query: string }>(
        `SELECT usename, application_name, state, left(query, 80) AS query FROM pg_stat_activity
          WHERE datname = $1 AND backend_type = 'client backend'`,
        [name],
      );
      if (found.rows.length === 0 || Date.now() > until) {
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`);
        return found.rows;
      }
      await pause(20);
    }
  });
  if (left.length === 0) return;
  const lines = left.map((row) => `  ${row.usename} (${row.application_name}), ${row.state}: ${row.query}`);
  throw new Error(`${left.length} connections were still open; end each pool before close():\n${lines.join('\n')}`);
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

function required(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set. Run tests by \`npm test\`; files below test/unit have no servers.`);
}
