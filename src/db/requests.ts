import type { Refusal, RequestInput } from '../contracts/messages.js';
import type { Book } from '../domain/books.js';
import type { Tx } from './transaction.js';

/** A client's call and what its key led to, for ever: an object or a refusal. */
export interface RequestRecord {
  id: string;
  book: Book;
  merchantId: string;
  key: string;
  method: string;
  path: string;
  fingerprint: Buffer;
  resourceType: string | null;
  resourceId: string | null;
  /** True when this call made the object, false when it was there already; null for a refusal. */
  made: boolean | null;
  refusal: Refusal | null;
  traceId: string | null;
  createdAt: Date;
}

const SELECT = `select id, book, merchant_id as "merchantId", key, method, path, fingerprint,
    resource_type as "resourceType", resource_id as "resourceId", made, refusal, trace_id as "traceId",
    created_at as "createdAt" from sverka.request`;

export async function findRequest(db: Tx, id: string): Promise<RequestRecord | null> {
  const rows = await db.query<RequestRecord>(`${SELECT} where id = $1`, [id]);
  return rows[0] ?? null;
}

/** Holds the request's name until the transaction ends: two runs of it come one after the other, before any subject. */
export async function holdRequest(tx: Tx, id: string): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [id]);
}

export interface RequestOutcome {
  readonly resource: { readonly type: string; readonly id: string; readonly made: boolean } | null;
  readonly refusal: Refusal | null;
}

/**
 * Keeps what the key leads to. False when the key has led somewhere already: then that row answers, and the caller's
 * transaction must change nothing else.
 */
export async function keepRequest(
  tx: Tx,
  of: { book: Book; merchantId: string; traceId: string; request: RequestInput },
  outcome: RequestOutcome,
): Promise<boolean> {
  const { request } = of;
  const rows = await tx.query(
    `insert into sverka.request
       (id, book, merchant_id, key, method, path, fingerprint, resource_type, resource_id, made, refusal, trace_id)
     values ($1, $2, $3, $4, $5, $6, decode($7, 'hex'), $8, $9, $10, $11, $12)
     on conflict do nothing returning id`,
    [
      request.id,
      of.book,
      of.merchantId,
      request.key,
      request.method,
      request.path,
      request.fingerprint,
      outcome.resource?.type ?? null,
      outcome.resource?.id ?? null,
      outcome.resource?.made ?? null,
      outcome.refusal === null ? null : JSON.stringify(outcome.refusal),
      of.traceId,
    ],
  );
  return rows.length === 1;
}
