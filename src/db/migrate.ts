import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';

const FOLDER = fileURLToPath(new URL('../../migrations/', import.meta.url));
const FILE_NAME = /^([0-9]{6})_[a-z0-9_]+\.sql$/;
/** Any number that is ours alone: the transaction lock that makes migrators of one database wait for each other. */
const LOCK = '7301460093114';
/** A migrator waits this long for another one, or for a lock on a table, before it gives up. */
const WAIT = '60s';

/**
 * Brings the database to the newest schema: every file of `migrations/` that it has not had, in order of number, all in
 * one transaction under a transaction lock. So any number of migrators may start at once, also through PgBouncer in
 * transaction mode, and a failure leaves nothing behind. Answers the names it applied; none when there was nothing.
 * Throws what PostgreSQL said, with the file's name in front. `folder` is another one for tests alone.
 */
export async function migrate(databaseUrl: string, folder = FOLDER): Promise<{ applied: string[] }> {
  await migrationFiles(folder);
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'sverka-migrate' });
  client.on('error', () => undefined); // the query in flight reports it
  await client.connect();
  const messages: string[] = [];
  const keep = (message: string) => void messages.push(message);
  try {
    await client.query('BEGIN');
    await client.query(`SET LOCAL lock_timeout = '${WAIT}'`);
    await client.query('SET LOCAL statement_timeout = 0');
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`);
    const applied = await runner({
      dbClient: client,
      dir: folder,
      direction: 'up',
      migrationsSchema: 'sverka',
      createMigrationsSchema: true,
      migrationsTable: 'schema_migration',
      noLock: true, // the session lock it would take does not survive PgBouncer; ours is the transaction's
      singleTransaction: true,
      logger: { debug: () => undefined, info: keep, warn: keep, error: keep },
    });
    await client.query('COMMIT');
    return { applied: applied.map((migration) => migration.name) };
  } catch (error) {
    const at = messages.findLast((message) => message.startsWith('### MIGRATION'))?.split(' ')[2];
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `The database was not migrated${at === undefined ? '' : ` (migrations/${at}.sql)`}: ${reason}. ` +
        'Nothing was changed; correct the cause and run the migration again.',
      { cause: error },
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** The number of the last migration on disk: what `sverka.schema_version` has to show before a process may work. */
export async function schemaVersion(): Promise<number> {
  const files = await migrationFiles(FOLDER);
  return Number(files.at(-1)?.slice(0, 6) ?? 0);
}

/** The migrations on disk in order; throws where a name is not six digits and words, or a number is there twice. */
async function migrationFiles(folder: string): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  const numbers = new Set<string>();
  for (const name of files) {
    const number = FILE_NAME.exec(name)?.[1];
    if (number === undefined) throw new Error(`migrations/${name}: name it six digits, "_", lower-case words, ".sql".`);
    if (numbers.has(number))
      throw new Error(`migrations/${name}: number ${number} is there twice; take the next free.`);
    numbers.add(number);
  }
  return files;
}
