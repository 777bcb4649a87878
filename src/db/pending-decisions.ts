import type { IssuanceRecord } from '../contracts/card.js';
import type { DecisionSubject } from '../contracts/decision.js';
import type { DepositRecord } from '../contracts/deposit.js';
import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { decidableBalances } from '../domain/balance-decision.js';
import { decidable } from '../domain/deposit-decision.js';
import { decidableIssuance } from '../domain/issuance-decision.js';
import { decidableWithdrawal } from '../domain/withdrawal.js';
import { findOpenAlert } from './alerts-listing.js';
import { type BalanceSourceRecord, findBalanceSource, hashSeenBalances } from './balance-sources.js';
import { choicesOf, type DeadLetterRecord, findDeadLetter, hashSeenDeadLetter } from './dead-letters.js';
import { decisionStage, insertDecision, type NewDecision } from './decisions.js';
import { readDeposit } from './deposits.js';
import { Refused, UniqueViolation } from './errors.js';
import { issuanceAlertKey } from './issuance-alert.js';
import { findIssuance, hashSeenIssuance, latestIssuance } from './issuances.js';
import { waitsForPerson } from './issuances-listing.js';
import type { Tx } from './transaction.js';
import { hashSeenDeposit } from './weigh-deposits.js';
import { findSeenWithdrawal } from './withdrawals.js';

/** What a person decides on, as it stands at the moment it is shown: by console and command line alike. */
export interface PendingDecision<Record> {
  readonly type: DecisionSubject;
  readonly id: string;
  /** Read before the subject: of two people who looked at the same, only one can decide. */
  readonly stage: string;
  readonly record: Record;
  /** Over all of the record that has to be shown. */
  readonly seenHash: Buffer;
  /** What the open alert about it says; null when there is none. */
  readonly alert: string | null;
  /** What can be decided now; empty when nothing can. */
  readonly choices: readonly string[];
  /** False where something can be decided although nothing waits for it. */
  readonly needed: boolean;
}

/** Null when there is no such deposit. */
export async function pendingDeposit(db: Tx, id: string): Promise<PendingDecision<DepositRecord> | null> {
  const stage = await decisionStage(db, { type: 'deposit', id });
  const record = await readDeposit(db, id);
  if (record === null) return null;
  const choices = decidable(record);
  const alert = await alertOf(db, `deposit:${id}`);
  const seenHash = hashSeenDeposit(record);
  return { type: 'deposit', id, stage, record, seenHash, alert, choices, needed: choices.length > 0 };
}

/** Null when there is no such issuance; an id of a card is its newest one. */
export async function pendingIssuance(db: Tx, id: string): Promise<PendingDecision<IssuanceRecord> | null> {
  const issuanceId = id.startsWith('card_') ? (await latestIssuance(db, id))?.id : id;
  if (issuanceId === undefined) return null;
  const stage = await decisionStage(db, { type: 'issuance', id: issuanceId });
  const record = await findIssuance(db, issuanceId);
  if (record === null) return null;
  const choices = decidableIssuance(record);
  return {
    ...{ type: 'issuance', id: issuanceId, stage, record, choices },
    seenHash: hashSeenIssuance(record),
    alert: await alertOf(db, issuanceAlertKey(record)),
    needed: choices.length > 0 && waitsForPerson(record),
  };
}

/** Null when there is no such withdrawal. */
export async function pendingWithdrawal(db: Tx, id: string): Promise<PendingDecision<WithdrawalRecord> | null> {
  const stage = await decisionStage(db, { type: 'withdrawal', id });
  const seen = await findSeenWithdrawal(db, id);
  if (seen === null) return null;
  const choices = decidableWithdrawal(seen.record);
  return {
    ...{ type: 'withdrawal', id, stage, ...seen, choices },
    alert: await alertOf(db, `withdrawal:${id}`),
    // What the custodian pays waits for nobody, though it can still be stopped.
    needed: choices.some((choice) => choice !== 'cancel'),
  };
}

/** Null when there is no such dead letter. */
export async function pendingDeadLetter(db: Tx, id: string): Promise<PendingDecision<DeadLetterRecord> | null> {
  const stage = await decisionStage(db, { type: 'dead_letter', id });
  const record = await findDeadLetter(db, id);
  if (record === null) return null;
  const choices = choicesOf(record);
  return {
    ...{ type: 'dead_letter', id, stage, record, choices },
    seenHash: hashSeenDeadLetter(record),
    alert: await alertOf(db, `dead_letter:${record.inboxId}`),
    needed: choices.length > 0,
  };
}

/** Null when there is no such mirrored account. A reset needs nobody; a person may want one all the same. */
export async function pendingBalances(db: Tx, key: string): Promise<PendingDecision<BalanceSourceRecord> | null> {
  const stage = await decisionStage(db, { type: 'balance_source', id: key });
  const record = await findBalanceSource(db, key);
  if (record === null) return null;
  const choices = decidableBalances(record);
  const alert = await alertOf(db, `balance_difference:${record.provider}:${record.account}`);
  const seenHash = hashSeenBalances(record);
  return { type: 'balance_source', id: key, stage, record, seenHash, alert, choices, needed: false };
}

/** How leaving a decision ended: it is a row, somebody was faster, or this person's roles do not allow it. */
export type LeftDecision =
  | { readonly kind: 'left'; readonly id: string }
  | { readonly kind: 'decided_before' | 'not_allowed'; readonly cause: Error };

/** Leaves a person's decision, bound to what that person saw; whoever applies it looks whether it is still so. */
export async function leaveDecision(db: Tx, decision: NewDecision): Promise<LeftDecision> {
  try {
    return { kind: 'left', id: await insertDecision(db, decision) };
  } catch (error) {
    if (error instanceof UniqueViolation) return { kind: 'decided_before', cause: error };
    // The trigger's own words: what the role itself may not do is told as that.
    if (error instanceof Refused && error.message.startsWith('this person'))
      return { kind: 'not_allowed', cause: error };
    throw error;
  }
}

async function alertOf(db: Tx, key: string): Promise<string | null> {
  return (await findOpenAlert(db, key))?.detail ?? null;
}
