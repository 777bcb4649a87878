import type { IssuanceRecord } from '../contracts/card.js';
import type { OpenDecision } from '../contracts/decision.js';
import {
  type IssuancePlan,
  type IssuerAnswer,
  type IssuerReading,
  issuerContradiction,
  planIssuance,
} from '../domain/issuance.js';
import { type DecidedIssuance, type IssuanceChoice, planIssuanceDecision } from '../domain/issuance-decision.js';
import { bookIssuance, type IssuanceBooking } from './book-issuance.js';
import { closeDecision, openDecisions } from './decisions.js';
import { raiseIssuanceAlert, resolveIssuanceAlert } from './issuance-alert.js';
import { hashSeenIssuance, isTaken, lockIssuance, noteIssuance } from './issuances.js';
import { issueAgain } from './issue-again.js';
import { mirrorCard } from './mirror-card.js';
import type { Tx } from './transaction.js';
import { walkIssuance } from './walk-issuance.js';

/** What was read of one issuance, by whomever. */
export interface IssuanceRead {
  readonly id: string;
  readonly answer: IssuerAnswer;
  /** Taken before the read began. */
  readonly ticket: bigint;
  /** The card that an open decision names, as it reads now; absent when there is no such decision. */
  readonly named?: { readonly ref: string; readonly card: IssuerReading | null };
  /** Absent, or not made, for so long that a person has to look. */
  readonly tooLong: boolean;
  /** Why a card was not issued again, when it was tried before: the decision is void. */
  readonly againRefused?: string;
  readonly actor: string;
  readonly traceId: string;
  /** Locks the notifications that this apply settles: before any subject (DESIGN 10). */
  readonly lockInbox?: (tx: Tx) => Promise<void>;
  /** What commits together with it, before the money. */
  readonly alongside?: (tx: Tx) => Promise<void>;
}

export interface AppliedIssuance {
  /** `stale`: its read began before the last apply, read again. */
  readonly outcome: 'changed' | 'unchanged' | 'stale';
  readonly record: IssuanceRecord;
}

type Decision = OpenDecision<IssuanceChoice>;

/**
 * The one apply function of issuances: the create's answer, webhook, poll, reconciliation and operator alike; running
 * it again changes nothing. In the caller's transaction: rows, audit, events, alerts, and last of all one `post`.
 * Throws `HoldRefused` and `AgainRefused` when a card cannot be issued again: apply again with the reason.
 */
export async function applyIssuance(tx: Tx, read: IssuanceRead): Promise<AppliedIssuance> {
  await read.lockInbox?.(tx);
  const before = await lockIssuance(tx, read.id);
  if (read.ticket <= before.appliedTicket) return { outcome: 'stale', record: before };
  const decision = await decisionFor(tx, read);
  const planned = planIssuance(before, read.answer);
  const noted = await noteIssuance(tx, read.id, noteOf(before, read, planned));
  const linked = decision?.choice === 'link' ? read.named?.card : null;
  const taken = linked != null && (await isTaken(tx, noted, linked));
  const came = decision ? decide(noted, read, { planned, decision, taken }) : null;
  const decided = came !== null && came.plan !== null ? { ...came, plan: came.plan } : null;
  const plan = decided?.plan ?? planned;
  const actor = decided ? `user:${decided.by.userId}` : read.actor;
  const card = decided?.by.choice === 'link' ? (read.named?.card ?? undefined) : cardOf(read);

  const step = { reason: plan.reason, actor, card, traceId: read.traceId };
  let record = plan.to === null ? noted : await walkIssuance(tx, noted, { ...step, to: plan.to });
  // What moves it to `active` is an active or a frozen card, and the move has kept that already.
  const mirrored = record.state === 'active' && plan.to !== 'active';
  if (mirrored && card !== undefined && card.providerRef === record.providerRef) {
    await mirrorCard(tx, { cardId: record.cardId, status: card.status, traceId: read.traceId });
  }
  if (decided?.plan.accepts) record = await acceptContradiction(tx, record);
  const again = decided?.plan.again ? await issueAgain(tx, record, { ...decided.by, traceId: read.traceId }) : null;
  await tellPeople(tx, record, { before, traceId: read.traceId });
  if (came) await closeDecision(tx, came.by, { ...came, traceId: read.traceId });
  await read.alongside?.(tx);
  await bookIssuance(tx, { finish: finishOf(record, plan.to), hold: again }, read.traceId);
  const same = record.version === before.version && record.flag === before.flag && came === null;
  return { outcome: same ? 'unchanged' : 'changed', record };
}

/** The open decision; one that came while this was read and names a card waits for the read that its nudge asks for. */
async function decisionFor(tx: Tx, read: IssuanceRead): Promise<Decision | undefined> {
  const [decision] = await openDecisions<IssuanceChoice>(tx, { type: 'issuance', ids: [read.id] });
  const unread = decision?.choice === 'link' && decision.argument !== read.named?.ref;
  return unread ? undefined : decision;
}

function finishOf(of: IssuanceRecord, to: IssuancePlan['to']): IssuanceBooking['finish'] {
  if (to !== 'active' && to !== 'failed') return null;
  return { of, operation: to === 'active' ? 'settle' : 'release' };
}

/** What came of a person's decision; without a plan it is void. */
interface Came {
  readonly by: Decision;
  readonly plan: DecidedIssuance | null;
  readonly outcome: 'applied' | 'void';
  readonly detail: string;
}

/** A decision has to fit what the person saw, in the issuer's words of now. */
function decide(
  record: IssuanceRecord,
  read: IssuanceRead,
  of: { planned: IssuancePlan; decision: Decision; taken: boolean },
): Came {
  const { decision } = of;
  const plan = planDecided(record, read, of);
  if (typeof plan === 'string') return { by: decision, plan: null, outcome: 'void', detail: plan };
  return { by: decision, plan, outcome: 'applied', detail: decision.choice };
}

function planDecided(
  record: IssuanceRecord,
  read: IssuanceRead,
  { planned, decision, taken }: { planned: IssuancePlan; decision: Decision; taken: boolean },
): DecidedIssuance | string {
  if (planned.to !== null || !hashSeenIssuance(record).equals(decision.seenHash)) return 'what was seen has changed';
  if (read.againRefused !== undefined) return read.againRefused;
  const plan = planIssuanceDecision(record, decision.choice, read.named?.card ?? null);
  return taken && typeof plan !== 'string' ? 'that card is another issuance’s' : plan;
}

function cardOf({ answer }: IssuanceRead): IssuerReading | undefined {
  return answer.found === 'one' ? answer.card : undefined;
}

function noteOf(before: IssuanceRecord, read: IssuanceRead, plan: IssuancePlan) {
  const card = cardOf(read);
  const contradiction = plan.flag === null ? null : issuerContradiction(plan.flag, read.answer);
  const accepted = contradiction !== null && contradiction === before.acceptedContradiction;
  return {
    providerRef: before.state === 'active' ? before.providerRef : (card?.providerRef ?? before.providerRef),
    providerStatus: card?.status ?? before.providerStatus,
    declineReason: card?.declineReason ?? before.declineReason,
    flag: accepted ? null : plan.flag,
    contradiction,
    acceptedContradiction: before.acceptedContradiction,
    needsOperator: (plan.flag !== null && !accepted) || read.tooLong || (before.needsOperator && card === undefined),
  };
}

async function acceptContradiction(tx: Tx, record: IssuanceRecord): Promise<IssuanceRecord> {
  return noteIssuance(tx, record.id, {
    ...record,
    acceptedContradiction: record.contradiction,
    flag: null,
    needsOperator: false,
  });
}

/** What waits for a person is an alert; it is resolved when nothing waits any more. */
async function tellPeople(
  tx: Tx,
  record: IssuanceRecord,
  { before, traceId }: { before: IssuanceRecord; traceId: string },
): Promise<void> {
  if (record.flag !== null || record.needsOperator) {
    const why = record.flag ?? (record.state === 'pending' ? 'pending_too_long' : 'outcome_unknown');
    const detail = `An issuance waits for a person (${why}): ask the issuer, then \`sverka issuances decide\`.`;
    await raiseIssuanceAlert(tx, record, { detail, traceId });
  } else if (before.flag !== null || before.needsOperator) {
    await resolveIssuanceAlert(tx, record);
  }
}
