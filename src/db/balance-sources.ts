import type { Book } from '../domain/books.js';
import type { BalanceSourceKey } from './balance-mirror.js';
import { hashSeen } from './decisions.js';
import type { Tx } from './transaction.js';

/** A mirrored account, as people see it. */
export interface BalanceSourceRecord extends BalanceSourceKey {
  readonly id: number;
  /** `live:pert:pert-main`: what decisions, alerts and the audit call it. */
  readonly key: string;
  /** Null: nobody's yet. */
  readonly merchantId: string | null;
  /** Of the snapshot that our sums rest on; null before the first load. */
  readonly baseCursor: string | null;
  /** When a check has last moved it. */
  readonly baseAt: Date | null;
  readonly baseNumber: number;
  readonly resets: number;
  /** Checks in a row that found a difference which stayed. */
  readonly differences: number;
  /** Currencies that differ, with the time since when, exactly. */
  readonly differing: readonly (readonly [currency: string, since: string])[];
  readonly currencies: number;
  readonly lastAction: string | null;
  /** How often webhooks told an address an older version: ignored. */
  readonly staleTold: string;
  readonly asked: 'webhook_gap' | 'operator' | null;
  readonly checkedAt: Date | null;
  readonly nextCheckAt: Date;
  /** How far the journal was read. */
  readonly position: string | null;
  /** Some addresses were not seen again since a reset. */
  readonly hasStale: boolean;
}

const SELECT = `select s.id, s.key, s.book, s.provider, s.account, s.merchant_id as "merchantId",
    s.base_cursor as "baseCursor", s.base_number as "baseNumber", s.resets, s.differences,
    s.last_action as "lastAction", s.stale_told::text as "staleTold", s.asked, s.checked_at as "checkedAt",
    greatest(s.next_check_at, s.not_before) as "nextCheckAt",
    (select c.finished_at from sverka.balance_check c where c.source_id = s.id
        and (c.result in ('equal', 'healed', 'rebased') or 'accepted' = any (c.actions))
      order by c.started_at desc, c.id desc limit 1) as "baseAt",
    (select coalesce(json_agg(json_build_array(c.currency, extract(epoch from c.differs_since)::text)
        order by c.currency), '[]')
      from sverka.balance_currency c where c.source_id = s.id and c.differs_since is not null) as differing,
    (select count(*)::int from sverka.balance_currency c where c.source_id = s.id) as currencies,
    (select j.cursor from sverka.source j where j.book = s.book and j.provider = s.provider and j.account = s.account
      and j.feed = 'changes') as position,
    exists (select from sverka.balance_address a where a.source_id = s.id and a.resets < s.resets) as "hasStale"
  from sverka.balance_source s`;

/** Those of that book, by name. */
export async function listBalanceSources(db: Tx, book: Book): Promise<BalanceSourceRecord[]> {
  return db.query<BalanceSourceRecord>(`${SELECT} where s.book = $1 order by s.account, s.provider`, [book]);
}

/** Null when there is none of that key. */
export async function findBalanceSource(db: Tx, key: string): Promise<BalanceSourceRecord | null> {
  const [row] = await db.query<BalanceSourceRecord>(`${SELECT} where s.key = $1`, [key]);
  return row ?? null;
}

/**
 * What a decision is bound to: whose the source is, how often it began anew, and which currencies differ since when.
 * What webhooks and checks without a finding move is left out, or a decision would be void for ever.
 */
export function hashSeenBalances(source: BalanceSourceRecord): Buffer {
  return hashSeen([source.key, source.merchantId, source.resets, ...source.differing.flat()]);
}

/** Those on which a person's decision waits. */
export async function listDecidedSources(db: Tx): Promise<BalanceSourceKey[]> {
  return db.query<BalanceSourceKey>(
    `select distinct s.book, s.provider, s.account
     from sverka.decision d join sverka.balance_source s on s.key = d.subject_id
     where d.subject_type = 'balance_source'
       and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)`,
  );
}

/** The audit of a rebase, in the transaction of its effect; refused where no such decision waits. */
export async function noteBalanceRebase(tx: Tx, of: { readonly decisionId: string; readonly traceId: string }) {
  await tx.query('select sverka.note_balance_rebase($1, $2)', [of.decisionId, of.traceId]);
}

/** What people need of a source beside its figures: items that could not be read, and how much contradicted itself. */
export interface BalanceTroubles {
  readonly badItems: readonly BadItemRow[];
  readonly badItemCount: number;
  readonly conflicts: number;
}

/** Without its body: that is the provider's own text. */
export interface BadItemRow {
  readonly id: string;
  readonly itemId: string | null;
  readonly reason: string;
  readonly foundAt: Date;
}

/** The oldest items that wait, and the counts. */
export async function readBalanceTroubles(db: Tx, sourceId: number, most: number): Promise<BalanceTroubles> {
  const [badItems, [counts]] = await Promise.all([
    db.query<BadItemRow>(
      `select id::text, item_id as "itemId", reason, found_at as "foundAt" from sverka.balance_bad_item
        where source_id = $1 and applied_at is null order by id limit $2`,
      [sourceId, most],
    ),
    db.query<{ badItemCount: number; conflicts: number }>(
      `select (select count(*)::int from sverka.balance_bad_item where source_id = $1 and applied_at is null)
           as "badItemCount",
         (select count(*)::int from sverka.balance_conflict where source_id = $1) as conflicts`,
      [sourceId],
    ),
  ]);
  return { badItems, badItemCount: counts?.badItemCount ?? 0, conflicts: counts?.conflicts ?? 0 };
}
