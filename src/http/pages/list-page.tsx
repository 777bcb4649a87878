import type { Child } from 'hono/jsx';
import type { PagesDeps, SignedCall } from './call.js';
import { type CsvCell, csvResponse, writeCsv } from './csv.js';
import { type ListFilter, type ListQuery, listHref, readListQuery } from './list-query.js';
import { DataTable, Pager } from './parts/data-table.js';
import { FilterBar, FilterChips } from './parts/filters.js';
import { Head } from './parts/head.js';
import { Icon } from './parts/icon.js';
import { Fresh } from './parts/moment.js';
import { respond } from './respond.js';
import type { View } from './view.js';
import type { Word } from './words.js';

/** A column of a list, on the page and in its CSV. */
export interface Column<Row> {
  readonly title: Word;
  /** Its name in the address, where the list can be in its order. */
  readonly sort?: string;
  /** What stays where there is little room: `lead`, `value`, `word`, `age`, `keep`; `p2` and `p3` go first. */
  readonly class?: string;
  readonly isFigure?: boolean;
  /** Its head names the zone. */
  readonly isTime?: boolean;
  readonly cell: (row: Row, view: View) => Child;
  /** What it is called in the CSV, and what stands there; an amount and its asset are two. */
  readonly csv: { readonly names: readonly string[]; readonly cells: (row: Row) => readonly CsvCell[] };
}

export interface ListPage<Row> {
  readonly path: string;
  readonly title: Word;
  /** Of the CSV's file. */
  readonly name: string;
  readonly more?: Child;
  readonly filters: readonly ListFilter[];
  readonly defaultSort: string;
  readonly columns: readonly Column<Row>[];
  /** One row more than `limit` when there is more. */
  readonly find: (asked: ListQuery) => Promise<readonly Row[]>;
  readonly id: (row: Row) => string;
  /** Views that are used often, as parts of the address. */
  readonly views?: readonly { readonly title: Word; readonly query: Readonly<Record<string, string>> }[];
  /** What stands above the list, such as a form. */
  readonly above?: Child;
}

const CSV_ROWS_MAX = 10_000;
const CSV_ROWS_AT_ONCE = 500;

/** Answers a list as a page, or with `format=csv` the same rows and columns as a file: one definition for both. */
export async function answerListPage<Deps extends PagesDeps, Row>(
  call: SignedCall<Deps>,
  list: ListPage<Row>,
): Promise<Response> {
  const { query, view } = call;
  const sorts = list.columns.flatMap(({ sort }) => sort ?? []);
  const asked = readListQuery(query, { ...list, sorts });
  if (query.get('format') === 'csv') return answerCsv(list, asked, view);
  const found = await list.find(asked);
  const rows = found.slice(0, asked.limit);
  const last = rows.at(-1);
  const next = found.length > asked.limit && last !== undefined ? list.id(last) : null;
  const csv = listHref(list.path, asked, { format: 'csv', book: view.book });
  return respond(
    call,
    { title: view.t(list.title) },
    <>
      <Head
        view={view}
        title={view.t(list.title)}
        more={list.more}
        end={
          <>
            <Fresh view={view} at={view.now} />
            <a class="btn" href={csv}>
              <Icon name="download" />
              {view.t('csv')}
            </a>
          </>
        }
      />
      {list.above}
      <Views view={view} list={list} asked={asked} />
      {list.filters.length === 0 ? null : <FilterBar view={view} list={list} asked={asked} />}
      <FilterChips view={view} list={list} asked={asked} />
      <DataTable view={view} list={list} asked={asked} rows={rows} />
      <Pager view={view} path={list.path} asked={asked} count={rows.length} next={next} />
    </>,
  );
}

async function answerCsv<Row>(list: ListPage<Row>, asked: ListQuery, view: View): Promise<Response> {
  const { rows, cut } = await allRows(list, asked);
  const names = list.columns.flatMap(({ csv }) => csv.names);
  const cells = rows.map((row) => list.columns.flatMap(({ csv }) => csv.cells(row)));
  const note: CsvCell[][] = cut
    ? [[`(${view.t('csv_cut', { n: CSV_ROWS_MAX })})`, ...names.slice(1).map(() => null)]]
    : [];
  const name = `${list.name}-${view.book}${cut ? `-cut-after-${CSV_ROWS_MAX}` : ''}`;
  return csvResponse(name, writeCsv(names, [...cells, ...note]));
}

async function allRows<Row>(list: ListPage<Row>, asked: ListQuery): Promise<{ rows: Row[]; cut: boolean }> {
  const rows: Row[] = [];
  let after: string | null = null;
  for (;;) {
    const limit = Math.min(CSV_ROWS_AT_ONCE, CSV_ROWS_MAX - rows.length);
    const found: readonly Row[] = await list.find({ ...asked, after, limit });
    rows.push(...found.slice(0, limit));
    const last = rows.at(-1);
    if (found.length <= limit || last === undefined) return { rows, cut: false };
    if (rows.length >= CSV_ROWS_MAX) return { rows, cut: true };
    after = list.id(last);
  }
}

function Views<Row>({ view, list, asked }: { view: View; list: ListPage<Row>; asked: ListQuery }) {
  if (!list.views) return null;
  const isNow = (query: Readonly<Record<string, string>>) =>
    Object.keys({ ...query, ...asked.filters }).every((name) => query[name] === asked.filters[name]);
  return (
    <nav class="tabs" aria-label={view.t(list.title)}>
      {list.views.map(({ title, query }) => (
        <a
          href={`${list.path}?${new URLSearchParams({ ...query }).toString()}`}
          aria-current={isNow(query) ? 'true' : undefined}
        >
          {view.t(title)}
        </a>
      ))}
    </nav>
  );
}
