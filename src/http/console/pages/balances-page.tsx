import type { BalanceRecord } from '../../../contracts/balance.js';
import { listBalances } from '../../../db/balance-listing.js';
import { type BalanceSourceRecord, listBalanceSources } from '../../../db/balance-sources.js';
import type { SignedCall } from '../../pages/call.js';
import { textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter, ListQuery } from '../../pages/list-query.js';
import { Amount } from '../../pages/parts/amount.js';
import { Lines } from '../../pages/parts/lines.js';
import { ShortMoment } from '../../pages/parts/moment.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import type { ConsoleDeps } from '../console-deps.js';
import { Difference } from '../difference.js';
import { placeOf, readPlace } from '../read-place.js';
import { sourceLine } from '../source-line.js';

/** What providers of balances hold in the chosen book, by source and currency. */
export async function balancesPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  const sources = await listBalanceSources(deps.db, view.book);
  return answerListPage(call, {
    ...{ path: '/operator/balances', title: 'nav_balances', name: 'balances', defaultSort: 'place' },
    more: (
      <>
        {view.t('balances_more')} <a href="/operator/balances/addresses">{view.t('balance_addresses')}</a> ·{' '}
        <a href="/operator/balances/checks">{view.t('balance_checks')}</a>
      </>
    ),
    filters: FILTERS,
    columns: CURRENCY_COLUMNS,
    id: placeOf,
    find: ({ filters, after, limit }) =>
      listBalances(deps.db, {
        ...{ book: view.book, merchantId: null, by: 'currency', filters: columnsOf(filters), stale: undefined },
        ...{ after: readPlace(after), limit },
      }),
    above: <Sources view={view} sources={sources} />,
  });
}

/** Each address that was seen, of the chosen book. */
export async function balanceAddressesPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/balances/addresses', title: 'balance_addresses', name: 'balance-addresses' },
    defaultSort: 'place',
    more: <a href="/operator/balances">{view.t('nav_balances')}</a>,
    filters: [
      ...FILTERS,
      { name: 'address', label: 'filter_address' },
      { name: 'stale', label: 'col_stale', choices: ['yes', 'no'], prefix: 'stale' },
    ],
    columns: ADDRESS_COLUMNS,
    id: placeOf,
    find: ({ filters, after, limit }) =>
      listBalances(deps.db, {
        ...{ book: view.book, merchantId: null, by: 'address', filters: columnsOf(filters) },
        ...{ stale: STALE[filters['stale'] ?? ''], after: readPlace(after), limit },
      }),
    views: [
      { title: 'all', query: {} },
      { title: 'state_stale', query: { stale: 'yes' } },
    ],
  });
}

const STALE: Readonly<Record<string, boolean>> = { yes: true, no: false };

const FILTERS: readonly ListFilter[] = [
  { name: 'source', label: 'col_source' },
  { name: 'currency', label: 'col_currency' },
];

function columnsOf(filters: ListQuery['filters']): Record<string, readonly string[]> {
  const columns = { source: 's.account', currency: 'b.currency', address: 'b.address' };
  return Object.fromEntries(
    Object.entries(columns).flatMap(([name, column]) => {
      const value = filters[name];
      return value === undefined ? [] : [[column, [value]]];
    }),
  );
}

function Sources({ view, sources }: { view: View; sources: readonly BalanceSourceRecord[] }) {
  return (
    <section class="section" aria-labelledby="h-sources">
      <div class="section-head">
        <h2 id="h-sources">{view.t('balance_sources')}</h2>
        <span class="fresh">{view.t('last_compared')}</span>
      </div>
      {sources.length === 0 ? (
        <p class="muted">{view.t('no_balance_sources')}</p>
      ) : (
        <Lines lines={sources.map((source) => sourceLine(view, source))} />
      )}
    </section>
  );
}

const figure = (of: {
  title: Word;
  name: string;
  amount: (row: BalanceRecord) => string | null;
  class?: string;
  asset?: boolean;
}): Column<BalanceRecord> => ({
  ...{ title: of.title, isFigure: true, class: of.class ?? 'p2' },
  cell: (row, view) => {
    const amount = of.amount(row);
    if (amount === null) return <span class="faint">–</span>;
    return <Amount view={view} amount={amount} {...(of.asset ? { asset: row.currency } : {})} />;
  },
  csv: {
    names: [of.name],
    cells: (row) => {
      const amount = of.amount(row);
      return [amount === null ? null : { figure: amount }];
    },
  },
});

const sourceColumn: Column<BalanceRecord> = {
  ...{ title: 'col_source', class: 'keep nowrap' },
  cell: (row) => <a href={`/operator/balances/${encodeURIComponent(row.sourceKey)}`}>{row.source}</a>,
  csv: { names: ['source'], cells: (row) => [row.source] },
};

const currencyColumn = (more: string): Column<BalanceRecord> => ({
  ...{ title: 'col_currency', class: more },
  cell: (row) => row.currency,
  csv: { names: ['currency'], cells: (row) => [row.currency] },
});

const CURRENCY_COLUMNS: readonly Column<BalanceRecord>[] = [
  currencyColumn('lead'),
  sourceColumn,
  figure({ title: 'col_our_sum', name: 'balance', amount: (row) => row.balance, class: 'value' }),
  figure({ title: 'col_confirmed', name: 'confirmed', amount: (row) => row.confirmed }),
  figure({ title: 'col_frozen', name: 'frozen', amount: (row) => row.frozen, class: 'p3' }),
  figure({ title: 'col_in_flight', name: 'held', amount: (row) => row.held, class: 'p3' }),
  figure({ title: 'col_available', name: 'available', amount: (row) => row.available }),
  {
    ...{ title: 'col_difference', isFigure: true, class: 'word' },
    cell: (row, view) => <Difference view={view} balance={row} />,
    csv: {
      names: ['difference', 'differs_since'],
      cells: ({ difference, differsSince }) => [
        difference === null ? null : { figure: difference },
        differsSince?.toISOString() ?? null,
      ],
    },
  },
  {
    ...{ title: 'col_last_read', isFigure: true, isTime: true, class: 'age nowrap' },
    cell: (row, view) => (
      <>
        <ShortMoment view={view} at={row.lastReadAt} />
        {row.lastAction === null ? null : <span class="sub">{view.named('action', row.lastAction)}</span>}
      </>
    ),
    csv: {
      names: ['last_action', 'last_read_at'],
      cells: (row) => [row.lastAction, row.lastReadAt.toISOString()],
    },
  },
];

const ADDRESS_COLUMNS: readonly Column<BalanceRecord>[] = [
  {
    ...{ title: 'col_address', class: 'lead' },
    cell: (row) => <span class="addr">{row.address}</span>,
    csv: { names: ['address'], cells: (row) => [row.address] },
  },
  currencyColumn('p3'),
  sourceColumn,
  figure({ title: 'col_balance', name: 'balance', amount: (row) => row.balance, class: 'value amts', asset: true }),
  {
    ...{ title: 'col_stale', class: 'word' },
    cell: (row, view) => (row.stale ? view.t('state_stale') : null),
    csv: { names: ['stale'], cells: (row) => [String(row.stale)] },
  },
  textColumn({ title: 'col_version_seen', name: 'version', text: (row) => row.version, isFigure: true, class: 'p2' }),
  timeColumn({ title: 'col_last_read', name: 'last_read_at', at: (row) => row.lastReadAt }),
];
