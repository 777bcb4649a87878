import type { Wanted } from '../../db/lists.js';
import type { ListQuery } from '../pages/list-query.js';

/** A list's address as the API's own list functions take it: newest first, each filter by its column. */
export function wantedOf(asked: ListQuery, columns: Readonly<Record<string, string>>): Wanted {
  const { filters, after, limit } = asked;
  const narrowed = Object.entries(columns).flatMap(([name, column]) => {
    const value = filters[name];
    return value === undefined ? [] : [[column, [value]] as const];
  });
  const to = filters['to'];
  return {
    filters: Object.fromEntries(narrowed),
    page: { after, limit, createdFrom: filters['from'], createdTo: to === undefined ? undefined : dayAfter(to) },
  };
}

/** Days are included, a period's end is not. */
function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}
