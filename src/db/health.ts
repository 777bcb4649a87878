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

/** Everything that is ill now, at most 100 of each kind. Reads only. */
export async function findIlls(db: Tx, bounds: HealthBounds): Promise<Ill[]> {
  const ills: Ill[] = [];
  for (const sql of LOOKS) ills.push(...(await db.query<Ill>(sql, [bounds.stuckMs, bounds.pendingMs])));
  return ills;
}

const OLDER = (column: string, parameter: string) =>
  `${column} < clock_timestamp() - ${parameter}::double precision * interval '1 millisecond'`;

const LOOKS: readonly string[] = [
  // Hot-path balances: what was written last on an account must be within its bounds, whatever posted it.
  `select 'balance:' || b.account_id as key, 'balance_out_of_bounds' as kind, b.book, 'account' as "subjectType",
     b.account_id::text as "subjectId", 'An account is outside its bounds; run ledger verify and stop money out.' as detail
   from ledger.account_balance b
   where $1::double precision is not null and $2::double precision is not null
     and (b.balance < b.floor or b.balance > b.cap) limit 100`,

  // Owed and wallet above its floor never together (DESIGN 5).
  `select 'collect:' || r.account_id as key, 'collect_missing' as kind, r.book, 'account' as "subjectType",
     r.account_id::text as "subjectId", 'An owner owes although the wallet has money; a collect was forgotten.' as detail
   from ledger.account_balance r
   join ledger.account_balance w on w.kind = 'wallet' and w.book = r.book and w.merchant_id = r.merchant_id
     and w.customer_id is not distinct from r.customer_id and w.asset = r.asset
   where $1::double precision is not null and $2::double precision is not null
     and r.kind = 'receivable' and r.balance < 0 and w.balance > 0 limit 100`,

  `select 'stuck:' || d.id as key, 'stuck' as kind, d.book, 'deposit' as "subjectType", d.id as "subjectId",
     'A deposit has waited long in ' || d.state || '; compare it with the custodian''s record.' as detail
   from sverka.deposit d
   where $2::double precision is not null and d.state in ('noticed', 'confirming')
     and ${OLDER('d.created_at', '$1')} limit 100`,

  `select 'stuck:' || a.id as key, 'stuck' as kind, a.book, 'deposit_address' as "subjectType", a.id as "subjectId",
     'A deposit address has waited long in ' || a.state || '; look it up at the custodian by its id.' as detail
   from sverka.deposit_address a
   where $2::double precision is not null and a.state in ('preparing', 'unknown')
     and ${OLDER('a.created_at', '$1')} limit 100`,

  `select 'inbox_backlog' as key, 'inbox_backlog' as kind, null as book, null as "subjectType", null as "subjectId",
     count(*) || ' notifications have not been looked at; are worker and Temporal well?' as detail
   from sverka.inbox i
   where $1::double precision is not null and i.status = 'pending' and i.attempts = 0
     and ${OLDER('i.received_at', '$2')} having count(*) > 0`,

  `select 'breaker:' || b.name as key, 'breaker_open' as kind, null as book, 'provider' as "subjectType",
     b.name as "subjectId", 'A provider is unwell and is not called; what waits goes on by itself.' as detail
   from sverka.breaker b
   where $1::double precision is not null and $2::double precision is not null and b.state <> 'closed'`,
];
