import {
  COMPLETED_AFTER_REJECTION,
  type DepositPlan,
  type DepositReading,
  type DepositStanding,
  type DepositState,
  type DepositTerms,
  type Diversion,
  FAILED_AFTER_CREDIT,
  judge,
  walk,
} from './deposit.js';

/** The flag of a waiting deposit that the custodian has not shown for too long. */
export const NOT_AT_PROVIDER = 'not_at_provider';

/** What a person may decide on a deposit. */
export const DEPOSIT_CHOICES = ['retry', 'reject', 'orphan', 'accept', 'drop'] as const;
export type DepositChoice = (typeof DEPOSIT_CHOICES)[number];

/** Which moves of a person each choice permits; the database holds the same table (migrations/000028, 000031). */
export const DEPOSIT_MOVES_BY_CHOICE: readonly {
  readonly choice: DepositChoice;
  readonly from: DepositState;
  readonly to: DepositState;
}[] = [
  { choice: 'retry', from: 'parked', to: 'confirming' },
  { choice: 'reject', from: 'parked', to: 'rejected' },
  { choice: 'orphan', from: 'final', to: 'orphaned' },
  { choice: 'drop', from: 'noticed', to: 'dropped' },
  { choice: 'drop', from: 'confirming', to: 'dropped' },
];

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
    case 'drop':
      return 'the custodian shows it again';
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

/**
 * The move that a decision makes when the custodian shows no record that could be read; a text when it needs one.
 * `drop` ends a waiting deposit that the custodian has shown no more for so long that it was flagged.
 */
export function planUnread(
  standing: { readonly state: DepositState; readonly flag: string | null },
  choice: DepositChoice,
  shown: 'nothing' | 'unreadable',
): { readonly to: 'rejected' | 'dropped'; readonly reason: string } | string {
  if (choice === 'reject') {
    return standing.state === 'parked' ? { to: 'rejected', reason: 'by_decision' } : 'it is not parked';
  }
  if (choice === 'drop' && shown === 'nothing') {
    return isVanished(standing) ? { to: 'dropped', reason: 'by_decision' } : 'it has not vanished for long enough';
  }
  return shown === 'nothing'
    ? 'the custodian shows no such deposit now'
    : 'the record at the custodian cannot be read now';
}

function isVanished({ state, flag }: { readonly state: DepositState; readonly flag: string | null }): boolean {
  return (state === 'noticed' || state === 'confirming') && flag === NOT_AT_PROVIDER;
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
    // What is not shown any more is ended, not accepted.
    accept: flag !== null && flag !== NOT_AT_PROVIDER,
    drop: isVanished({ state, flag }),
  };
  return DEPOSIT_CHOICES.filter((choice) => possible[choice]);
}
