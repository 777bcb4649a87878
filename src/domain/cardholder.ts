import type { StateMove } from './states.js';

export const CARDHOLDER_STATES = ['active', 'erased'] as const;
export type CardholderState = (typeof CARDHOLDER_STATES)[number];

/** Legal moves of a cardholder; the database holds the same table (migrations/000040). */
export const CARDHOLDER_MOVES: readonly StateMove<CardholderState>[] = [
  { from: null, to: 'active' },
  { from: 'active', to: 'erased' },
];

/** The members of an identity; each is sealed on its own. */
export const IDENTITY_MEMBERS = ['first_name', 'last_name', 'birth_date', 'country', 'document'] as const;
export type IdentityMember = (typeof IDENTITY_MEMBERS)[number];

/** A letter with a few marks; a longer grapheme is no initial, whatever it is. */
const INITIAL_CODE_POINTS_MAX = 4;

/** The first letter of a name in any script, upper case, with its marks: `"  köhler"` is `K`, `"أحمد"` is `أ`. */
export function initialOf(name: string): string {
  const upper = name.normalize('NFC').trim().toUpperCase();
  const graphemes = [...new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(upper)];
  const first = graphemes.find(({ segment }) => /^\p{L}/u.test(segment)) ?? graphemes[0];
  return [...(first?.segment ?? '')].slice(0, INITIAL_CODE_POINTS_MAX).join('');
}

/** `A. K.`, as the API shows it; null once erased. */
export function showInitials(first: string | null, last: string | null): string | null {
  return first === null || last === null ? null : `${first}. ${last}.`;
}
