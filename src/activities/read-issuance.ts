import type { IssuanceRecord } from '../contracts/card.js';
import type { IssuanceRef } from '../contracts/messages.js';
import { type AppliedIssuance, applyIssuance, type IssuanceRead } from '../db/apply-issuance.js';
import { openDecisions } from '../db/decisions.js';
import { HoldRefused } from '../db/hold-refused.js';
import {
  type InboxSubject,
  lockWaiting,
  markBuriedDone,
  markDone,
  markUnmatched,
  selectWaiting,
  type WaitingRow,
} from '../db/inbox.js';
import { AgainRefused } from '../db/issue-again.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import { type IssuerAnswer, type IssuerReading, issuerAnswer } from '../domain/issuance.js';
import type { IssuanceChoice } from '../domain/issuance-decision.js';
import type { IssuerCard } from '../providers/issuer/schema.js';
import { makeTraceparent } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';
import { countRowFault } from './row-faults.js';

const ACTOR = 'worker:issuer';

/**
 * Asks the issuer about one issuance and applies the answer: a call, then a transaction. `ref`: under which name a
 * notification speaks of it, when not by our id. `absent`: the issuer showed nothing.
 */
export async function readAndApply(
  deps: ActivityDeps,
  record: IssuanceRecord,
  of: { traceId: string; looks: number; ref?: string },
): Promise<{ applied: AppliedIssuance; absent: boolean }> {
  const db = queriesOf(deps.pool);
  // Before the read begins: only these rows are done by it, and only an answer to this read counts.
  const refs = [...new Set([record.id, of.ref ?? record.id, record.providerRef ?? record.id])];
  const waiting = (await Promise.all(refs.map((ref) => selectWaiting(db, cardSubject(record, ref))))).flat();
  const named = await namedByDecision(deps, record, of.traceId);
  const ticket = await takeReadTicket(db);
  try {
    const answer = await ask(deps, record, of.traceId);
    const absent = answer.found === 'none';
    const tooLong = isTooLong(deps, record, { answer, looks: of.looks });
    const applied = await applyIssuanceRead(deps, record, {
      answer,
      ticket,
      waiting,
      tooLong,
      named,
      traceId: of.traceId,
    });
    return { applied, absent };
  } catch (error) {
    await countRowFault(deps, waiting, { error, traceId: of.traceId });
    throw error;
  }
}

/** One transaction; run again with the decision void when what it asks for cannot be reserved. */
export async function applyIssuanceRead(
  deps: ActivityDeps,
  record: IssuanceRecord,
  of: Pick<IssuanceRead, 'answer' | 'ticket' | 'traceId'> & {
    named?: IssuanceRead['named'] | undefined;
    waiting: readonly WaitingRow[];
    tooLong?: boolean;
  },
): Promise<AppliedIssuance> {
  const { waiting, tooLong = false, named, ...read } = of;
  const apply = (againRefused?: string) =>
    retrying(() =>
      inTransaction(deps.pool, (tx) =>
        applyIssuance(tx, {
          ...read,
          ...(named === undefined ? {} : { named }),
          ...(againRefused === undefined ? {} : { againRefused }),
          id: record.id,
          tooLong,
          actor: ACTOR,
          lockInbox: (inner) => lockWaiting(inner, waiting),
          alongside: async (inner) => {
            await markDone(inner, waiting);
            // Of one that was never asked about, nothing was buried.
            if (record.state !== 'submitted')
              await markBuriedDone(inner, cardSubject(record, record.id), [record.id, record.providerRef ?? record.id]);
          },
        }),
      ),
    );
  const applied = await apply().catch((error: unknown) => {
    if (error instanceof HoldRefused) return apply(`it could not be reserved: ${error.code}`);
    if (error instanceof AgainRefused) return apply(error.why);
    throw error;
  });
  tellMove(deps, record, { applied, traceId: of.traceId });
  return applied;
}

/** Whose notifications an issuance's are: they name our id, or the issuer's id of the card. */
export function cardSubject(
  of: { book: string; provider: string; providerAccount: string },
  ref: string,
): InboxSubject {
  return { book: of.book, provider: of.provider, endpoint: of.providerAccount, type: 'card', ref };
}

/** A notification of a card that is not ours, or not yet: kept, and alerted on after a bound. It creates nothing. */
export async function keepUnmatched(deps: ActivityDeps, of: IssuanceRef): Promise<'unmatched'> {
  const subject = cardSubject({ ...of, providerAccount: of.account }, of.ref);
  const waiting = await selectWaiting(queriesOf(deps.pool), subject);
  await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      await lockWaiting(tx, waiting);
      await markUnmatched(tx, waiting, { reason: 'unknown_card', waitsFor: `card:${of.ref}` });
    }),
  );
  return 'unmatched';
}

/** The issuer's record in our words. */
export function toReading(card: IssuerCard): IssuerReading {
  const { id: providerRef, reference, product, declineReason, last4, expMonth, expYear, load } = card;
  const known = card.status !== 'unknown_status';
  const expires = expMonth === null || expYear === null ? null : `${expYear}-${String(expMonth).padStart(2, '0')}`;
  const status = known ? card.status : card.providerStatus;
  return { providerRef, reference, product, status, declineReason, last4, expires, load };
}

/** By our reference, under which there may be several; the card that settled it also by its own id (`link`). */
async function ask(deps: ActivityDeps, record: IssuanceRecord, traceId: string): Promise<IssuerAnswer> {
  const issuer = deps.issuer({ book: record.book, account: record.providerAccount });
  const by = { traceparent: makeTraceparent(traceId) };
  const { state, providerRef } = record;
  const cards = [...(await issuer.readCardsByReference(record.id, by))];
  if (state === 'active' && providerRef !== null && !cards.some(({ id }) => id === providerRef)) {
    const settled = await issuer.readCard(providerRef, by);
    if (settled !== null) cards.push(settled);
  }
  return issuerAnswer(record, cards.map(toReading));
}

/** Absent for so many looks, or not made for so long, that a person has to ask the issuer. */
function isTooLong(
  { config }: Pick<ActivityDeps, 'config'>,
  { state, submittedAt }: IssuanceRecord,
  { answer, looks }: { answer: IssuerAnswer; looks: number },
): boolean {
  if (state === 'failed') return false;
  if (answer.found === 'none') return looks >= config.SVERKA_UNKNOWN_ALERT_LOOKS;
  const waitedMs = submittedAt === null ? 0 : Date.now() - submittedAt.getTime();
  return state === 'pending' && waitedMs >= config.SVERKA_PENDING_ALERT_AGE;
}

/** The card that an open decision links to, read before the transaction. */
async function namedByDecision(
  deps: ActivityDeps,
  record: IssuanceRecord,
  traceId: string,
): Promise<NonNullable<IssuanceRead['named']> | undefined> {
  const of = { type: 'issuance', ids: [record.id] } as const;
  const [decision] = await openDecisions<IssuanceChoice>(queriesOf(deps.pool), of);
  if (decision?.choice !== 'link' || decision.argument === null) return undefined;
  const issuer = deps.issuer({ book: record.book, account: record.providerAccount });
  const card = await issuer.readCard(decision.argument, { traceparent: makeTraceparent(traceId) });
  return { ref: decision.argument, card: card === null ? null : toReading(card) };
}

/** One line for one that moved, after the commit: the state, never an amount. */
function tellMove(
  { log }: ActivityDeps,
  before: IssuanceRecord,
  { applied: { record }, traceId }: { applied: AppliedIssuance; traceId: string },
): void {
  if (before.state === record.state) return;
  log.info('issuance moved', {
    trace_id: traceId,
    issuance_id: record.id,
    card_id: record.cardId,
    merchant_id: record.merchantId,
    book: record.book,
    from_state: before.state,
    to_state: record.state,
    reason: record.flag ?? record.reason,
  });
}
