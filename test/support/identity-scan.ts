import type { Tx } from '../../src/db/transaction.js';

/** Where a text was found: `sverka.request.path`. */
export type Found = string;

/**
 * Looks for texts in every column of every table of ours, in bytea as UTF-8, also in parts of a value. Answers where.
 * Case does not matter.
 */
export async function findInDatabase(owner: Tx, texts: readonly string[]): Promise<Found[]> {
  const columns = await owner.query<{ place: string; table: string; column: string; type: string }>(
    `select n.nspname || '.' || c.relname || '.' || a.attname as place, format('%I.%I', n.nspname, c.relname) as table,
        format('%I', a.attname) as column, t.typname as type
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_type t on t.oid = a.atttypid
      where n.nspname in ('sverka', 'ledger') and c.relkind = 'r' order by 1`,
  );
  const found: Found[] = [];
  for (const { place, table, column, type } of columns) {
    const isBytes = type === 'bytea';
    const shown = isBytes ? `encode(${column}, 'hex')` : `lower(${column}::text)`;
    const wanted = texts.map((text) => (isBytes ? Buffer.from(text, 'utf8').toString('hex') : text.toLowerCase()));
    const [row] = await owner.query(
      `select 1 as hit from ${table} where exists (
         select from unnest($1::text[]) wanted where position(wanted in ${shown}) > 0) limit 1`,
      [wanted],
    );
    if (row) found.push(place);
  }
  return found;
}

/** The texts that stand in one of these lines. */
export function findInLines(lines: readonly string[], texts: readonly string[]): string[] {
  const all = lines.join('\n').toLowerCase();
  return texts.filter((text) => all.includes(text.toLowerCase()));
}
