import { BALANCE_CHOICES } from '../domain/balance-decision.js';
import { holdsCardNumber } from '../domain/card-numbers.js';
import { DEPOSIT_CHOICES } from '../domain/deposit-decision.js';
import { ISSUANCE_CHOICES } from '../domain/issuance-decision.js';
import { WITHDRAWAL_CHOICES } from '../domain/withdrawal.js';

/** What a person may decide, by subject; the choice is bound to what that person saw. */
export const DECISION_CHOICES = {
  deposit: DEPOSIT_CHOICES,
  issuance: ISSUANCE_CHOICES,
  /** `replay`: try it again, once; `abandon`: close it without an effect. */
  dead_letter: ['replay', 'abandon'],
  withdrawal: WITHDRAWAL_CHOICES,
  /** `rebase`: a fresh snapshot is what the sums of a mirrored account rest on. */
  balance_source: BALANCE_CHOICES,
} as const;
export type DecisionSubject = keyof typeof DECISION_CHOICES;

export const REASON_CHARACTERS_MAX = 1_000;

/** True for a text that can stand as the reason of a decision, for ever. */
export function isDecisionReason(text: string): boolean {
  return text.trim() !== '' && [...text].length <= REASON_CHARACTERS_MAX && !holdsCardNumber(text);
}

/** True for what can be the issuer's id of a card; a card's own number never gets into a row. */
export function isLinkedCard(text: string): boolean {
  return /^[A-Za-z0-9._:-]{1,128}$/.test(text) && !holdsCardNumber(text);
}

/** A decision that is still to be applied. */
export interface OpenDecision<Choice extends string = string> {
  readonly id: string;
  readonly subjectId: string;
  readonly choice: Choice;
  /** What the choice names: of `link` the card at the issuer, of `approve` the way to pay, of `complete` the proof. */
  readonly argument: string | null;
  readonly seenHash: Buffer;
  readonly userId: string;
  readonly reason: string;
  readonly traceId: string | null;
}
