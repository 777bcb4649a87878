/** One legal move of a subject's state; a null origin is birth. `byDecision`: only a person may make it. */
export interface StateMove<State extends string> {
  readonly from: State | null;
  readonly to: State;
  readonly byDecision?: true;
}

/** True when the table allows the move without a person. */
export function mayMove<State extends string>(moves: readonly StateMove<State>[], from: State, to: State): boolean {
  return moves.some((move) => move.from === from && move.to === to && !move.byDecision);
}
