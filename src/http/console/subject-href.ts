const PAGES: Readonly<Record<string, string>> = {
  deposit: 'deposits',
  issuance: 'issuances',
  withdrawal: 'withdrawals',
  dead_letter: 'deadletters',
  merchant: 'merchants',
  user: 'users',
  balance_source: 'balances',
  balance_check: 'balances/checks',
};

/** The page of a subject by its kind and id; null for a kind that has none. `book`: of a list in which it is found. */
export function subjectHref(type: string, id: string, book: string | null = null): string | null {
  if (type === 'balance_address')
    return `/operator/balances/addresses?${new URLSearchParams({ address: id, ...(book && { book }) }).toString()}`;
  const page = PAGES[type];
  return page === undefined ? null : `/operator/${page}/${encodeURIComponent(id)}`;
}
