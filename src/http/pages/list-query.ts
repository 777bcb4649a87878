import { PageError } from './page-error.js';
import type { Word } from './words.js';

/** A filter of a list, which stands in the address. */
export interface ListFilter {
  readonly name: string;
  readonly label: Word;
  /** Of a choice: its values, with the prefix of their words. A text without. */
  readonly choices?: readonly string[];
  readonly prefix?: string;
  /** It has a value always. */
  readonly isRequired?: boolean;
  /** A day, from and to included. */
  readonly isDay?: boolean;
}

/** A list as one reader asks for it. */
export interface ListQuery {
  /** By name; what is not set is not there. */
  readonly filters: Readonly<Record<string, string>>;
  readonly sort: { readonly name: string; readonly descending: boolean };
  /** Id of the last row of the page before. */
  readonly after: string | null;
  /** Rows wanted; one more is read, to see whether there is more. */
  readonly limit: number;
}

export const PAGE_ROWS = 25;
const TEXT_MAX = 200;

/** Reads the address of a list; a value that is not possible is 422, for without it other rows would be shown. */
export function readListQuery(
  query: URLSearchParams,
  of: { filters: readonly ListFilter[]; sorts: readonly string[]; defaultSort: string },
): ListQuery {
  const filters = of.filters.flatMap((filter) => {
    const value = query.get(filter.name)?.trim() ?? '';
    if (value === '') return [];
    if (!isPossible(filter, value)) throw new PageError(422);
    return [[filter.name, value] as const];
  });
  const sort = query.get('sort') ?? of.defaultSort;
  const name = sort.replace(/^-/, '');
  if (sort !== of.defaultSort && !of.sorts.includes(name)) throw new PageError(422);
  const after = query.get('after');
  if (after !== null && !/^[A-Za-z0-9_-]{1,1000}$/.test(after)) throw new PageError(422);
  return {
    filters: Object.fromEntries(filters),
    sort: { name, descending: sort.startsWith('-') },
    after,
    limit: PAGE_ROWS,
  };
}

/** The address of the same list with some of it changed; null takes a part away. A new order begins anew. */
export function listHref(path: string, asked: ListQuery, change: Readonly<Record<string, string | null>>): string {
  const kept = { ...asked.filters, sort: `${asked.sort.descending ? '-' : ''}${asked.sort.name}` };
  const parts = Object.entries({ ...kept, ...change }).filter((part): part is [string, string] => part[1] !== null);
  const text = new URLSearchParams(parts).toString();
  return text === '' ? path : `${path}?${text}`;
}

function isPossible({ choices, isDay }: ListFilter, value: string): boolean {
  if (choices) return choices.includes(value);
  if (isDay) return isRealDay(value);
  return value.length <= TEXT_MAX;
}

function isRealDay(text: string): boolean {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(text) : new Date(Number.NaN);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}
