import type { Tx } from './transaction.js';

/** An alert as a person sees it. */
export interface AlertRecord {
  readonly id: string;
  readonly key: string;
  readonly kind: string;
  readonly book: string | null;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly detail: string;
  readonly state: 'open' | 'resolved';
  /** How often it was raised. */
  readonly times: number;
  readonly traceId: string | null;
  readonly openedAt: Date;
  readonly lastSeenAt: Date;
  readonly resolvedAt: Date | null;
}

/** Everything of an alert. */
export const ALERT_SELECT = `select id, key, kind, book, subject_type as "subjectType", subject_id as "subjectId", detail, state, times,
    trace_id as "traceId", opened_at as "openedAt", last_seen_at as "lastSeenAt", resolved_at as "resolvedAt"
  from sverka.alert`;

/** Opened last first; one row more than `limit` when there is more. An alert of no book belongs to both. */
export async function listAlerts(
  db: Tx,
  of: { readonly all: boolean; readonly book: string | null },
  page: { readonly limit: number; readonly after: string | null },
): Promise<AlertRecord[]> {
  return db.query<AlertRecord>(
    `${ALERT_SELECT} where ($1 or state = 'open') and ($2::text is null or book is null or book = $2)
       and ($3::text is null or (opened_at, id) < (select c.opened_at, c.id from sverka.alert c where c.id = $3))
     order by opened_at desc, id desc limit $4`,
    [of.all, of.book, page.after, page.limit + 1],
  );
}

/** The open alert of that key; null when there is none. */
export async function findOpenAlert(db: Tx, key: string): Promise<AlertRecord | null> {
  const rows = await db.query<AlertRecord>(`${ALERT_SELECT} where key = $1 and state = 'open'`, [key]);
  return rows[0] ?? null;
}

/** Open alerts by kind, the commonest first. */
export async function countOpenAlerts(db: Tx): Promise<{ kind: string; count: number }[]> {
  return db.query<{ kind: string; count: number }>(
    `select kind, count(*)::int as count from sverka.alert where state = 'open'
      group by kind order by count(*) desc, kind`,
  );
}
