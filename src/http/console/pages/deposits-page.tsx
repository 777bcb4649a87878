import { type DepositRecord, depositSchema, toDeposit } from '../../../contracts/deposit.js';
import { networkSchema } from '../../../contracts/values.js';
import { listDepositsForConsole } from '../../../db/console-lists.js';
import type { SignedCall } from '../../pages/call.js';
import { amountColumn, idColumn, merchantColumn, stateColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import type { ConsoleDeps } from '../console-deps.js';
import { type Named, withMerchants } from '../named.js';

type Row = Named<DepositRecord>;

/** Deposits of all merchants in the chosen book. */
export async function depositsPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/deposits', title: 'nav_deposits', name: 'deposits', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: async (asked) => withMerchants(deps.db, await listDepositsForConsole(deps.db, { ...asked, book: view.book })),
    views: [
      { title: 'all', query: {} },
      { title: 'ask_decisions', query: { view: 'decide' } },
      { title: 'state_confirming', query: { state: 'confirming' } },
      { title: 'state_parked', query: { state: 'parked' } },
      { title: 'state_orphaned', query: { state: 'orphaned' } },
    ],
  });
}

const FILTERS: readonly ListFilter[] = [
  { name: 'q', label: 'filter_search' },
  { name: 'state', label: 'col_state', choices: depositSchema.shape.state.options, prefix: 'state' },
  { name: 'network', label: 'col_network', choices: networkSchema.options },
  { name: 'asset', label: 'col_asset' },
  { name: 'merchant', label: 'col_merchant' },
  { name: 'from', label: 'filter_from', isDay: true },
  { name: 'to', label: 'filter_to', isDay: true },
  { name: 'view', label: 'ask_decisions', choices: ['decide'], prefix: 'view' },
];

const COLUMNS: readonly Column<Row>[] = [
  idColumn({ title: 'deposit', id: (row) => row.id, href: (row) => `/operator/deposits/${row.id}` }),
  merchantColumn({ id: (row) => row.merchantId }),
  amountColumn({ title: 'col_reported', name: 'reported', amount: (row) => toDeposit(row).reported, sort: 'amount' }),
  amountColumn({ title: 'col_credited', name: 'credited', amount: (row) => toDeposit(row).credited, class: 'p2 amts' }),
  stateColumn({ state: (row) => row.state, sort: 'state' }),
  timeColumn({ title: 'col_noticed', name: 'created_at', at: (row) => row.createdAt, sort: 'created' }),
];
