import type { IssuanceRecord } from '../contracts/card.js';
import { CARDHOLDER_ERASED, CREATE_UNANSWERED } from '../domain/issuance.js';
import { resolveAlert } from './alerts.js';
import { bookIssuance } from './book-issuance.js';
import { issuanceAlertKey, lockIssuance, moveIssuance, passOn } from './issuances.js';
import { activeRevision } from './issue-again.js';
import type { Tx } from './transaction.js';
import { walkIssuance } from './walk-issuance.js';

interface Who {
  readonly id: string;
  readonly actor: string;
  readonly traceId: string;
}

/**
 * Commits the intent to make the card, for the run that may then send the one create. An erased identity ends it with
 * its hold released. One that another run had submitted is `unknown`: whether that run's create went out, nobody knows.
 * `after`: the run that this one goes on from, of which it is proven that nothing went out.
 */
export async function submitIssuance(
  tx: Tx,
  of: Who & { readonly runId: string; readonly after?: string | undefined },
): Promise<IssuanceRecord> {
  const record = await lockIssuance(tx, of.id);
  if (record.state === 'submitted' && record.submittedBy !== of.runId) {
    return record.submittedBy === of.after ? passOn(tx, record, of.runId) : suspect(tx, record, of);
  }
  if (record.state !== 'reserved') return record;
  if ((await activeRevision(tx, record)) === null) {
    return fail(tx, record, { ...of, reason: CARDHOLDER_ERASED });
  }
  const { actor, traceId, runId: submittedBy } = of;
  return moveIssuance(tx, record, { to: 'submitted', reason: null, actor, traceId, submittedBy });
}

/** Nobody knows whether the create was made; one that has ended meanwhile stays as it is. */
export async function suspectIssuance(tx: Tx, of: Who): Promise<IssuanceRecord> {
  const record = await lockIssuance(tx, of.id);
  return record.state === 'submitted' ? suspect(tx, record, of) : record;
}

/** Ends one of which nothing was made for certain, and gives back what was set aside. */
export async function failIssuance(tx: Tx, of: Who & { readonly reason: string }): Promise<IssuanceRecord> {
  const record = await lockIssuance(tx, of.id);
  return record.state === 'submitted' || record.state === 'reserved' ? fail(tx, record, of) : record;
}

function suspect(tx: Tx, record: IssuanceRecord, { actor, traceId }: Who): Promise<IssuanceRecord> {
  return moveIssuance(tx, record, { to: 'unknown', reason: CREATE_UNANSWERED, actor, traceId });
}

async function fail(tx: Tx, record: IssuanceRecord, of: Who & { readonly reason: string }): Promise<IssuanceRecord> {
  const { reason, actor, traceId } = of;
  const failed = await walkIssuance(tx, record, { to: 'failed', reason, actor, traceId });
  if (record.needsOperator) await resolveAlert(tx, issuanceAlertKey(record));
  await bookIssuance(tx, { finish: { of: failed, operation: 'release' }, hold: null }, traceId);
  return failed;
}
