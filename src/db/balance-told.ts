import type { BalanceSourceKey } from './balance-mirror.js';
import type { WaitingRow } from './inbox.js';
import type { Tx } from './transaction.js';

/** A notification that waits, with its body: for balances it carries the facts itself. */
export interface ToldRow extends WaitingRow {
  readonly body: Buffer;
}

/** The oldest notifications of a source whose time has come. */
export async function selectTold(db: Tx, key: BalanceSourceKey, most: number): Promise<ToldRow[]> {
  return db.query<ToldRow>(
    `select id, subject_ref as ref, armed, body from sverka.inbox
      where provider = $1 and endpoint = $2 and book = $3 and subject_type = 'transaction' and status = 'pending'
        and (attempts = 0 or next_attempt_at <= clock_timestamp())
      order by received_at, id limit $4`,
    [key.provider, key.account, key.book, most],
  );
}
