import { toWithdrawal, type WithdrawalRecord, withdrawalSchema } from '../../../contracts/withdrawal.js';
import { listOwnWithdrawals } from '../../../db/withdrawals.js';
import type { SignedCall } from '../../pages/call.js';
import { amountColumn, idColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';
import { wantedOf } from '../wanted-of.js';

const FILTER_COLUMNS = { state: 'w.state', network: 'w.network', asset: 'w.asset', hash: 'w.transaction_hash' };

/** The merchant's withdrawals. */
export async function withdrawalsPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { view } = call;
  return answerListPage(call, {
    ...{ path: '/cabinet/withdrawals', title: 'nav_withdrawals', name: 'withdrawals', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listOwnWithdrawals(call.deps.db, scopeOf(call), wantedOf(asked, FILTER_COLUMNS)),
    above: (
      <p>
        <a class="btn btn--main" href="/cabinet/withdrawals/new">
          {view.t('withdrawal_request')}
        </a>{' '}
        <a class="btn" href="/cabinet/destinations">
          {view.t('nav_destinations')}
        </a>
      </p>
    ),
  });
}

const FILTERS: readonly ListFilter[] = [
  { name: 'state', label: 'col_state', choices: withdrawalSchema.shape.state.options, prefix: 'state' },
  { name: 'network', label: 'col_network' },
  { name: 'asset', label: 'col_asset' },
  { name: 'hash', label: 'col_hash' },
  { name: 'from', label: 'filter_from', isDay: true },
  { name: 'to', label: 'filter_to', isDay: true },
];

const COLUMNS: readonly Column<WithdrawalRecord>[] = [
  idColumn({ title: 'withdrawal', id: (row) => row.id, href: (row) => `/cabinet/withdrawals/${row.id}` }),
  amountColumn({ title: 'col_amount', name: 'amount', amount: (row) => toWithdrawal(row).amount }),
  amountColumn({ title: 'col_fee', name: 'fee', amount: (row) => toWithdrawal(row).fee, class: 'p2 amts' }),
  textColumn({ title: 'col_network', name: 'network', text: (row) => row.network, class: 'p2' }),
  textColumn({ title: 'col_destination', name: 'destination', text: (row) => row.address, class: 'p3 id' }),
  stateColumn({ state: (row) => row.state }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt }),
];
