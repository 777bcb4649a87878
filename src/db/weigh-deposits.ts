import type { OpenDecision } from '../contracts/decision.js';
import type { DepositRecord } from '../contracts/deposit.js';
import {
  type DepositChoice,
  type DepositPlan,
  planCopy,
  planDecision,
  planDeposit,
  planParking,
} from '../domain/deposit.js';
import { isSameDecimal } from '../domain/money.js';
import { hashSeen } from './decisions.js';
import type { CreditedOutput, FoundDeposit } from './deposits.js';

/** What a read, or a person, makes of a deposit. */
export interface WeighedPlan extends DepositPlan {
  /** The contradiction that stands accepted from now on. */
  readonly accepted: string | null;
  /** The decision that it follows, or that no longer fits, with what came of it. */
  readonly decided: {
    readonly by: DepositDecision;
    readonly outcome: 'applied' | 'void';
    readonly detail: string;
  } | null;
}
export type DepositDecision = OpenDecision<DepositChoice>;

/** A deposit under its lock, with what the read makes of it. `record` follows its moves. */
export interface WeighedDeposit {
  readonly found: FoundDeposit;
  readonly before: DepositRecord['state'] | null;
  readonly flagged: boolean;
  record: DepositRecord;
  readonly plan: WeighedPlan;
  readonly outcome: 'changed' | 'unchanged' | 'stale';
}

/** Where an output was credited before. */
export type Copied = Pick<CreditedOutput, 'id' | 'addressId' | 'amount'>;

/** One output of one transaction: what one deposit is (R10). */
export function outputOf(of: { network: string; txHash: string | null; outputIndex: number | null }): string {
  return JSON.stringify([of.network, of.txHash, of.outputIndex]);
}

/** What is known of a deposit under its lock. */
export interface KnownDeposit {
  readonly record: DepositRecord;
  readonly copied: Copied | undefined;
  readonly decision: DepositDecision | null;
}

/** What the read of this ticket, or a person, makes of a deposit. `refusal`: why the journal would not book it. */
export function weighDeposit(
  read: { readonly ticket: bigint; readonly refusal: string | undefined },
  found: FoundDeposit,
  known: KnownDeposit,
): Omit<WeighedDeposit, 'before'> {
  const { record } = known;
  const { reading } = found;
  const plan = planOf(read.refusal, found, known);
  const item = { found, flagged: record.flag !== null, record, plan };
  // What was read before the last apply must not undo it.
  if (read.ticket <= record.appliedTicket) return { ...item, outcome: 'stale' };
  const same =
    plan.moves.length === 0 &&
    plan.decided === null &&
    plan.flag === record.flag &&
    record.providerStatus === found.providerStatus &&
    (record.creditedAmount !== null || record.reportedText === reading.amount) &&
    record.txHash === reading.txHash &&
    record.outputIndex === reading.outputIndex;
  return { ...item, outcome: same ? 'unchanged' : 'changed' };
}

function planOf(refusal: string | undefined, found: FoundDeposit, known: KnownDeposit): WeighedPlan {
  const { record, decision } = known;
  const { acceptedFlag } = record;
  if (decision) {
    const sameAsSeen = hashSeenDeposit(record).equals(decision.seenHash);
    const what = { terms: found.at, reading: found.reading, choice: decision.choice, refusal };
    const plan = sameAsSeen ? planDecision(record, what) : 'what was seen has changed';
    if (typeof plan !== 'string')
      return { ...plan, decided: { by: decision, outcome: 'applied', detail: decision.choice } };
    return {
      ...planRead(refusal, found, known),
      accepted: acceptedFlag,
      decided: { by: decision, outcome: 'void', detail: plan },
    };
  }
  const plan = planRead(refusal, found, known);
  // A person has looked at this very contradiction and left the books as they are.
  const flag = plan.flag === acceptedFlag ? null : plan.flag;
  return { ...plan, flag, accepted: acceptedFlag, decided: null };
}

function planRead(
  refusal: string | undefined,
  { at, reading }: FoundDeposit,
  { record, copied }: KnownDeposit,
): DepositPlan {
  // What the journal refused because another record of the output was credited meanwhile is a copy of it.
  const other =
    copied && copied.id !== record.id
      ? planCopy(record, copied.addressId === at.id && isSameDecimal(copied.amount, reading.amount))
      : refusal === undefined
        ? null
        : planParking(record, refusal);
  return other ?? planDeposit(record, at, reading);
}

/** What a person is shown of a deposit before deciding on it, and the decision is bound to. */
export function hashSeenDeposit(record: DepositRecord): Buffer {
  const { id, version, state, reason, flag, providerStatus, reportedText, creditedAmount, creditedAsset } = record;
  return hashSeen([id, version, state, reason, flag, providerStatus, reportedText, creditedAmount, creditedAsset]);
}
