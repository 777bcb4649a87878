import type { InboxSubject } from './inbox.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** A nudge that our own reader leaves for later, in the commit of its page: an item that cannot be applied now. */
export interface DueNudge {
  readonly ref: string;
  readonly status: 'pending' | 'unmatched';
  readonly reason: string;
  readonly waitsFor: string | null;
}

/**
 * Leaves them, one row for each subject. A buried row is never tried again by this (R11): what cannot be read stays the
 * letter that it is, anything else is a notification of its own. `ticket` is that of the page.
 */
export async function leaveDueNudges(
  tx: Tx,
  page: { readonly of: Omit<InboxSubject, 'ref'>; readonly ticket: bigint; readonly traceId: string },
  nudges: readonly DueNudge[],
): Promise<void> {
  if (nudges.length === 0) return;
  const { provider, endpoint, book, type } = page.of;
  // A subject that stands twice in a page counts as it stands last; in key order, like every unique insert.
  const inKeyOrder = [...new Map(nudges.map((nudge) => [nudge.ref, nudge])).values()];
  inKeyOrder.sort((a, b) => (a.ref < b.ref ? -1 : 1));
  const refs = inKeyOrder.map(({ ref }) => ref);
  // A statement of its own: the next one then sees what those who held the rows have made of them.
  await tx.query(
    `select from sverka.inbox where provider = $1 and endpoint = $2
       and delivery_id in (select 'due:' || $3 || ':' || ref from unnest($4::text[]) ref) order by id for no key update`,
    [provider, endpoint, type, refs],
  );
  await tx.query(
    `insert into sverka.inbox (id, provider, endpoint, book, delivery_id, body, body_hash, subject_type, subject_ref,
       status, reason, waits_for, trace_id)
     select n.id, $1, $2, $5, 'due:' || $3 || ':' || n.ref || case when i.status = 'parked' then ':' || $6 else '' end,
         '', sha256(''), $3, n.ref, n.status, n.reason, n.waits_for, $7
       from unnest($8::text[], $4::text[], $9::text[], $10::text[], $11::text[]) n(id, ref, status, reason, waits_for)
       left join sverka.inbox i on i.provider = $1 and i.endpoint = $2 and i.delivery_id = 'due:' || $3 || ':' || n.ref
      where n.reason not in ('unreadable_record', 'amount_out_of_range') or not exists (
        select from sverka.dead_letter l join sverka.inbox b on b.id = l.inbox_id
         where l.closed_at is null and b.provider = $1 and b.endpoint = $2 and b.subject_type = $3
           and b.subject_ref = n.ref and b.status = 'parked')
      order by 5
     on conflict (provider, endpoint, delivery_id) do update set status = excluded.status, armed = inbox.armed + 1,
       attempts = case when inbox.status in ('pending', 'unmatched') then inbox.attempts else 0 end,
       received_at = case when inbox.status = 'done' then clock_timestamp() else inbox.received_at end,
       reason = excluded.reason, waits_for = excluded.waits_for, trace_id = excluded.trace_id, done_at = null,
       next_attempt_at = clock_timestamp()
       where inbox.status <> 'parked'`,
    [
      ...[provider, endpoint, type, refs, book, String(page.ticket), page.traceId],
      inKeyOrder.map(() => newId('inbox')),
      inKeyOrder.map(({ status }) => status),
      inKeyOrder.map(({ reason }) => reason),
      inKeyOrder.map(({ waitsFor }) => waitsFor),
    ],
  );
}
