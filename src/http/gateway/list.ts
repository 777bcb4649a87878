import type { ListResource } from '../../contracts/list.js';
import type { Page } from '../../db/lists.js';
import type { Answer, Call } from './call.js';
import { type CursorScope, decodeCursor, encodeCursor } from './cursor.js';

const LIMIT_DEFAULT = 20;

interface PageQuery {
  readonly limit: number | undefined;
  readonly cursor: string | undefined;
  readonly created_from: string | undefined;
  readonly created_to: string | undefined;
}
type ListCall = Call<PageQuery, unknown>;

/** Answers one page, newest first. `find` reads one row more than the page holds. */
export async function answerList<Row, Item>(
  call: ListCall,
  list: { find: (page: Page) => Promise<Row[]>; show: (row: Row) => Item; position: (row: Row) => string },
): Promise<Answer> {
  const { page, scope } = readPage(call);
  const rows = await list.find(page);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  const cursor = more ? encodeCursor(scope, list.position(last)) : null;
  return toList(shown.map(list.show), more, cursor);
}

/** Answers one page in commit order, always with a cursor, so that it can be followed. `end` is where it looked to. */
export async function answerFollowed<Row, Item>(
  call: ListCall,
  list: {
    find: (page: Page) => Promise<{ rows: Row[]; end: string }>;
    show: (row: Row) => Item;
    position: (row: Row) => string;
  },
): Promise<Answer> {
  const { page, scope } = readPage(call);
  const { rows, end } = await list.find(page);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  const more = rows.length > page.limit && last !== undefined;
  const looked = more ? list.position(last) : later(page.after, end);
  return toList(shown.map(list.show), more, encodeCursor(scope, looked));
}

/** The page a call asks for. Its cursor is bound to route, owner and every parameter but `limit` and itself. */
function readPage(call: ListCall): { page: Page; scope: CursorScope } {
  const { limit, cursor, created_from, created_to } = call.query;
  const filters = Object.entries(call.query)
    .filter(([name, value]) => name !== 'limit' && name !== 'cursor' && value !== undefined && !isEmpty(value))
    .map(([name, value]) => `${name}=${JSON.stringify(Array.isArray(value) ? sorted(value) : value)}`)
    .sort();
  const scope = [call.path, call.caller.book, call.caller.merchantId, ...filters];
  const after = cursor === undefined ? null : decodeCursor(scope, cursor);
  const page = { after, limit: limit ?? LIMIT_DEFAULT, createdFrom: created_from, createdTo: created_to };
  return { page, scope };
}

function sorted(values: readonly unknown[]): string[] {
  return [...new Set(values.map(String))].sort();
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function later(after: string | null, end: string): string {
  return after !== null && BigInt(after) > BigInt(end) ? after : end;
}

function toList<Item>(data: Item[], more: boolean, cursor: string | null): Answer {
  const body: ListResource<Item> = { object: 'list', data, has_more: more, next_cursor: cursor };
  return { status: 200, body };
}
