import type { Tx } from './transaction.js';

/** A sealed audit row with its place in the chain. */
export interface SealedAuditRow {
  readonly position: bigint;
  readonly hash: string;
  readonly id: bigint;
  readonly book: string;
  readonly merchantId: string | null;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly fromState: string | null;
  readonly toState: string;
  readonly version: number;
  readonly actor: string;
  readonly reason: string | null;
  readonly traceId: string | null;
  readonly recordedAt: Date;
  /** The text that the hash covers, behind the hash of the place before. */
  readonly sealedText: string;
}

export interface AuditSpan {
  /** Begins behind this position. */
  readonly after: bigint;
  /** Recorded at or after, and before; null has no bound. */
  readonly from: Date | null;
  readonly to: Date | null;
  readonly book: string | null;
}

const POSITIONS_AT_ONCE = 1_000n;

/**
 * Every sealed audit row of that span in the order of the chain, a page of positions at a time: what is sealed never
 * moves, so no transaction is held open meanwhile. A row that is gone is left out, as `verifyAudit` tells.
 */
export async function* exportAudit(db: Tx, { after, from, to, book }: AuditSpan): AsyncGenerator<SealedAuditRow> {
  const [end] = await db.query<{ last: bigint }>('select coalesce(max(position), 0) as last from sverka.audit_seal');
  for (let at = after; at < (end?.last ?? 0n); at += POSITIONS_AT_ONCE) {
    yield* await db.query<SealedAuditRow>(
      `select s.position, encode(s.hash, 'hex') as hash, a.id, a.book, a.merchant_id as "merchantId",
         a.subject_type as "subjectType", a.subject_id as "subjectId", a.from_state as "fromState",
         a.to_state as "toState", a.version, a.actor, a.reason, a.trace_id as "traceId", a.recorded_at as "recordedAt",
         convert_from(sverka.audit_bytes(a), 'UTF8') as "sealedText"
       from sverka.audit_seal s join sverka.audit a on a.id = s.audit_id
       where s.position > $1 and s.position <= $2 and ($3::timestamptz is null or a.recorded_at >= $3)
         and ($4::timestamptz is null or a.recorded_at < $4) and ($5::text is null or a.book in ($5, 'both'))
       order by s.position`,
      [at, at + POSITIONS_AT_ONCE, from, to, book],
    );
  }
}
