import { cardSchema, type IssuanceRecord, toIssuance } from '../../../contracts/card.js';
import { listIssuancesForConsole } from '../../../db/console-lists.js';
import type { SignedCall } from '../../pages/call.js';
import { amountColumn, idColumn, merchantColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import type { ConsoleDeps } from '../console-deps.js';
import { type Named, withMerchants } from '../named.js';

type Row = Named<IssuanceRecord>;

/** Issuances, and so cards, of all merchants in the chosen book. */
export async function issuancesPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/issuances', title: 'nav_issuances', name: 'issuances', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: async (asked) =>
      withMerchants(deps.db, await listIssuancesForConsole(deps.db, { ...asked, book: view.book })),
    views: [
      { title: 'all', query: {} },
      { title: 'ask_decisions', query: { view: 'waiting' } },
      { title: 'state_unknown', query: { state: 'unknown' } },
      { title: 'state_pending', query: { state: 'pending' } },
      { title: 'state_found_late', query: { state: 'found_late' } },
    ],
  });
}

const { issuance, product } = cardSchema.shape;
const FILTERS: readonly ListFilter[] = [
  { name: 'q', label: 'filter_search' },
  { name: 'state', label: 'col_state', choices: issuance.shape.state.options, prefix: 'state' },
  { name: 'product', label: 'col_product', choices: product.options },
  { name: 'asset', label: 'col_asset' },
  { name: 'merchant', label: 'col_merchant' },
  { name: 'from', label: 'filter_from', isDay: true },
  { name: 'to', label: 'filter_to', isDay: true },
  { name: 'view', label: 'ask_decisions', choices: ['waiting'], prefix: 'view' },
];

const COLUMNS: readonly Column<Row>[] = [
  idColumn({ title: 'issuance', id: (row) => row.id, href: (row) => `/operator/issuances/${row.id}` }),
  merchantColumn({ id: (row) => row.merchantId }),
  textColumn({ title: 'col_product', name: 'product', text: (row) => row.product, sort: 'product', class: 'p2' }),
  amountColumn({ title: 'col_load', name: 'load', amount: (row) => toIssuance(row).load, sort: 'load' }),
  amountColumn({ title: 'col_fee', name: 'fee', amount: (row) => toIssuance(row).fee, class: 'p2 amts' }),
  stateColumn({ state: (row) => row.state, sort: 'state' }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt, sort: 'created' }),
];
