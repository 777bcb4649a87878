import type { ListResource } from '../contracts/list.js';
import { decodeCursor, encodeCursor } from '../http/gateway/cursor.js';
import type { Context } from './command.js';
import { EXIT, type ExitCode } from './failure.js';
import type { Cell, Column } from './output.js';

export interface CliList<Row, Item> {
  /** What a cursor is bound to: the command, and every filter with its value. */
  readonly scope: readonly string[];
  /** Answers one row more than `limit` when there is more. */
  readonly find: (page: { after: string | null; limit: number }) => Promise<readonly Row[]>;
  readonly show: (row: Row) => Item;
  readonly position: (row: Row) => string;
  readonly columns: readonly Column[];
  readonly cells: (item: Item) => readonly Cell[];
}

/** One page of a list: as the API's list with `--json`, else a table. Throws `invalid_cursor` as the API does. */
export async function answerList<Row, Item>(context: Context, list: CliList<Row, Item>): Promise<ExitCode> {
  const { flags, out } = context;
  const scope = ['cli', ...list.scope, `book=${flags.book ?? ''}`];
  const after = flags.cursor === null ? null : decodeCursor(scope, flags.cursor);
  const rows = await list.find({ after, limit: flags.limit });
  const shown = rows.slice(0, flags.limit);
  const last = shown.at(-1);
  const more = rows.length > flags.limit && last !== undefined;
  const data = shown.map(list.show);
  const next = more ? encodeCursor(scope, list.position(last)) : null;
  const document: ListResource<Item> = { object: 'list', data, has_more: more, next_cursor: next };
  out.result(document, () => {
    out.table(list.columns, data.map(list.cells));
    if (next !== null) context.note(`There is more: --cursor ${next}`);
  });
  return EXIT.done;
}
