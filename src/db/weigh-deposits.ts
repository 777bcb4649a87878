import type { OpenDecision } from '../contracts/decision.js';
import type { DepositRecord } from '../contracts/deposit.js';
import {
  contradictionOf,
  type DepositPlan,
  type Diversion,
  diversionOfCopy,
  ELSEWHERE,
  plainHash,
  planCopy,
  planDeposit,
  planElsewhere,
  planParking,
} from '../domain/deposit.js';
import { type DepositChoice, planDecision } from '../domain/deposit-decision.js';
import { isSameDecimal } from '../domain/money.js';
import { hashSeen } from './decisions.js';
import type { BookedOutput, FoundDeposit } from './deposits.js';

export type DepositDecision = OpenDecision<DepositChoice>;

/** What is kept of a read, moved or not. What was reported when it was credited stays on show. */
export type DepositFacts = Pick<
  DepositRecord,
  | 'providerStatus'
  | 'network'
  | 'txHash'
  | 'outputIndex'
  | 'reportedText'
  | 'reportedAsset'
  | 'flag'
  | 'contradiction'
  | 'acceptedContradiction'
>;

/** What came of a person's decision. */
export interface DecisionCame {
  readonly by: DepositDecision;
  readonly outcome: 'applied' | 'void';
  readonly detail: string;
}

/** A deposit under its lock, with what the read, or a person, makes of it. `record` follows its moves. */
export interface WeighedDeposit {
  readonly found: FoundDeposit;
  readonly before: DepositRecord['state'] | null;
  readonly flagged: boolean;
  record: DepositRecord;
  readonly plan: DepositPlan;
  readonly facts: DepositFacts;
  readonly decided: DecisionCame | null;
  readonly outcome: 'changed' | 'unchanged' | 'stale';
}

/** Where an output was credited before. */
export type Copied = Pick<BookedOutput, 'id' | 'addressId' | 'amount'>;

/** One output of one transaction: what one deposit is (R10). */
export function outputOf(of: { network: string; txHash: string | null; outputIndex: number | null }): string {
  return JSON.stringify([of.network, plainHash(of.txHash), of.outputIndex]);
}

/** What was booked of each output, by `outputOf`: a page of many looks at each once. */
export type BookedByOutput = Map<string, BookedOutput[]>;

export function addBooked(booked: BookedByOutput, one: BookedOutput): void {
  const output = outputOf(one);
  booked.set(output, [...(booked.get(output) ?? []), one]);
}

/** What this batch is about to book, for the records below it. */
export function bookedNow({ found, record, plan }: WeighedDeposit): BookedOutput {
  const { network, txHash, outputIndex, amount } = found.reading;
  const output = { network, txHash: txHash ?? '', outputIndex: outputIndex ?? 0 };
  return { ...output, id: record.id, addressId: found.at.id, amount, state: 'credited', generation: plan.generation };
}

/** What is known of a deposit under its lock. */
export interface KnownDeposit {
  readonly record: DepositRecord;
  readonly copied: Copied | undefined;
  readonly decision: DepositDecision | null;
  /** The first generation of its output behind those in which another deposit was booked and taken back. */
  readonly firstGeneration: number;
}

/** What the read of this ticket, or a person, makes of a deposit. `refusal`: why the journal would not book it. */
export function weighDeposit(
  read: { readonly ticket: bigint; readonly refusal: string | undefined },
  found: FoundDeposit,
  known: KnownDeposit,
): Omit<WeighedDeposit, 'before'> {
  const { record } = known;
  const made = planOf(read.refusal, found, known);
  const item = { found, flagged: record.flag !== null, record, ...made };
  // What was read before the last apply must not undo it.
  if (read.ticket <= record.appliedTicket) return { ...item, outcome: 'stale' };
  const names = Object.keys(made.facts) as (keyof DepositFacts)[];
  const same =
    made.plan.moves.length === 0 && made.decided === null && names.every((name) => made.facts[name] === record[name]);
  const ended = record.state === 'final' || record.state === 'rejected' || record.state === 'parked';
  return { ...item, outcome: same && ended ? 'unchanged' : 'changed' };
}

/** What a person is shown of a deposit before deciding on it, and the decision is bound to. */
export function hashSeenDeposit(record: DepositRecord): Buffer {
  return hashSeen([
    ...[record.id, record.version, record.state, record.reason, record.generation],
    ...[record.flag, record.contradiction, record.acceptedContradiction],
    ...[record.providerStatus, record.reportedText, record.reportedAsset],
    ...[record.network, record.txHash, record.outputIndex],
    ...[record.creditedAmount, record.creditedAsset],
  ]);
}

type Made = Pick<WeighedDeposit, 'plan' | 'facts' | 'decided'>;

function planOf(refusal: string | undefined, found: FoundDeposit, known: KnownDeposit): Made {
  const { record, decision } = known;
  const plan = planRead(refusal, found, known);
  const facts = factsOf(record, found, { flag: plan.flag, accepted: record.acceptedContradiction });
  if (decision === null) return { plan, facts, decided: null };
  // It has to be true still, in the custodian's words of now, and not only in our row.
  const asSeen = plan.moves.length === 0 && hashSeenDeposit({ ...record, ...facts }).equals(decision.seenHash);
  const { at: terms, reading } = found;
  const instead = diversionOf(refusal, found, known);
  const decided = asSeen
    ? planDecision(standingOf(known), { terms, reading, choice: decision.choice, instead })
    : 'what was seen has changed';
  if (typeof decided === 'string') return { plan, facts, decided: { by: decision, outcome: 'void', detail: decided } };
  const accepted = decided.accepts === null ? null : fullContradiction(decided.accepts, found);
  return {
    plan: decided,
    facts: factsOf(record, found, { flag: decided.accepts, accepted }),
    decided: { by: decision, outcome: 'applied', detail: decision.choice },
  };
}

function planRead(refusal: string | undefined, found: FoundDeposit, known: KnownDeposit): DepositPlan {
  const { record, copied } = known;
  if (found.elsewhere) return planElsewhere(record);
  const same = isCopy(found, record, copied);
  const other = same !== null ? planCopy(record, same) : refusal === undefined ? null : planParking(record, refusal);
  return other ?? planDeposit(standingOf(known), found.at, found.reading);
}

/** One that was never booked begins behind the generations of its output that were taken back (mined again, R10). */
function standingOf({ record, firstGeneration }: KnownDeposit): DepositRecord {
  if (record.movementIds.length > 0) return record;
  return { ...record, generation: Math.max(record.generation, firstGeneration) };
}

function diversionOf(
  refusal: string | undefined,
  found: FoundDeposit,
  { record, copied }: KnownDeposit,
): Diversion | null {
  if (found.elsewhere) return ELSEWHERE;
  const same = isCopy(found, record, copied);
  if (same !== null) return diversionOfCopy(same);
  return refusal === undefined ? null : { to: 'parked', reason: refusal };
}

/** Null when it is none. What the journal refused because another record was credited meanwhile is a copy of that. */
function isCopy({ at, reading }: FoundDeposit, record: DepositRecord, copied: Copied | undefined): boolean | null {
  if (copied === undefined || copied.id === record.id) return null;
  return copied.addressId === at.id && isSameDecimal(copied.amount, reading.amount);
}

function factsOf(
  record: DepositRecord,
  found: FoundDeposit,
  { flag, accepted }: { flag: string | null; accepted: string | null },
): DepositFacts {
  const { network, asset, amount, txHash, outputIndex } = found.reading;
  const credited = record.state === 'credited' || record.state === 'final';
  const { reportedText, reportedAsset } = record;
  const reported = credited
    ? { network: record.network, txHash: record.txHash, outputIndex: record.outputIndex, reportedText, reportedAsset }
    : {
        network,
        txHash: txHash ?? record.txHash,
        outputIndex: outputIndex ?? record.outputIndex,
        reportedText: amount,
        reportedAsset: asset,
      };
  const contradiction = flag === null ? null : fullContradiction(flag, found);
  return {
    ...reported,
    providerStatus: found.providerStatus,
    contradiction,
    acceptedContradiction: accepted,
    // A person has looked at this very contradiction and left the books as they are.
    flag: contradiction === accepted ? null : flag,
  };
}

function fullContradiction(flag: string, { reading, providerStatus, place }: FoundDeposit): string {
  return contradictionOf(flag, reading, { providerStatus, address: place.address, tag: place.tag });
}
