/** What a person can decide on a mirrored account; the same stand in `sverka.decision_right`. */
export const BALANCE_CHOICES = ['rebase'] as const;
export type BalanceChoice = (typeof BALANCE_CHOICES)[number];

/** What can be decided on it now: before its first load there is nothing to begin anew. */
export function decidableBalances(source: { readonly baseCursor: string | null }): readonly BalanceChoice[] {
  return source.baseCursor === null ? [] : BALANCE_CHOICES;
}
