import {
  DECLARED_FAILED,
  ISSUED_AGAIN,
  type IssuancePlan,
  type IssuanceStanding,
  type IssuerReading,
  mismatchOf,
} from './issuance.js';

/** What a person may decide on an issuance (API.md 6). */
export const ISSUANCE_CHOICES = ['link', 'declare_failed', 'issue_again'] as const;
export type IssuanceChoice = (typeof ISSUANCE_CHOICES)[number];

/** What a decision makes of an issuance. `again`: a new generation is reserved in the same commit. */
export interface DecidedIssuance extends IssuancePlan {
  readonly again: boolean;
  /** The contradiction that stands accepted from now on: a card found late, which a person has dealt with. */
  readonly accepts: boolean;
}

/** What a person can decide on an issuance as it stands; whether it still fits is seen when it is applied. */
export function decidableIssuance({ state, flag, needsOperator, latest }: DecidableIssuance): IssuanceChoice[] {
  const waits = state === 'unknown' || (state === 'pending' && (flag !== null || needsOperator));
  const possible: Readonly<Record<IssuanceChoice, boolean>> = {
    link: waits,
    // Of one that is over: the card at the issuer has been dealt with.
    declare_failed: waits || ((state === 'found_late' || state === 'active') && flag !== null),
    issue_again: latest && (waits || state === 'failed' || state === 'found_late'),
  };
  // While the only create may still be under way, nothing is decided.
  return ISSUANCE_CHOICES.filter((choice) => possible[choice]);
}

/** What tells whether a person can decide. */
export interface DecidableIssuance {
  readonly state: IssuanceStanding['state'];
  readonly flag: string | null;
  readonly needsOperator: boolean;
  /** No later generation of its card was begun. */
  readonly latest: boolean;
}

/**
 * What a person's decision makes of an issuance; a text when it does not fit. `named` is the card at the issuer that
 * `link` names, as it reads now: it has to be what was asked for, whatever reference it carries.
 */
export function planIssuanceDecision(
  standing: IssuanceStanding & DecidableIssuance,
  choice: IssuanceChoice,
  named: IssuerReading | null,
): DecidedIssuance | string {
  if (!decidableIssuance(standing).includes(choice)) return `an issuance that is ${standing.state} is not decided so`;
  const plain = { reason: null, flag: null, again: false, accepts: false } as const;
  switch (choice) {
    case 'link': {
      if (named === null) return 'the issuer shows no such card';
      const mismatch = mismatchOf(standing, named, { reference: false });
      if (mismatch !== null) return `that card is not what was asked for (${mismatch})`;
      if (named.status !== 'active' && named.status !== 'frozen') return `that card is ${named.status} at the issuer`;
      if (named.last4 === null || named.expires === null) return 'that card has no number or expiry yet';
      return { ...plain, to: 'active' };
    }
    case 'declare_failed':
      // Nothing moves any more: the person says that the card at the issuer has been dealt with.
      if (standing.state === 'found_late' || standing.state === 'active') return { ...plain, to: null, accepts: true };
      return { ...plain, to: 'failed', reason: DECLARED_FAILED };
    case 'issue_again': {
      const over = standing.state === 'failed' || standing.state === 'found_late';
      if (over) return { ...plain, to: null, again: true, accepts: standing.state === 'found_late' };
      return { ...plain, to: 'failed', reason: ISSUED_AGAIN, again: true };
    }
  }
}
