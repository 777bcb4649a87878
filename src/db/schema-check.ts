import { schemaVersion } from './migrate.js';
import type { Tx } from './transaction.js';

/** Null when the database has exactly the migrations of this build; else which of the two is behind. */
export async function schemaCheck(db: Tx): Promise<'schema_behind' | 'schema_ahead' | null> {
  const [wanted, rows] = await Promise.all([
    schemaVersion(),
    db.query<{ version: number }>('select version from sverka.schema_version'),
  ]);
  const found = Number(rows[0]?.version ?? 0);
  return found === wanted ? null : found < wanted ? 'schema_behind' : 'schema_ahead';
}
