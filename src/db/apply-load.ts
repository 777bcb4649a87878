import { type LoadRecord, toLoad } from '../contracts/load.js';
import { LOAD_UNANSWERED } from '../domain/load.js';
import { raiseAlert, resolveAlert } from './alerts.js';
import { finishLoad, loadMovementId } from './book-load.js';
import { nextCardVersion } from './cards.js';
import { insertEvents } from './events.js';
import { lockLoad, moveLoad, touchLoad } from './loads.js';
import type { Tx } from './transaction.js';

interface Who {
  readonly id: string;
  readonly actor: string;
  readonly traceId: string;
}

/** What the issuer answered to a create under our reference. */
export interface LoadAnswer extends Who {
  readonly made: boolean;
  /** Of one that was not made. */
  readonly reason?: string;
  /** The issuer's code of a refusal. */
  readonly declineReason?: string | null;
  /** Taken before the call began. */
  readonly ticket: bigint;
}

/**
 * The one apply function of loads, whoever asked; running it again changes nothing. In the caller's transaction: rows,
 * audit, event, and last of all one `post`. An answer to a call that began before the last apply does not count.
 */
export async function applyLoad(tx: Tx, answer: LoadAnswer): Promise<LoadRecord> {
  const before = await lockLoad(tx, answer.id);
  if (isDone(before) || answer.ticket <= before.appliedTicket) return before;
  const { actor, traceId, made } = answer;
  const operation = made ? 'settle' : 'release';
  const record = await moveLoad(tx, before, {
    to: made ? 'completed' : 'failed',
    reason: answer.reason ?? null,
    declineReason: answer.declineReason ?? null,
    movementId: loadMovementId(before, operation),
    actor,
    traceId,
  });
  const { book, merchantId, version, state } = record;
  const subject = { subjectType: 'load', subjectId: record.id, version };
  await insertEvents(tx, [{ type: `load.${state}`, book, merchantId, ...subject, data: toLoad(record), traceId }]);
  if (made) await nextCardVersion(tx, record.cardId);
  await resolveAlert(tx, loadAlertKey(record.id));
  await finishLoad(tx, record, { operation, traceId });
  return record;
}

/**
 * Commits the intent, before anything is sent. One that another run had submitted is `unknown`: whether that run's
 * create went out, nobody knows.
 */
export async function submitLoad(tx: Tx, of: Who & { readonly runId: string }): Promise<LoadRecord> {
  const record = await lockLoad(tx, of.id);
  const { actor, traceId } = of;
  if (record.state === 'reserved') {
    return moveLoad(tx, record, { to: 'submitted', reason: null, submittedBy: of.runId, actor, traceId });
  }
  if (record.state !== 'submitted' || record.submittedBy === of.runId) return record;
  return moveLoad(tx, record, { to: 'unknown', reason: LOAD_UNANSWERED, actor, traceId });
}

/** A create left no answer: it goes again under the same reference. `tooLong`: a person has to look. */
export async function suspectLoad(tx: Tx, of: Who & { readonly tooLong: boolean }): Promise<LoadRecord> {
  const record = await lockLoad(tx, of.id);
  if (isDone(record)) return record;
  const { actor, traceId, tooLong } = of;
  if (tooLong) await tellPerson(tx, record, traceId);
  const needsOperator = tooLong || record.needsOperator;
  if (record.state === 'unknown') {
    await touchLoad(tx, record.id, needsOperator);
    return { ...record, needsOperator };
  }
  return moveLoad(tx, record, { to: 'unknown', reason: LOAD_UNANSWERED, needsOperator, actor, traceId });
}

export function loadAlertKey(id: string): string {
  return `load:${id}`;
}

export function isDone({ state }: LoadRecord): boolean {
  return state === 'completed' || state === 'failed';
}

async function tellPerson(tx: Tx, record: LoadRecord, traceId: string): Promise<void> {
  await raiseAlert(tx, {
    key: loadAlertKey(record.id),
    kind: 'outcome_unknown',
    book: record.book,
    subject: { type: 'load', id: record.id },
    detail: 'It is not known whether the issuer loaded this card; look there by our id. It is sent again meanwhile.',
    traceId,
  });
}
