import { toWithdrawal, type WithdrawalRecord, withdrawalSchema } from '../../../contracts/withdrawal.js';
import { listWithdrawalsForConsole } from '../../../db/console-lists.js';
import type { SignedCall } from '../../pages/call.js';
import { amountColumn, idColumn, merchantColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import type { ConsoleDeps } from '../console-deps.js';
import { type Named, withMerchants } from '../named.js';

type Row = Named<WithdrawalRecord>;

/** Withdrawals of all merchants in the chosen book. */
export async function withdrawalsPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view } = call;
  return answerListPage(call, {
    ...{ path: '/operator/withdrawals', title: 'nav_withdrawals', name: 'withdrawals', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: async (asked) =>
      withMerchants(deps.db, await listWithdrawalsForConsole(deps.db, { ...asked, book: view.book })),
    views: [
      { title: 'all', query: {} },
      { title: 'ask_decisions', query: { view: 'waiting' } },
      { title: 'state_requested', query: { state: 'requested' } },
      { title: 'state_submitted', query: { state: 'submitted' } },
      { title: 'state_unknown', query: { state: 'unknown' } },
    ],
  });
}

const FILTERS: readonly ListFilter[] = [
  { name: 'q', label: 'filter_search' },
  { name: 'state', label: 'col_state', choices: withdrawalSchema.shape.state.options, prefix: 'state' },
  { name: 'network', label: 'col_network' },
  { name: 'asset', label: 'col_asset' },
  { name: 'merchant', label: 'col_merchant' },
  { name: 'from', label: 'filter_from', isDay: true },
  { name: 'to', label: 'filter_to', isDay: true },
  { name: 'view', label: 'ask_decisions', choices: ['waiting'], prefix: 'view' },
];

const COLUMNS: readonly Column<Row>[] = [
  idColumn({ title: 'withdrawal', id: (row) => row.id, href: (row) => `/operator/withdrawals/${row.id}` }),
  merchantColumn({ id: (row) => row.merchantId }),
  amountColumn({ title: 'col_amount', name: 'amount', amount: (row) => toWithdrawal(row).amount, sort: 'amount' }),
  amountColumn({ title: 'col_fee', name: 'fee', amount: (row) => toWithdrawal(row).fee, class: 'p2 amts' }),
  textColumn({ title: 'col_network', name: 'network', text: (row) => row.network, class: 'p2' }),
  textColumn({ title: 'col_destination', name: 'destination', text: (row) => row.address, class: 'p3 id' }),
  stateColumn({ state: (row) => row.state, sort: 'state' }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt, sort: 'created' }),
];
