import type { Tx } from './transaction.js';

/** One thing that a person must see, found by a look at the tables. */
export interface Ill {
  readonly key: string;
  readonly kind: string;
  readonly book: string | null;
  readonly subjectType: string | null;
  readonly subjectId: string | null;
  readonly detail: string;
}

export interface HealthBounds {
  /** A subject may wait so long in a state that waits. */
  readonly stuckMs: number;
  /** A notification may lie pending so long. */
  readonly pendingMs: number;
}

/** Everything that is ill now, at most 100 of each kind, oldest first. Reads only. */
export async function findIlls(db: Tx, { stuckMs, pendingMs }: HealthBounds): Promise<Ill[]> {
  return [
    ...(await db.query<Ill>(OUT_OF_BOUNDS)),
    ...(await db.query<Ill>(COLLECT_MISSING)),
    ...(await db.query<Ill>(STUCK_DEPOSITS, [stuckMs])),
    ...(await db.query<Ill>(STUCK_ADDRESSES, [stuckMs])),
    ...(await db.query<Ill>(STUCK_ISSUANCES, [stuckMs])),
    ...(await db.query<Ill>(STUCK_LOADS, [stuckMs])),
    ...(await db.query<Ill>(STUCK_CARD_CHANGES, [stuckMs])),
    ...(await db.query<Ill>(STUCK_WITHDRAWALS, [stuckMs])),
    ...(await db.query<Ill>(BACKLOG, [pendingMs])),
    ...(await db.query<Ill>(OPEN_BREAKERS)),
    ...(await db.query<Ill>(SILENT_RELAYS)),
    ...(await db.query<Ill>(REFUSED_STORM)),
  ];
}

const ago = (parameter: string) => `clock_timestamp() - ${parameter}::double precision * interval '1 millisecond'`;

/**
 * The accounts of the hot path: what the last movements touched, more than a minute brings, and what was found ill
 * before, until it is well. All the others are the hourly check's.
 */
const HOT = `
  hot as (
    select distinct e.account_id from ledger.entry e
      where e.movement_id in (select m.id from ledger.movement m order by m.id desc limit 10000)
    union
    select a.subject_id::bigint from sverka.alert a
      where a.state = 'open' and a.subject_type = 'account' and a.subject_id ~ '^[0-9]{1,18}$'
        and a.kind in ('balance_out_of_bounds', 'collect_missing'))`;

/** What was written last on an account must be within its bounds, whatever posted it. */
const OUT_OF_BOUNDS = `
  with ${HOT}
  select 'balance:' || b.account_id as key, 'balance_out_of_bounds' as kind, b.book, 'account' as "subjectType",
    b.account_id::text as "subjectId", 'An account is outside its bounds: stop money out, run ledger verify.' as detail
  from hot join ledger.account_balance b on b.account_id = hot.account_id
  where b.balance < b.floor or b.balance > b.cap
  order by b.account_id limit 100`;

/** Owed and wallet above its floor never together (DESIGN 5). */
const COLLECT_MISSING = `
  with ${HOT}
  select distinct 'collect:' || r.account_id as key, 'collect_missing' as kind, r.book, 'account' as "subjectType",
    r.account_id::text as "subjectId", 'An owner owes although the wallet has money: a collect was forgotten.' as detail
  from hot
  join ledger.account h on h.id = hot.account_id and h.kind in ('wallet', 'receivable')
  join ledger.account_balance r on r.kind = 'receivable' and r.book = h.book and r.merchant_id = h.merchant_id
    and r.customer_id is not distinct from h.customer_id and r.asset = h.asset
  join ledger.account_balance w on w.kind = 'wallet' and w.book = h.book and w.merchant_id = h.merchant_id
    and w.customer_id is not distinct from h.customer_id and w.asset = h.asset
  where r.balance < 0 and w.balance > w.floor
  order by "subjectId" limit 100`;

const STUCK_DEPOSITS = `
  select 'stuck:' || d.id as key, 'stuck' as kind, d.book, 'deposit' as "subjectType", d.id as "subjectId",
    'A deposit has waited long in ' || d.state || '; compare it with the custodian''s record.' as detail
  from sverka.deposit d
  where d.state in ('noticed', 'confirming') and d.created_at < ${ago('$1')}
  order by d.created_at, d.id limit 100`;

const STUCK_ADDRESSES = `
  select 'stuck:' || a.id as key, 'stuck' as kind, a.book, 'deposit_address' as "subjectType", a.id as "subjectId",
    'A deposit address has waited long in ' || a.state || '; look it up at the custodian by its id.' as detail
  from sverka.deposit_address a
  where a.state in ('preparing', 'unknown') and a.created_at < ${ago('$1')}
  order by a.created_at, a.id limit 100`;

/** Money is held as long as it waits; one that is unknown for so long is a person's to decide. */
const STUCK_ISSUANCES = `
  select 'stuck:' || i.id as key, 'stuck' as kind, i.book, 'issuance' as "subjectType", i.id as "subjectId",
    'An issuance has waited long in ' || i.state || ' with its money held; ' || case i.state
      when 'unknown' then 'ask the issuer by this id, then decide: sverka issuances decide.'
      else 'compare it with the issuer''s record of this id.' end as detail
  from sverka.issuance i
  where i.state in ('reserved', 'submitted', 'pending', 'unknown') and i.created_at < ${ago('$1')}
  order by i.created_at, i.id limit 100`;

const STUCK_LOADS = `
  select 'stuck:' || l.id as key, 'stuck' as kind, l.book, 'load' as "subjectType", l.id as "subjectId",
    'A load has waited long in ' || l.state || '; look it up at the issuer by its id.' as detail
  from sverka.card_load l
  where l.state in ('reserved', 'submitted', 'unknown') and l.created_at < ${ago('$1')}
  order by l.created_at, l.id limit 100`;

const STUCK_CARD_CHANGES = `
  select 'stuck:' || g.card_id || ':' || g.number as key, 'stuck' as kind, g.book, 'card' as "subjectType",
    g.card_id as "subjectId",
    'The issuer has long not confirmed a ' || g.kind || ' of a card; compare the two, then ask him.' as detail
  from sverka.card_change g
  where g.outcome is null and g.created_at < ${ago('$1')}
  order by g.created_at, g.card_id, g.number limit 100`;

/** From when it may have been paid: for its approval people are reminded by its workflow. */
const STUCK_WITHDRAWALS = `
  select 'stuck:' || w.id as key, 'stuck' as kind, w.book, 'withdrawal' as "subjectType", w.id as "subjectId",
    'A withdrawal has waited long in ' || w.state || ' with its money held; ' || case
      when w.state = 'unknown' then 'ask the custodian by this id, then complete it with proof or declare it failed.'
      when w.route = 'manual' then 'complete it with proof of the payout, or declare it failed.'
      else 'compare it with the custodian''s record of this id.' end as detail
  from sverka.withdrawal w
  where w.state in ('submitted', 'unknown') and w.submitted_at < ${ago('$1')}
  order by w.submitted_at, w.id limit 100`;

const BACKLOG = `
  select 'inbox_backlog' as key, 'inbox_backlog' as kind, null as book, null as "subjectType", null as "subjectId",
    count(*) || ' notifications have not been looked at; are the workers and the providers well?' as detail
  from sverka.inbox i
  where i.status = 'pending' and i.attempts = 0 and i.received_at < ${ago('$1')}
  having count(*) > 0`;

const OPEN_BREAKERS = `
  select 'breaker:' || b.name as key, 'breaker_open' as kind, split_part(b.name, ':', 2) as book,
    'provider' as "subjectType", b.name as "subjectId",
    'A provider is unwell and is not called; what waits goes on by itself.' as detail
  from sverka.breaker b
  where b.state <> 'closed' order by b.name limit 100`;

/** A relay beats each 10 s; one that is gone for a day was taken away by somebody. */
const SILENT_RELAYS = `
  select 'relay:' || r.relay as key, 'relay_silent' as kind, null as book,
    'relay' as "subjectType", r.relay as "subjectId",
    'A relay has not been seen for minutes; is its process up, and does it reach PostgreSQL?' as detail
  from sverka.relay_heartbeat r
  where r.seen_at between ${ago(String(24 * 3_600_000))} and ${ago(String(2 * 60_000))}
    and not exists (select from sverka.relay_heartbeat s
      where s.seen_at > r.seen_at and split_part(s.relay, ':', 1) = split_part(r.relay, ':', 1))
  order by r.relay limit 100`;

/** Signatures that do not hold, within the window of five minutes: forgers, or a secret that was rotated. */
const REFUSED_STORM = `
  select 'refused:' || r.relay as key, 'webhooks_refused' as kind, null as book, 'relay' as "subjectType",
    r.relay as "subjectId",
    'Many notifications with a bad signature: compare the secrets with the provider, or bar the sender.' as detail
  from sverka.relay_heartbeat r
  where r.seen_at > ${ago(String(2 * 60_000))} and r.rejected - r.rejected_before > 100
  order by r.relay limit 100`;
