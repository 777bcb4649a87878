import { schemaVersion } from '../../db/migrate.js';
import type { Tx } from '../../db/transaction.js';
import { schemaCheck } from '../../http/checks.js';
import { toFailure } from '../failure.js';
import { type Finding, missing, ok } from './finding.js';

/** Further apart than this, signatures with a time in them and expiries begin to go wrong. */
const CLOCK_APART_MS = 5_000;

/** PostgreSQL answers, has the schema of this version, gives this role what it needs, and shows our time. */
export async function checkPostgres(db: Tx, now: () => number = Date.now): Promise<Finding[]> {
  try {
    await db.query('select 1');
  } catch (error) {
    const fix = 'Start it (`npm start` does), or correct `databaseUrl` of the profile.';
    return [missing('postgres', toFailure(error).message, fix)];
  }
  const found = [ok('postgres', 'answers'), await checkSchema(db)];
  return [...found, await checkClock(db, now), ...(await checkRole(db))];
}

async function checkSchema(db: Tx): Promise<Finding> {
  const built = await schemaVersion();
  const apart = await schemaCheck(db)
    .check()
    .catch(() => 'schema_behind');
  if (apart === null) return ok('schema', `version ${built}`);
  if (apart === 'schema_behind') {
    return missing(
      'schema',
      `older than version ${built}, which this command line knows`,
      'Migrate: `npm start` does.',
    );
  }
  return missing('schema', `newer than version ${built}`, 'Update this checkout: git pull && npm ci.');
}

async function checkRole(db: Tx): Promise<Finding[]> {
  const sql = `select to_regprocedure('sverka.create_merchant(text, text, text, text)') is not null
    and has_function_privilege('sverka.create_merchant(text, text, text, text)', 'execute') as may`;
  const [row] = await db.query<{ may: boolean }>(sql).catch(() => []);
  if (row?.may) return [ok('role', 'may do what an admin does')];
  const fix = 'Give the profile the console role’s URL: it reads everything and executes the admin’s functions.';
  return [missing('role', 'the role of this profile may not do what an admin does', fix)];
}

async function checkClock(db: Tx, now: () => number): Promise<Finding> {
  const asked = now();
  const [row] = await db.query<{ time: Date }>('select clock_timestamp() as time');
  const answered = now();
  const time = row?.time.getTime() ?? 0;
  const apart = Math.max(asked - time, time - answered, 0);
  if (apart <= CLOCK_APART_MS) return ok('clock', 'as PostgreSQL’s');
  const detail = `${Math.round(apart / 1_000)} s apart from PostgreSQL’s`;
  return missing('clock', detail, 'Set both machines by a time server (NTP): signatures and expiries depend on it.');
}
