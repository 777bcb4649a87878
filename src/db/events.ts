import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** What a merchant is told: written in the transaction of the move, once per (type, subject, version). */
export interface NewEvent {
  readonly type: string;
  readonly book: string;
  readonly merchantId: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly version: number;
  /** The resource as the API shows it right after the move. */
  readonly data: object;
  readonly traceId: string;
}

export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query('select sverka.tell_events($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
    events.map(() => newId('event')),
    events.map((event) => event.type),
    events.map((event) => event.book),
    events.map((event) => event.merchantId),
    events.map((event) => event.subjectType),
    events.map((event) => event.subjectId),
    events.map((event) => event.version),
    events.map((event) => JSON.stringify(event.data)),
    events.map((event) => event.traceId),
  ]);
}
