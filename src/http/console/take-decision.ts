import { isDecisionReason } from '../../contracts/decision.js';
import { type LeftDecision, leaveDecision, type PendingDecision } from '../../db/pending-decisions.js';
import type { SignedCall } from '../pages/call.js';
import type { Word } from '../pages/words.js';
import type { ConsoleDeps } from './console-deps.js';
import { requireStepUp } from './step-up.js';

/** Why a decision was not taken; the page is shown again with it, and with what was entered. */
export interface DecisionProblem {
  readonly status: 403 | 409 | 422;
  /** Of a conflict: what happened. */
  readonly changed?: 'decide_changed' | 'decide_before';
  /** Refused fields, by name. */
  readonly fields: Readonly<Partial<Record<DecisionField, Word>>>;
}

/** `argument` is what a choice names, where it names something: its own field. */
export type DecisionField = 'choice' | 'reason' | 'argument' | 'passkey';

/** What a choice names, or why what was entered names nothing. Asked once all else of the form is sound. */
export type ArgumentOf = (choice: string) => Promise<string | null | { readonly refused: Word }>;

const NOTHING: ArgumentOf = async () => null;

/**
 * Takes a person's decision from the form of a subject's page: bound to the stage and the hash that the page showed, so
 * that what changed meanwhile, or was decided by somebody else, refuses it. Answers the decision's id, or why not.
 */
export async function takeDecision(
  call: SignedCall<ConsoleDeps>,
  pending: PendingDecision<unknown>,
  argumentOf: ArgumentOf = NOTHING,
): Promise<{ readonly id: string } | { readonly problem: DecisionProblem }> {
  const { deps, form, session, traceId } = call;
  const { type, id, stage, seenHash, choices } = pending;
  const [choice, reason] = [form.text('choice'), form.text('reason')];
  if (form.text('stage') !== stage) return { problem: conflict('decide_before') };
  if (form.text('seen') !== seenHash.toString('hex')) return { problem: conflict('decide_changed') };
  const fields: DecisionProblem['fields'] = {
    ...(choices.includes(choice) ? {} : { choice: 'decide_choose' as const }),
    ...(isDecisionReason(reason) ? {} : { reason: 'decide_reason_bad' as const }),
  };
  if (Object.keys(fields).length > 0) return { problem: { status: 422, fields } };
  const argument = await argumentOf(choice);
  if (argument !== null && typeof argument !== 'string') {
    return { problem: { status: 422, fields: { argument: argument.refused } } };
  }
  // Behind all else: what a passkey has signed is used up by being looked at.
  const needsPasskey = type === 'withdrawal' && choice === 'approve';
  const problem = needsPasskey ? await requireStepUp(call, seenHash) : null;
  if (problem !== null) return { problem };
  const left = await leaveDecision(deps.db, {
    ...{ subjectType: type, subjectId: id, stage, choice, argument, seenHash },
    ...{ userId: session.userId, reason, traceId },
  });
  return left.kind === 'left' ? { id: left.id } : { problem: refusal(left.kind) };
}

function conflict(changed: 'decide_changed' | 'decide_before'): DecisionProblem {
  return { status: 409, changed, fields: {} };
}

function refusal(kind: Exclude<LeftDecision['kind'], 'left'>): DecisionProblem {
  return kind === 'decided_before' ? conflict('decide_before') : { status: 403, fields: {} };
}
