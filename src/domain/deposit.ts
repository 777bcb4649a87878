import { decimalsOf } from './assets.js';
import { type Minor, parseAmount } from './money.js';
import type { StateMove } from './states.js';

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
  { from: 'noticed', to: 'dropped', byDecision: true },
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
export type Verdict =
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

/** A hash of hex digits is the same in capitals and with 0x in front; one in any other alphabet is what it is. */
export function plainHash(hash: string | null): string | null {
  if (hash === null || !/^(0x)?[0-9a-f]+$/i.test(hash)) return hash;
  return hash.replace(/^0x/i, '').toLowerCase();
}

/**
 * A record that now names another address than the one its deposit belongs to: whose money it is, a person says. It is
 * never credited by the terms of one address to the owner of another.
 */
export function planElsewhere(standing: DepositStanding): DepositPlan {
  const parked = divert(standing, ELSEWHERE);
  if (parked) return parked;
  const credited = standing.state === 'credited' || standing.state === 'final';
  const flag = credited ? `${ELSEWHERE.reason}_after_credit` : null;
  return { moves: [], generation: standing.generation, credit: null, flag };
}

/** Where such a deposit goes when a person has it tried again. */
export const ELSEWHERE: Diversion = { to: 'parked', reason: 'address_changed' };

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
export function contradictionOf(
  flag: string,
  reading: DepositReading,
  at: { readonly providerStatus: string; readonly address: string; readonly tag: string | null },
): string {
  const { amount, asset, network, txHash, outputIndex, settlement } = reading;
  const where = `${network} ${txHash ?? 'no transaction'} #${outputIndex ?? '?'}`;
  const settled = settlement === null ? '' : `, settled as ${settlement.amount} ${settlement.asset}`;
  const place = at.tag === null ? at.address : `${at.address} (${at.tag})`;
  return `${flag}: ${at.providerStatus} ${amount} ${asset} at ${place} in ${where}${settled}`;
}

export const COMPLETED_AFTER_REJECTION = 'completed_after_rejection';
export const FAILED_AFTER_CREDIT = 'failed_after_credit';

function divert(standing: DepositStanding, diversion: Diversion): DepositPlan | null {
  return ['credited', 'final', 'rejected', 'parked'].includes(standing.state) ? null : walk(standing, diversion);
}

/** Where a reading leads, by the terms of its address. */
export function judge(terms: DepositTerms, reading: DepositReading): Verdict | 'unknown_status' {
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
      return plainHash(reading.txHash) === plainHash(standing.txHash) && reading.outputIndex === standing.outputIndex
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

/** The moves from where a deposit stands to where a verdict leads. */
export function walk(standing: DepositStanding, verdict: Verdict): DepositPlan {
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
