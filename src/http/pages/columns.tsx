import type { Column } from './list-page.js';
import { Amount } from './parts/amount.js';
import { Age, ShortMoment } from './parts/moment.js';
import { StateMark } from './parts/state-mark.js';
import type { Word } from './words.js';

/** The first column: the id, which leads to its page. */
export function idColumn<Row>(of: { title: Word; id: (row: Row) => string; href: (row: Row) => string }): Column<Row> {
  return {
    ...{ title: of.title, class: 'lead' },
    cell: (row) => (
      <a class="id" href={of.href(row)}>
        {of.id(row)}
      </a>
    ),
    csv: { names: ['id'], cells: (row) => [of.id(row)] },
  };
}

export function stateColumn<Row>(of: { state: (row: Row) => string; sort?: string }): Column<Row> {
  return {
    ...{ title: 'col_state', class: 'word', ...(of.sort === undefined ? {} : { sort: of.sort }) },
    cell: (row, view) => <StateMark view={view} state={of.state(row)} />,
    csv: { names: ['state'], cells: (row) => [of.state(row)] },
  };
}

export function amountColumn<Row>(of: {
  title: Word;
  /** What it is called in the CSV, before `_asset`. */
  name: string;
  amount: (row: Row) => { readonly amount: string; readonly asset: string } | null;
  sort?: string;
  class?: string;
}): Column<Row> {
  return {
    ...{ title: of.title, isFigure: true, class: of.class ?? 'value amts' },
    ...(of.sort === undefined ? {} : { sort: of.sort }),
    cell: (row, view) => {
      const shown = of.amount(row);
      return shown === null ? <span class="faint">–</span> : <Amount view={view} {...shown} />;
    },
    csv: {
      names: [of.name, `${of.name}_asset`],
      cells: (row) => {
        const shown = of.amount(row);
        return shown === null ? [null, null] : [{ figure: shown.amount }, shown.asset];
      },
    },
  };
}

export function timeColumn<Row>(of: {
  title: Word;
  name: string;
  at: (row: Row) => Date | null;
  sort?: string;
  class?: string;
  isFigure?: boolean;
}): Column<Row> {
  return {
    ...{ title: of.title, isFigure: of.isFigure ?? true, isTime: true, class: of.class ?? 'age nowrap' },
    ...(of.sort === undefined ? {} : { sort: of.sort }),
    cell: (row, view) => <ShortMoment view={view} at={of.at(row)} />,
    csv: { names: [of.name], cells: (row) => [of.at(row)?.toISOString() ?? null] },
  };
}

/** How long it has been open; the CSV has the time itself. */
export function ageColumn<Row>(of: { name: string; since: (row: Row) => Date; sort?: string }): Column<Row> {
  return {
    ...{ title: 'col_age', isFigure: true, class: 'age nowrap' },
    ...(of.sort === undefined ? {} : { sort: of.sort }),
    cell: (row, view) => <Age view={view} since={of.since(row)} />,
    csv: { names: [of.name], cells: (row) => [of.since(row).toISOString()] },
  };
}

export function textColumn<Row>(of: {
  title: Word;
  name: string;
  text: (row: Row) => string | null;
  sort?: string;
  class?: string;
  isFigure?: boolean;
}): Column<Row> {
  return {
    ...{ title: of.title, ...(of.class === undefined ? {} : { class: of.class }) },
    ...(of.sort === undefined ? {} : { sort: of.sort }),
    ...(of.isFigure === undefined ? {} : { isFigure: of.isFigure }),
    cell: (row) => of.text(row) ?? <span class="faint">–</span>,
    csv: { names: [of.name], cells: (row) => [of.text(row)] },
  };
}

/** The merchant by name, with a link to his page; both in the CSV. */
export function merchantColumn<Row extends { readonly merchant: string }>(of: {
  id: (row: Row) => string;
}): Column<Row> {
  return {
    ...{ title: 'col_merchant', class: 'keep', sort: 'merchant' },
    cell: (row) => <a href={`/operator/merchants/${of.id(row)}`}>{row.merchant}</a>,
    csv: { names: ['merchant_id', 'merchant'], cells: (row) => [of.id(row), row.merchant] },
  };
}
