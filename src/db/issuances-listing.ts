import type { IssuanceRecord } from '../contracts/card.js';
import { ISSUANCE_COLUMNS, type IssuanceRow, toIssuanceRecord } from './issuances.js';
import { createWhere, type Filters } from './lists.js';
import type { Tx } from './transaction.js';

/** What waits for a person: nobody knows whether a card was made, or the issuer contradicts what was asked for. */
export const WAITS_FOR_PERSON = "(i.state = 'unknown' or i.flag is not null or i.needs_operator)";

/**
 * Issuances of all merchants, newest first: for the operator's own tools. Filters are by column of `i`, several values
 * are OR. `waiting`: only those that wait for a person, the one that waits longest first. One row more than `limit`
 * when there is more.
 */
export async function listAllIssuances(
  db: Tx,
  of: { readonly filters: Filters; readonly waiting: boolean },
  page: { readonly limit: number; readonly after: string | null },
): Promise<IssuanceRecord[]> {
  const where = createWhere();
  where.add(() => (of.waiting ? WAITS_FOR_PERSON : 'true'));
  for (const [column, values] of Object.entries(of.filters)) {
    if (values?.length) where.add((p) => `${column} = any (${p(values)}::text[])`);
  }
  const [beyond, direction] = of.waiting ? ['>', 'asc'] : ['<', 'desc'];
  if (page.after !== null) {
    where.add(
      (p) => `(i.created_at, i.id) ${beyond} (select created_at, id from sverka.issuance where id = ${p(page.after)})`,
    );
  }
  const rows = await db.query<IssuanceRow>(
    `select ${ISSUANCE_COLUMNS} from sverka.issuance i where ${where.sql()}
      order by i.created_at ${direction}, i.id ${direction} limit ${where.parameter(page.limit + 1)}`,
    where.params,
  );
  return rows.map(toIssuanceRecord);
}

/** True when a person has to decide, as the list of the waiting has it. */
export function waitsForPerson({ state, flag, needsOperator }: IssuanceRecord): boolean {
  return state === 'unknown' || flag !== null || needsOperator;
}
