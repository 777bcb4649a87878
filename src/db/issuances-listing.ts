import type { IssuanceRecord } from '../contracts/card.js';
import { ISSUANCE_COLUMNS, type IssuanceRow, toIssuanceRecord } from './issuances.js';
import type { Filters } from './lists.js';
import { narrowToEach, readSorted, type SortedPage } from './sorted-list.js';
import type { Tx } from './transaction.js';

/** What waits for a person: nobody knows whether a card was made, or the issuer contradicts what was asked for. */
export const WAITS_FOR_PERSON = "(i.state = 'unknown' or i.flag is not null or i.needs_operator)";

/** What lists of issuances read from. */
export const ISSUANCE_LIST = {
  select: `select ${ISSUANCE_COLUMNS} from sverka.issuance i`,
  table: 'sverka.issuance',
  alias: 'i',
} as const;

/**
 * Issuances of all merchants, newest first: for the operator's own tools. Filters are by column of `i`, several values
 * are OR. `waiting`: only those that wait for a person, the one that waits longest first. One row more than `limit`
 * when there is more.
 */
export async function listAllIssuances(
  db: Tx,
  of: { readonly filters: Filters; readonly waiting: boolean },
  page: Pick<SortedPage, 'limit' | 'after'>,
): Promise<IssuanceRecord[]> {
  const rows = await readSorted<IssuanceRow>(db, ISSUANCE_LIST, {
    page: { ...page, by: 'i.created_at', descending: !of.waiting },
    narrow(where) {
      if (of.waiting) where.add(() => WAITS_FOR_PERSON);
      narrowToEach(where, of.filters);
    },
  });
  return rows.map(toIssuanceRecord);
}

/** True when a person has to decide, as the list of the waiting has it. */
export function waitsForPerson({ state, flag, needsOperator }: IssuanceRecord): boolean {
  return state === 'unknown' || flag !== null || needsOperator;
}
