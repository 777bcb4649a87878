import { decimalsOf } from './assets.js';
import { type Minor, parseAmount } from './money.js';
import type { StateMove } from './states.js';

/** What a person may decide on a deposit. */
export const DEPOSIT_CHOICES = ['retry', 'reject', 'orphan', 'accept'] as const;
export type DepositChoice = (typeof DEPOSIT_CHOICES)[number];

export const DEPOSIT_STATES = [
  'noticed',
  'confirming',
  'credited',
  'final',
  'orphaned',
  'rejected',
  'dropped',
  'parked',
] as const;
export type DepositState = (typeof DEPOSIT_STATES)[number];

/** Legal moves of a deposit (DESIGN 9); the database holds the same table (migrations/000015). */
export const DEPOSIT_MOVES: readonly StateMove<DepositState>[] = [
  { from: null, to: 'noticed' },
  { from: 'noticed', to: 'confirming' },
  { from: 'noticed', to: 'rejected' },
  { from: 'noticed', to: 'parked' },
  { from: 'confirming', to: 'credited' },
  { from: 'confirming', to: 'rejected' },
  { from: 'confirming', to: 'dropped' },
  { from: 'confirming', to: 'parked' },
  { from: 'credited', to: 'final' },
  { from: 'credited', to: 'orphaned' },
  { from: 'orphaned', to: 'confirming' },
  { from: 'dropped', to: 'confirming' },
  { from: 'final', to: 'orphaned', byDecision: true },
  { from: 'parked', to: 'noticed', byDecision: true },
  { from: 'parked', to: 'confirming', byDecision: true },
  { from: 'parked', to: 'credited', byDecision: true },
  { from: 'parked', to: 'final', byDecision: true },
  { from: 'parked', to: 'orphaned', byDecision: true },
  { from: 'parked', to: 'rejected', byDecision: true },
  { from: 'parked', to: 'dropped', byDecision: true },
];

/** What an authoritative read says of a deposit, as far as money is concerned. */
export interface DepositReading {
  /** One of the provider's words, or any other text: never guessed from (R4). */
  readonly status: string;
  readonly network: string;
  readonly asset: string;
  readonly txHash: string | null;
  readonly outputIndex: number | null;
  readonly amount: string;
  readonly settlement: { readonly asset: string; readonly amount: string } | null;
}

/** What the deposit address fixed at its birth (R8). */
export interface DepositTerms {
  readonly network: string;
  readonly asset: string;
  readonly settlementMode: 'as_token' | 'settled';
  readonly settlementAsset: string | null;
}

/** What we have booked and where the deposit stands. */
export interface DepositStanding {
  readonly state: DepositState;
  readonly generation: number;
  readonly creditedAmount: Minor | null;
  readonly creditedAsset: string | null;
  readonly txHash: string | null;
  readonly outputIndex: number | null;
}

/** One step. `decided`: a person made it; an `orphaned` one takes back what was credited. */
export interface DepositMove {
  readonly to: DepositState;
  readonly reason: string | null;
  readonly decided?: true;
}

export interface DepositPlan {
  readonly moves: readonly DepositMove[];
  readonly generation: number;
  readonly credit: { readonly amount: Minor; readonly asset: string } | null;
  /** A contradiction that a person must look at; the state stays. */
  readonly flag: string | null;
}

/** Where a reading leads, before it is held against what was booked. */
type Verdict =
  | { readonly to: 'confirming' | 'rejected' | 'dropped' | 'parked'; readonly reason: string | null }
  | { readonly to: 'final'; readonly credit: { readonly amount: Minor; readonly asset: string } };

/**
 * Decides what a reading makes of a deposit: pure, so that webhook, poll, reconciliation and operator agree.
 * A first reading may walk several moves. Nothing is ever taken from a status that we do not know (R4).
 */
export function planDeposit(standing: DepositStanding, terms: DepositTerms, reading: DepositReading): DepositPlan {
  const stay = { moves: [], generation: standing.generation, credit: null, flag: null };
  const verdict = judge(terms, reading);
  if (verdict === 'unknown_status') return { ...stay, flag: 'unknown_provider_status' };
  switch (standing.state) {
    case 'parked':
      return stay;
    case 'credited':
    case 'final':
      return { ...stay, flag: contradictsCredit(standing, reading, verdict) };
    case 'rejected':
      return { ...stay, flag: verdict.to === 'final' ? COMPLETED_AFTER_REJECTION : null };
    default:
      return walk(standing, verdict);
  }
}

/** Where a deposit goes instead, whatever its record says: what cannot be booked, or is a copy of another. */
export interface Diversion {
  readonly to: 'parked' | 'dropped';
  readonly reason: string;
}

/** What a decision makes of a deposit. */
export interface DecidedPlan extends DepositPlan {
  /** The flag of the contradiction that stands accepted from now on. */
  readonly accepts: string | null;
}

/**
 * What a person's decision makes of a deposit as it stands and reads now; a text when it does not fit.
 * `retry` a parked one as if it were noticed anew, `reject` it, `orphan` a final one that the custodian says has
 * failed (its money is taken back), `accept` a contradiction and leave the books as they are.
 */
export function planDecision(
  standing: DepositStanding & { readonly flag: string | null },
  what: {
    readonly terms: DepositTerms;
    readonly reading: DepositReading;
    readonly choice: DepositChoice;
    /** Why the journal would not book it, or that its output was credited before. */
    readonly instead: Diversion | null;
  },
): DecidedPlan | string {
  const { state, generation, flag } = standing;
  const stay = { moves: [], generation, credit: null, flag: null, accepts: null };
  const verdict = judge(what.terms, what.reading);
  switch (what.choice) {
    case 'accept':
      return flag === null ? 'there is no contradiction to accept' : { ...stay, accepts: flag };
    case 'orphan': {
      const failed = verdict !== 'unknown_status' && (verdict.to === 'rejected' || verdict.to === 'dropped');
      if (state !== 'final' || !failed) return 'only a final deposit that the custodian says has failed is orphaned';
      if (what.instead) return `its money could not be taken back (${what.instead.reason})`;
      return { ...stay, moves: [{ to: 'orphaned', reason: FAILED_AFTER_CREDIT, decided: true }] };
    }
    case 'reject': {
      if (state !== 'parked') return 'it is not parked';
      // That the custodian has completed it is known to who rejects it: no news, and no flag.
      const completed = verdict !== 'unknown_status' && verdict.to === 'final';
      const accepts = completed ? COMPLETED_AFTER_REJECTION : null;
      return { ...stay, moves: [{ to: 'rejected', reason: 'by_decision', decided: true }], accepts };
    }
    case 'retry': {
      if (state !== 'parked') return 'it is not parked';
      if (verdict === 'unknown_status') return 'the custodian states a status that we do not know';
      const onward = walk({ ...standing, state: 'confirming' }, what.instead ?? verdict);
      const again = { to: 'confirming', reason: 'by_decision', decided: true } as const;
      return { ...onward, moves: [again, ...onward.moves], accepts: null };
    }
  }
}

/** What a person can decide on a deposit as it stands; whether it still fits is seen when it is applied. */
export function decidable(standing: {
  readonly state: DepositState;
  readonly flag: string | null;
  readonly contradiction: string | null;
}): DepositChoice[] {
  const { state, flag, contradiction } = standing;
  const failed = state === 'final' && contradiction?.startsWith(FAILED_AFTER_CREDIT) === true;
  const possible: Readonly<Record<DepositChoice, boolean>> = {
    retry: state === 'parked',
    reject: state === 'parked',
    orphan: failed,
    accept: flag !== null,
  };
  return DEPOSIT_CHOICES.filter((choice) => possible[choice]);
}

/** What cannot be booked goes to a person, with the reason. Null where it is too late: then the record decides. */
export function planParking(standing: DepositStanding, reason: string): DepositPlan | null {
  return divert(standing, { to: 'parked', reason });
}

/**
 * A second record of an output that was credited before: the same money is dropped, any other goes to a person. Null
 * where it is too late for that.
 */
export function planCopy(standing: DepositStanding, same: boolean): DepositPlan | null {
  return divert(standing, diversionOfCopy(same));
}

/** Where a second record of an output goes. */
export function diversionOfCopy(same: boolean): Diversion {
  return same ? { to: 'dropped', reason: 'same_output' } : { to: 'parked', reason: 'output_differs' };
}

/**
 * A contradiction in full: the flag and all that the custodian says now. A person accepts it to the letter, so that any
 * other one is news again.
 */
export function contradictionOf(flag: string, reading: DepositReading, providerStatus: string): string {
  const { amount, asset, network, txHash, outputIndex, settlement } = reading;
  const where = `${network} ${txHash ?? 'no transaction'} #${outputIndex ?? '?'}`;
  const settled = settlement === null ? '' : `, settled as ${settlement.amount} ${settlement.asset}`;
  return `${flag}: ${providerStatus} ${amount} ${asset} in ${where}${settled}`;
}

const COMPLETED_AFTER_REJECTION = 'completed_after_rejection';
const FAILED_AFTER_CREDIT = 'failed_after_credit';

function divert(standing: DepositStanding, diversion: Diversion): DepositPlan | null {
  return ['credited', 'final', 'rejected', 'parked'].includes(standing.state) ? null : walk(standing, diversion);
}

function judge(terms: DepositTerms, reading: DepositReading): Verdict | 'unknown_status' {
  if (!['seen', 'confirming', 'completed', 'failed', 'replaced'].includes(reading.status)) return 'unknown_status';
  if (reading.status === 'failed') return { to: 'rejected', reason: 'failed_at_provider' };
  if (reading.status === 'replaced') return { to: 'dropped', reason: 'replaced' };
  if (reading.network !== terms.network) return { to: 'parked', reason: 'wrong_network' };
  if (reading.asset !== terms.asset) return { to: 'parked', reason: 'wrong_asset' };
  if (reading.status !== 'completed') return { to: 'confirming', reason: null };
  if (reading.txHash === null || reading.outputIndex === null) return { to: 'parked', reason: 'no_transaction' };
  const { settlement } = reading;
  if (terms.settlementMode === 'settled') {
    if (settlement === null) return { to: 'confirming', reason: 'awaiting_settlement' };
    if (settlement.asset !== terms.settlementAsset) return { to: 'parked', reason: 'wrong_settlement_asset' };
    return judgeAmount(settlement.amount, settlement.asset);
  }
  return judgeAmount(reading.amount, reading.asset);
}

function judgeAmount(text: string, asset: string): Verdict {
  const amount = parseAmount(text, decimalsOf(asset));
  if (typeof amount !== 'bigint') return { to: 'parked', reason: `amount_${amount}` };
  if (amount === 0n) return { to: 'rejected', reason: 'zero_amount' };
  return { to: 'final', credit: { amount, asset } };
}

function contradictsCredit(standing: DepositStanding, reading: DepositReading, verdict: Verdict): string | null {
  switch (verdict.to) {
    case 'final':
      if (verdict.credit.amount !== standing.creditedAmount || verdict.credit.asset !== standing.creditedAsset) {
        return 'amount_changed_after_credit';
      }
      return reading.txHash === standing.txHash && reading.outputIndex === standing.outputIndex
        ? null
        : 'transaction_changed_after_credit';
    case 'rejected':
    case 'dropped':
      return FAILED_AFTER_CREDIT;
    case 'parked':
      return `${verdict.reason}_after_credit`;
    case 'confirming':
      return null;
  }
}

function walk(standing: DepositStanding, verdict: Verdict): DepositPlan {
  const { state } = standing;
  const credit = verdict.to === 'final' ? verdict.credit : null;
  const reason = verdict.to === 'final' ? null : verdict.reason;
  const again = state === 'dropped' || state === 'orphaned';
  const generation = standing.generation + (again ? 1 : 0);
  const unmoved = { moves: [], generation: standing.generation, credit: null, flag: null };
  if (state === verdict.to || (again && (verdict.to === 'rejected' || verdict.to === 'dropped'))) return unmoved;
  // Custody's `completed` is credited and final at once; a drop is seen from `confirming` only.
  const before: DepositState[] = state === 'confirming' ? [] : ['confirming'];
  const direct = state === 'noticed' && (verdict.to === 'rejected' || verdict.to === 'parked');
  const path: DepositState[] =
    verdict.to === 'final'
      ? [...before, 'credited', 'final']
      : verdict.to === 'confirming' || direct
        ? [verdict.to]
        : [...before, verdict.to];
  const moves = path.map((to, place) => ({ to, reason: place === path.length - 1 ? reason : null }));
  return { moves, generation, credit, flag: null };
}
