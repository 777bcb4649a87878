import { showInitials } from '../domain/cardholder.js';
import type { Tx } from './transaction.js';

/** What stands in clear of a cardholder; no initials once he is erased. */
export interface SeenCardholder {
  readonly initials: string | null;
  readonly country: string;
}

/**
 * Who a cardholder is, as far as it stands in clear, for a person of ours: the look leaves an audit row in the same
 * commit, and the console's role reads it by no other way. Null when there is none. Throws `Refused` for anybody else.
 */
export async function lookAtCardholder(
  db: Tx,
  of: { readonly id: string; readonly userId: string; readonly traceId: string },
): Promise<SeenCardholder | null> {
  const [row] = await db.query<{ first: string | null; last: string | null; country: string }>(
    'select first_initial as first, last_initial as last, country from sverka.look_at_cardholder($1, $2, $3)',
    [of.id, of.userId, of.traceId],
  );
  return row ? { initials: showInitials(row.first, row.last), country: row.country } : null;
}
