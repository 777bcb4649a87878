import { DECISION_CHOICES } from '../contracts/decision.js';
import type { Book } from '../domain/books.js';
import { hashSeen } from './decisions.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

export type DeadLetterChoice = (typeof DECISION_CHOICES.dead_letter)[number];

/**
 * A notification that failed for its own fault too often, or was parked at the door, with no attempt and no subject:
 * kept for a person, replayed only by one (R11).
 */
export interface DeadLetterRecord {
  readonly id: string;
  readonly inboxId: string;
  readonly book: Book;
  readonly provider: string;
  readonly endpoint: string;
  readonly subjectType: string | null;
  readonly subjectRef: string | null;
  readonly reason: string;
  readonly attempts: number;
  /** How often a person has had it tried again. */
  readonly replays: number;
  readonly createdAt: Date;
  readonly closedAt: Date | null;
  readonly closedHow: 'abandoned' | 'applied' | null;
}

/** Everything of a dead letter; alias `l`, its notification `i`. */
export const DEAD_LETTER_SELECT = `select l.id, l.inbox_id as "inboxId", l.book, i.provider, i.endpoint,
    i.subject_type as "subjectType", i.subject_ref as "subjectRef", l.reason, l.attempts, l.replays,
    l.created_at as "createdAt", l.closed_at as "closedAt", l.closed_how as "closedHow"
  from sverka.dead_letter l join sverka.inbox i on i.id = l.inbox_id`;

/** Newest first, one row more than `limit` when there is more; `open` leaves out those that are closed. */
export async function listDeadLetters(
  db: Tx,
  of: { readonly open: boolean; readonly book: string | null },
  page: { readonly limit: number; readonly after: string | null },
): Promise<DeadLetterRecord[]> {
  return db.query<DeadLetterRecord>(
    `${DEAD_LETTER_SELECT} where (not $1 or l.closed_at is null) and ($2::text is null or l.book = $2)
       and ($3::text is null or (l.created_at, l.id) <
         (select c.created_at, c.id from sverka.dead_letter c where c.id = $3))
     order by l.created_at desc, l.id desc limit $4`,
    [of.open, of.book, page.after, page.limit + 1],
  );
}

export async function findDeadLetter(db: Tx, id: string): Promise<DeadLetterRecord | null> {
  const rows = await db.query<DeadLetterRecord>(`${DEAD_LETTER_SELECT} where l.id = $1`, [id]);
  return rows[0] ?? null;
}

/** What a person is shown of a dead letter, and the decision is bound to. */
export function hashSeenDeadLetter(letter: DeadLetterRecord): Buffer {
  return hashSeen([letter.id, letter.reason, letter.attempts, letter.replays, letter.closedHow]);
}

/** Parks the row and keeps it for a person; one letter for each, however often it dies. */
export async function buryRow(
  tx: Tx,
  row: { readonly inboxId: string; readonly reason: string; readonly attempts: number },
  traceId: string,
): Promise<void> {
  const { inboxId, reason, attempts } = row;
  await tx.query('select sverka.bury($1, $2, $3, $4, $5)', [newId('deadLetter'), inboxId, reason, attempts, traceId]);
}

/** Locks the notification, then its letter: in this order everywhere. */
export async function lockDeadLetter(tx: Tx, id: string): Promise<void> {
  await tx.query('select sverka.lock_dead_letter($1)', [id]);
}

/**
 * `replay`: the row is pending again with a fresh count, at once; `abandon`: the letter is closed. Throws `Refused`
 * without a person's open decision to do that.
 */
export async function decideDeadLetter(tx: Tx, id: string, choice: DeadLetterChoice): Promise<void> {
  await tx.query('select sverka.decide_dead_letter($1, $2)', [id, choice]);
}

/** What can be decided on it: one that names nothing has nothing to be tried with. */
export function choicesOf(letter: DeadLetterRecord): readonly DeadLetterChoice[] {
  if (letter.closedAt !== null) return [];
  return DECISION_CHOICES.dead_letter.filter((choice) => choice !== 'replay' || letter.subjectRef !== null);
}

/** Closes those whose row was done after all, and their alerts: by a replay, or because the record came readable. */
export async function closeAppliedDeadLetters(db: Tx): Promise<void> {
  await db.query(
    `select sverka.resolve_alert('dead_letter:' || inbox_id)
       from sverka.close_applied_dead_letters() closed(inbox_id) order by inbox_id`,
  );
  // What was parked at the door has one alert for each endpoint and reason.
  await db.query(
    `select sverka.resolve_alert(a.key) from sverka.alert a
      where a.kind = 'parked_notification' and a.state = 'open' and not exists (
        select from sverka.dead_letter l join sverka.inbox i on i.id = l.inbox_id
         where l.closed_at is null and a.key = 'parked:' || i.provider || ':' || i.endpoint || ':' || l.reason)
      order by a.key`,
  );
}
