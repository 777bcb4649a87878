import type { IssuanceRecord } from '../contracts/card.js';
import { raiseAlert, resolveAlert } from './alerts.js';
import type { Tx } from './transaction.js';

/** Of the one alert that an issuance waits for a person. */
export function issuanceAlertKey({ id }: Pick<IssuanceRecord, 'id'>): string {
  return `issuance:${id}`;
}

/** An issuance waits for a person; `detail` says why, and what to do. */
export async function raiseIssuanceAlert(
  db: Tx,
  { id, book }: Pick<IssuanceRecord, 'id' | 'book'>,
  why: { readonly detail: string; readonly traceId: string },
): Promise<void> {
  const subject = { type: 'issuance', id };
  await raiseAlert(db, { key: issuanceAlertKey({ id }), kind: 'issuance_needs_person', book, subject, ...why });
}

/** Nothing waits any more. */
export async function resolveIssuanceAlert(db: Tx, of: Pick<IssuanceRecord, 'id'>): Promise<void> {
  await resolveAlert(db, issuanceAlertKey(of));
}
