import type { Tx } from './transaction.js';

/** One external feed: which account at which provider, and what is paged. */
export interface SourceKey {
  readonly book: string;
  readonly provider: string;
  readonly account: string;
  readonly feed: string;
}

const KEY = 'book = $1 and provider = $2 and account = $3 and feed = $4';

/** The position from which the next page is read; null before the first page. Makes the row when it is not there. */
export async function readCursor(db: Tx, key: SourceKey): Promise<string | null> {
  const params = [key.book, key.provider, key.account, key.feed];
  await db.query(
    'insert into sverka.source (book, provider, account, feed) values ($1, $2, $3, $4) on conflict do nothing',
    params,
  );
  const rows = await db.query<{ cursor: string | null }>(`select cursor from sverka.source where ${KEY}`, params);
  return rows[0]?.cursor ?? null;
}

/**
 * Locks the position for the commit of a page that was read from it; waiting is pointless, so NOWAIT (SQLSTATE 55P03).
 * False when another reader has moved it meanwhile: then the page is thrown away and read again.
 */
export async function lockCursor(tx: Tx, key: SourceKey, readFrom: string | null): Promise<boolean> {
  const rows = await tx.query<{ cursor: string | null }>(
    `select cursor from sverka.source where ${KEY} for no key update nowait`,
    [key.book, key.provider, key.account, key.feed],
  );
  return rows[0] !== undefined && rows[0].cursor === readFrom;
}

/**
 * Moves the position in the page's own commit. A page without a next cursor keeps the old one (R3);
 * answers how often that has happened in a row.
 */
export async function moveCursor(tx: Tx, key: SourceKey, next: string | null): Promise<number> {
  const rows = await tx.query<{ missing: number }>(
    `update sverka.source set cursor = coalesce($5, cursor), last_page_at = clock_timestamp(),
       missing_cursors = case when $5::text is null then missing_cursors + 1 else 0 end
     where ${KEY} returning missing_cursors as missing`,
    [key.book, key.provider, key.account, key.feed, next],
  );
  return rows[0]?.missing ?? 0;
}
