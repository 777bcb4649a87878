import { decimalsOf } from './assets.js';
import type { CardProduct } from './card.js';
import { type Minor, parseAmount } from './money.js';
import type { StateMove } from './states.js';

export const ISSUANCE_STATES = [
  'reserved',
  'submitted',
  'pending',
  'active',
  'failed',
  'unknown',
  'found_late',
] as const;
export type IssuanceState = (typeof ISSUANCE_STATES)[number];

/** Legal moves of an issuance (DESIGN 9); the database holds the same table (migrations/000045). */
export const ISSUANCE_MOVES: readonly StateMove<IssuanceState>[] = [
  { from: null, to: 'reserved' },
  { from: 'reserved', to: 'submitted' },
  { from: 'reserved', to: 'failed' },
  { from: 'submitted', to: 'pending' },
  { from: 'submitted', to: 'active' },
  { from: 'submitted', to: 'failed' },
  { from: 'submitted', to: 'unknown' },
  { from: 'pending', to: 'active' },
  { from: 'pending', to: 'failed' },
  { from: 'unknown', to: 'pending' },
  { from: 'unknown', to: 'active' },
  { from: 'unknown', to: 'failed' },
  { from: 'failed', to: 'found_late' },
];

/** The issuer said no, definitely: what was reserved is given back. */
export const ISSUER_DECLINED = 'issuer_declined';
/** The identity was erased before anything was sent. */
export const CARDHOLDER_ERASED = 'cardholder_erased';
/** Its run was ended by hand before anything was sent. */
export const RUN_LOST = 'run_lost';
/** A create that left no answer. */
export const CREATE_UNANSWERED = 'create_unanswered';
/** What a person's decisions write as reason. */
export const DECLARED_FAILED = 'declared_failed';
export const ISSUED_AGAIN = 'issued_again';

/** What an authoritative read says of a card at the issuer. Nothing of its number but the last four digits. */
export interface IssuerReading {
  readonly providerRef: string;
  readonly reference: string;
  readonly product: string;
  /** One of the issuer's words, or any other text: never guessed from (R4). */
  readonly status: string;
  readonly declineReason: string | null;
  readonly last4: string | null;
  /** `2029-11`, null while there is none. */
  readonly expires: string | null;
  readonly load: { readonly amount: string; readonly asset: string } | null;
}

/** What was asked for. */
export interface IssuanceTerms {
  readonly id: string;
  readonly product: CardProduct;
  readonly asset: string;
  readonly loadAmount: Minor;
}

/** Where the issuance stands. */
export interface IssuanceStanding extends IssuanceTerms {
  readonly state: IssuanceState;
  /** The card at the issuer that settled it, or that was seen last. */
  readonly providerRef: string | null;
}

/** What a reading makes of an issuance: at most one move, and a contradiction that a person must look at. */
export interface IssuancePlan {
  readonly to: 'active' | 'pending' | 'failed' | 'found_late' | null;
  readonly reason: string | null;
  readonly flag: string | null;
}

/** What the read found: one card, none, or several under one reference. */
export type IssuerAnswer =
  /** `second`: of one that is settled, another card under its reference that can be used. */
  | { readonly found: 'one'; readonly card: IssuerReading; readonly second?: IssuerReading }
  | { readonly found: 'none' }
  | { readonly found: 'several'; readonly count: number };

/** What the cards that the issuer shows for an issuance say of it. Once it is over, only a usable one is news. */
export function issuerAnswer(
  { state, providerRef }: Pick<IssuanceStanding, 'state' | 'providerRef'>,
  cards: readonly IssuerReading[],
): IssuerAnswer {
  const usable = cards.filter(({ status }) => status !== 'declined' && status !== 'closed');
  if (state === 'active') {
    const card = cards.find((each) => each.providerRef === providerRef);
    const second = usable.find((each) => each.providerRef !== providerRef);
    if (card === undefined) return second === undefined ? { found: 'none' } : { found: 'one', card: second };
    return second === undefined ? { found: 'one', card } : { found: 'one', card, second };
  }
  const isOver = state === 'failed' || state === 'found_late';
  const telling = isOver && usable.length > 0 ? usable : cards;
  const [card] = telling;
  if (card === undefined) return { found: 'none' };
  return telling.length === 1 || usable.length === 0
    ? { found: 'one', card }
    : { found: 'several', count: telling.length };
}

const STAY: IssuancePlan = { to: null, reason: null, flag: null };

/**
 * Decides what a reading makes of an issuance: pure, so that the create's answer, webhook, reconciliation and operator
 * agree. Absence decides nothing; a record that is not what was asked for moves no money and goes to a person.
 */
export function planIssuance(standing: IssuanceStanding, answer: IssuerAnswer): IssuancePlan {
  if (answer.found === 'none') return STAY;
  if (standing.state === 'failed' || standing.state === 'found_late') return planAfterFailure(standing, answer);
  if (answer.found === 'several') return { ...STAY, to: waitingOf(standing), flag: 'several_cards' };
  const { card, second } = answer;
  if (standing.state === 'active') {
    const isSettled = card.providerRef === standing.providerRef && second === undefined;
    return isSettled ? STAY : { ...STAY, flag: 'second_card' };
  }
  const mismatch = mismatchOf(standing, card);
  if (mismatch !== null) return { to: waitingOf(standing), reason: null, flag: mismatch };
  switch (card.status) {
    case 'declined':
      return { to: 'failed', reason: ISSUER_DECLINED, flag: null };
    case 'pending':
      return { ...STAY, to: waitingOf(standing) };
    // Frozen there is a card, too: what it may do is another question.
    case 'active':
    case 'frozen':
      if (card.last4 === null || card.expires === null) {
        return { to: waitingOf(standing), reason: null, flag: 'incomplete_card' };
      }
      return { to: 'active', reason: null, flag: null };
    case 'closed':
      return { to: waitingOf(standing), reason: null, flag: 'closed_at_issuer' };
    default:
      return { ...STAY, flag: 'unknown_provider_status' };
  }
}

/** How a record differs from what was asked for; null when it is that. `reference: false`: a person named the card. */
export function mismatchOf(
  terms: IssuanceTerms,
  card: IssuerReading,
  { reference = true }: { reference?: boolean } = {},
): string | null {
  if (reference && card.reference !== terms.id) return 'reference_mismatch';
  if (card.product !== terms.product) return 'product_mismatch';
  // A card that is refused or not made yet may name no load.
  if (card.load === null) return card.status === 'active' || card.status === 'frozen' ? 'amount_mismatch' : null;
  if (card.load.asset !== terms.asset) return 'amount_mismatch';
  return parseAmount(card.load.amount, decimalsOf(terms.asset)) === terms.loadAmount ? null : 'amount_mismatch';
}

/** Says in full what contradicts us, to the letter: one that changes is another. */
export function issuerContradiction(flag: string, answer: IssuerAnswer): string {
  if (answer.found === 'none') return flag;
  if (answer.found === 'several') return `${flag}: ${answer.count} cards`;
  const { providerRef, reference, product, status, load } = answer.second ?? answer.card;
  const loaded = load === null ? 'no load' : `${load.amount} ${load.asset}`;
  return `${flag}: ${providerRef} for ${reference}, ${product}, ${status}, ${loaded}`;
}

/** A card that turns up after we gave up moves no money: a person closes it, or has it issued again. */
function planAfterFailure(standing: IssuanceStanding, answer: Exclude<IssuerAnswer, { found: 'none' }>): IssuancePlan {
  const { found } = answer;
  if (found === 'one' && (answer.card.status === 'declined' || answer.card.status === 'closed')) return STAY;
  const to = standing.state === 'failed' ? 'found_late' : null;
  const flag = found === 'several' ? 'several_cards' : 'found_late';
  return { to, reason: to === null ? null : 'found_at_issuer', flag };
}

/** `pending`, or null where it waits there already. */
function waitingOf({ state }: IssuanceStanding): 'pending' | null {
  return state === 'submitted' || state === 'unknown' ? 'pending' : null;
}
