import type { IssuanceRecord } from '../contracts/card.js';
import { CARDHOLDER_ERASED, CREATE_UNANSWERED } from '../domain/issuance.js';
import { bookIssuance } from './book-issuance.js';
import { resolveIssuanceAlert } from './issuance-alert.js';
import { lockIssuance, moveIssuance, passOn } from './issuances.js';
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
  if (!(await isActive(tx, record))) {
    return fail(tx, record, { ...of, reason: CARDHOLDER_ERASED });
  }
  const { actor, traceId, runId: submittedBy } = of;
  return moveIssuance(tx, record, { to: 'submitted', reason: null, actor, traceId, submittedBy });
}

/** False for an identity that was erased, or that is not that merchant's in that book. */
async function isActive(tx: Tx, { cardholderId, merchantId, book }: IssuanceRecord): Promise<boolean> {
  const rows = await tx.query(
    `select from sverka.cardholder where id = $1 and merchant_id = $2 and book = $3 and state = 'active'`,
    [cardholderId, merchantId, book],
  );
  return rows.length > 0;
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
  if (record.needsOperator) await resolveIssuanceAlert(tx, record);
  await bookIssuance(tx, { finish: { of: failed, operation: 'release' }, hold: null }, traceId);
  return failed;
}
