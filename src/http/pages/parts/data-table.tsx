import type { Column, ListPage } from '../list-page.js';
import { type ListQuery, listHref } from '../list-query.js';
import type { View } from '../view.js';
import { Icon } from './icon.js';

/** The rows of a list; the head of a column that has an order is a link to it. */
export function DataTable<Row>(of: { view: View; list: ListPage<Row>; asked: ListQuery; rows: readonly Row[] }) {
  const { view, list, asked, rows } = of;
  if (rows.length === 0) return <p class="muted">{view.t('nothing_found')}</p>;
  return (
    <table class="table table--stack">
      <caption class="vh">{view.t(list.title)}</caption>
      <thead>
        <tr>
          {list.columns.map((column) => (
            <HeadCell view={view} path={list.path} column={column} asked={asked} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr>
            {list.columns.map((column, at) => {
              const content = column.cell(row, view);
              return at === 0 ? (
                <th scope="row" class={classOf(column)}>
                  {content}
                </th>
              ) : (
                <td class={classOf(column)}>{content}</td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How many rows there are, and the way on; what a reader has seen stays in the browser's own history. */
export function Pager(of: { view: View; path: string; asked: ListQuery; count: number; next: string | null }) {
  const { view, path, asked, count, next } = of;
  return (
    <nav class="pager" aria-label={view.t('pages')}>
      <span>{view.t('rows_of_page', { n: count })}</span>
      <div>
        {asked.after === null ? null : (
          <a class="btn" href={listHref(path, asked, {})}>
            <Icon name="left" />
            {view.t('first_page')}
          </a>
        )}
        {next === null ? null : (
          <a class="btn" rel="next" href={listHref(path, asked, { after: next })}>
            {view.t('next_page')}
            <Icon name="right" />
          </a>
        )}
      </div>
    </nav>
  );
}

function HeadCell<Row>(of: { view: View; path: string; column: Column<Row>; asked: ListQuery }) {
  const { view, path, column, asked } = of;
  const { sort } = column;
  const title = column.isTime ? `${view.t(column.title)}, ${view.zone}` : view.t(column.title);
  if (sort === undefined) {
    return (
      <th scope="col" class={classOf(column)}>
        {title}
      </th>
    );
  }
  const isSorted = asked.sort.name === sort;
  const next = isSorted && asked.sort.descending ? sort : `-${sort}`;
  return (
    <th
      scope="col"
      class={classOf(column)}
      aria-sort={isSorted ? (asked.sort.descending ? 'descending' : 'ascending') : undefined}
    >
      <a class="sort" href={listHref(path, asked, { sort: next })}>
        {title}
        <Icon name={isSorted ? 'down' : 'sort'} />
      </a>
    </th>
  );
}

function classOf<Row>({ class: name, isFigure }: Column<Row>): string | undefined {
  const classes = [isFigure ? 'num' : '', name ?? ''].filter(Boolean).join(' ');
  return classes === '' ? undefined : classes;
}
