import type { Book } from '../domain/books.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** A verified notification, ready to be stored. */
export interface Delivery {
  readonly provider: string;
  readonly endpoint: string;
  readonly book: Book;
  readonly deliveryId: string;
  readonly body: Buffer;
  readonly eventType: string | null;
  readonly subject: { readonly type: string; readonly ref: string } | null;
  readonly parkedReason: string | null;
  readonly traceId: string;
  /** Of the original bytes, when `body` was masked. */
  readonly bodyHash: Buffer;
}

export type AcceptOutcome = 'stored' | 'duplicate' | 'conflict';

/** Stores a batch by the relay's one door; an outcome per delivery, in order. */
export async function acceptDeliveries(db: Tx, batch: readonly Delivery[]): Promise<AcceptOutcome[]> {
  const rows = await db.query<{ outcomes: AcceptOutcome[] }>(
    'select outcomes from sverka.inbox_accept($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
    [
      batch.map(() => newId('inbox')),
      batch.map((delivery) => delivery.provider),
      batch.map((delivery) => delivery.endpoint),
      batch.map((delivery) => delivery.book),
      batch.map((delivery) => delivery.deliveryId),
      batch.map((delivery) => delivery.body),
      batch.map((delivery) => delivery.bodyHash),
      batch.map((delivery) => delivery.eventType),
      batch.map((delivery) => delivery.subject?.type ?? null),
      batch.map((delivery) => delivery.subject?.ref ?? null),
      batch.map((delivery) => (delivery.parkedReason === null ? 'pending' : 'parked')),
      batch.map((delivery) => delivery.parkedReason),
      batch.map((delivery) => delivery.traceId),
    ],
  );
  return rows[0]?.outcomes ?? [];
}

/** Whose notifications: `endpoint` is the provider's account, which the route names. */
export interface InboxSubject {
  readonly book: string;
  readonly provider: string;
  readonly endpoint: string;
  readonly type: string;
  readonly ref: string;
}

/** A row that waits, as it was when it was selected. */
export interface WaitingRow {
  readonly id: string;
  /** What it speaks of. */
  readonly ref: string;
  /** How often it was made to wait: one that was left again meanwhile is another notification. */
  readonly armed: number;
}

/**
 * The rows that wait for this subject now. Select them *before* the provider's read begins: only these may be marked
 * as done by its apply, so that a nudge that arrives during the read is never lost (DESIGN 7).
 */
export async function selectWaiting(db: Tx, of: InboxSubject): Promise<WaitingRow[]> {
  return db.query<WaitingRow>(
    `select id, subject_ref as ref, armed from sverka.inbox
      where provider = $1 and endpoint = $2 and subject_type = $3 and subject_ref = $4
        and status in ('pending', 'unmatched') order by id`,
    [of.provider, of.endpoint, of.type, of.ref],
  );
}

/** The rows of a whole account that wait now, oldest first, at most 10 000: for a reader of pages, before its read. */
export async function selectAllWaiting(db: Tx, of: Omit<InboxSubject, 'ref' | 'book'>): Promise<WaitingRow[]> {
  return db.query<WaitingRow>(
    `select id, subject_ref as ref, armed from sverka.inbox
      where provider = $1 and endpoint = $2 and subject_type = $3 and status in ('pending', 'unmatched')
      order by received_at limit 10000`,
    [of.provider, of.endpoint, of.type],
  );
}

/** Locks the rows that wait still as they were selected, in id order for all, so that nobody waits in a circle. */
const STILL_WAITING = `still as (
  select i.id from sverka.inbox i join unnest($1::text[], $2::integer[]) r(id, armed) using (id, armed)
   where i.status in ('pending', 'unmatched') order by i.id for no key update of i)`;
const rowParams = (rows: readonly WaitingRow[]) => [rows.map(({ id }) => id), rows.map(({ armed }) => armed)];

/** Locks the rows before any other lock of the transaction but the cursor's (DESIGN 10). */
export async function lockWaiting(tx: Tx, rows: readonly WaitingRow[]): Promise<void> {
  if (rows.length > 0) await tx.query(`with ${STILL_WAITING} select from still`, rowParams(rows));
}

/** Done, in the transaction of the apply; what was left again since it was selected goes on waiting. */
export async function markDone(tx: Tx, rows: readonly WaitingRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.query(
    `with ${STILL_WAITING}
     update sverka.inbox i set status = 'done', done_at = clock_timestamp(), waits_for = null, attempts = 0
       from still where i.id = still.id`,
    rowParams(rows),
  );
}

/**
 * The record of these subjects was read and applied, so what was buried for it is done as well, and the sweep closes
 * its letter. What a person has abandoned stays as it is.
 */
export async function markBuriedDone(
  tx: Tx,
  of: Omit<InboxSubject, 'ref' | 'book'>,
  refs: readonly string[],
): Promise<void> {
  if (refs.length === 0) return;
  await tx.query(
    `with buried as (
       select i.id from sverka.inbox i
        where i.provider = $1 and i.endpoint = $2 and i.subject_type = $3 and i.subject_ref = any ($4)
          and i.status = 'parked'
          and exists (select from sverka.dead_letter l where l.inbox_id = i.id and l.closed_at is null)
        order by i.id for no key update of i)
     update sverka.inbox i set status = 'done', done_at = clock_timestamp(), waits_for = null, attempts = 0
       from buried where i.id = buried.id`,
    [of.provider, of.endpoint, of.type, refs],
  );
}

/** Kept until the thing it speaks of appears; it never creates money. */
export async function markUnmatched(
  tx: Tx,
  rows: readonly WaitingRow[],
  why: { reason: string; waitsFor: string | null },
): Promise<void> {
  await tx.query(
    `with ${STILL_WAITING}
     update sverka.inbox i set status = 'unmatched', reason = $3, waits_for = $4 from still where i.id = still.id`,
    [...rowParams(rows), why.reason, why.waitsFor],
  );
}

/** What waited for this thing is pending again, at once. */
export async function wakeUnmatched(tx: Tx, waitsFor: string): Promise<void> {
  await tx.query(
    `with woken as (
       select id from sverka.inbox where status = 'unmatched' and waits_for = $1 order by id for no key update)
     update sverka.inbox i set status = 'pending', waits_for = null, next_attempt_at = clock_timestamp()
       from woken where i.id = woken.id`,
    [waitsFor],
  );
}

/** What came under the issuer's id of a card before anybody knew whose it is, and is known by now, is pending again. */
export async function wakeKnownCards(tx: Tx): Promise<void> {
  await tx.query(
    `with woken as (
       select i.id from sverka.inbox i
        where i.status = 'unmatched' and i.waits_for like 'card:%' and exists (
          select from sverka.issuance s where s.book = i.book and s.provider = i.provider
            and s.provider_account = i.endpoint and s.provider_ref = i.subject_ref)
        order by i.id limit 100 for no key update of i)
     update sverka.inbox i set status = 'pending', waits_for = null, next_attempt_at = clock_timestamp()
       from woken where i.id = woken.id`,
  );
}

/** A row that nobody came for, claimed by the sweep. */
export interface ClaimedRow {
  id: string;
  provider: string;
  endpoint: string;
  book: Book;
  subjectType: string;
  subjectRef: string;
  traceId: string | null;
  receivedAt: Date;
}

const CLAIMED = `i.id, i.provider, i.endpoint, i.book, i.subject_type as "subjectType",
  i.subject_ref as "subjectRef", i.trace_id as "traceId", i.received_at as "receivedAt"`;

/**
 * Claims up to `most` pending rows whose time has come, in one short commit: another sweep skips them, and they come
 * again after `leaseMs` if nobody marks them done.
 */
export async function claimPending(
  db: Tx,
  limits: { most: number; graceMs: number; leaseMs: number },
): Promise<ClaimedRow[]> {
  return db.query<ClaimedRow>(
    `with due as (
       select id from sverka.inbox
        where status = 'pending' and subject_ref is not null and next_attempt_at <= clock_timestamp()
          and received_at <= clock_timestamp() - $2 * interval '1 millisecond'
        order by next_attempt_at limit $1 for no key update skip locked)
     update sverka.inbox i set next_attempt_at = clock_timestamp() + $3 * interval '1 millisecond'
       from due where i.id = due.id
     returning ${CLAIMED}`,
    [limits.most, limits.graceMs, limits.leaseMs],
  );
}

/**
 * What people decided on deposits and issuances is a reason to look, too: one row for each open decision, claimed by
 * whoever makes it. Answers those made now; if nobody comes for them they come again by `claimPending`.
 */
export async function claimDecided(db: Tx, limits: { most: number; leaseMs: number }): Promise<ClaimedRow[]> {
  return db.query<ClaimedRow>(
    `insert into sverka.inbox as i (id, provider, endpoint, book, delivery_id, body, body_hash, subject_type,
       subject_ref, status, reason, trace_id, next_attempt_at)
     select 'inb_0' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 25), d.provider, d.provider_account, d.book,
         'decision:' || c.id, '', sha256(''), d.named, d.ref, 'pending', 'decided', c.trace_id,
         clock_timestamp() + $2 * interval '1 millisecond'
       from sverka.decision c cross join lateral (
         select 'deposit' as named, s.provider, s.provider_account, s.book, s.provider_ref as ref
           from sverka.deposit s where c.subject_type = 'deposit' and s.id = c.subject_id
         union all
         select 'card', s.provider, s.provider_account, s.book, s.id
           from sverka.issuance s where c.subject_type = 'issuance' and s.id = c.subject_id) d
      where not exists (select from sverka.decision_outcome o where o.decision_id = c.id)
        and not exists (select from sverka.inbox n where n.provider = d.provider and n.endpoint = d.provider_account
          and n.delivery_id = 'decision:' || c.id)
      order by d.provider, d.provider_account, c.id limit $1
     on conflict (provider, endpoint, delivery_id) do nothing
     returning ${CLAIMED}`,
    [limits.most, limits.leaseMs],
  );
}

/**
 * One alert per subject that has been unmatched for longer than the bound, and none any more for one that is matched.
 * Answers how many it raised.
 */
export async function alertUnmatched(db: Tx, olderThanMs: number): Promise<number> {
  await db.query(
    `select sverka.resolve_alert(a.key) from sverka.alert a
     where a.kind = 'unmatched' and a.state = 'open' and not exists (select from sverka.inbox i
       where i.status in ('pending', 'unmatched') and i.subject_ref = a.subject_id
         and a.key = 'unmatched:' || i.provider || ':' || i.endpoint || ':' || i.subject_ref)`,
  );
  const rows = await db.query(
    `select sverka.raise_alert(i.key, 'unmatched', i.book, i.subject_type, i.subject_ref,
       'A notification speaks of something we do not know (' || i.reason || '); ask the provider whose it is.',
       i.trace_id)
     from (select distinct on (key) u.*, 'unmatched:' || u.provider || ':' || u.endpoint || ':' || u.subject_ref as key
             from sverka.inbox u
            where u.status = 'unmatched' and u.received_at <= clock_timestamp() - $1 * interval '1 millisecond'
            order by key, u.received_at) i
     where not exists (select from sverka.alert a where a.state = 'open' and a.key = i.key)
     order by i.received_at limit 100`,
    [olderThanMs],
  );
  return rows.length;
}

/** The run that follows the card that a notification names; null when none does. The relay's door to it. */
export async function findFollower(
  db: Tx,
  of: { readonly book: string; readonly provider: string; readonly account: string; readonly ref: string },
): Promise<string | null> {
  const sql = 'select sverka.inbox_follower($1, $2, $3, $4) as id';
  const rows = await db.query<{ id: string | null }>(sql, [of.book, of.provider, of.account, of.ref]);
  return rows[0]?.id ?? null;
}

/** The alert of records outside the contract is over when each of them was read, or is a dead letter with its own. */
export async function resolveUnreadable(db: Tx): Promise<void> {
  await db.query(
    `select sverka.resolve_alert(a.key) from sverka.alert a
     where a.kind = 'unreadable_record' and a.key like 'unreadable:%' and a.state = 'open'
       and not exists (select from sverka.inbox i where i.status in ('pending', 'unmatched')
         and i.reason in ('unreadable_record', 'amount_out_of_range') and a.key = 'unreadable:' || i.provider || ':' || i.endpoint)`,
  );
}

export interface FaultyRow {
  readonly id: string;
  readonly book: Book;
  readonly attempts: number;
}

/** Counts a fault of the rows themselves (never an outage), and lets them wait twice as long each time (ms). */
export async function countFault(
  tx: Tx,
  rows: readonly WaitingRow[],
  of: { reason: string; firstMs: number; longestMs: number },
): Promise<FaultyRow[]> {
  return tx.query<FaultyRow>(
    `with ${STILL_WAITING}
     update sverka.inbox i set attempts = attempts + 1, reason = $3, next_attempt_at = clock_timestamp() +
         least($4 * power(2, least(attempts, 20)), $5) * interval '1 millisecond'
       from still where i.id = still.id returning i.id, book, attempts`,
    [...rowParams(rows), of.reason, of.firstMs, of.longestMs],
  );
}
