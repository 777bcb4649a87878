import { type DepositRecord, depositSchema, toDeposit } from '../../../contracts/deposit.js';
import { networkSchema } from '../../../contracts/values.js';
import { findDeposit } from '../../../db/deposits.js';
import { listDeposits } from '../../../db/lists.js';
import type { SignedCall } from '../../pages/call.js';
import { amountColumn, idColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import { notFound } from '../../pages/page-error.js';
import { Amount } from '../../pages/parts/amount.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Ago, Moment } from '../../pages/parts/moment.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { respond } from '../../pages/respond.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';
import { wantedOf } from '../wanted-of.js';

const FILTER_COLUMNS = {
  state: 'd.state',
  network: 'd.network',
  asset: 'd.reported_asset',
  hash: 'd.tx_hash',
  customer: 'c.ref',
};

/** Deposits of the merchant and his customers. */
export async function depositsPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  return answerListPage(call, {
    ...{ path: '/cabinet/deposits', title: 'nav_deposits', name: 'deposits', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listDeposits(call.deps.db, scopeOf(call), wantedOf(asked, FILTER_COLUMNS)),
  });
}

/** One deposit, as the API shows it. */
export async function depositPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { deps, view, params } = call;
  const record = (await findDeposit(deps.db, { ...scopeOf(call), id: params['id'] ?? '' })) ?? notFound();
  const deposit = toDeposit(record);
  const { transaction, credited, owner } = deposit;
  return respond(
    call,
    { title: deposit.id },
    <>
      <Head
        view={view}
        title={`${view.t('deposit')} ${deposit.id}`}
        crumb={{ href: '/cabinet/deposits', name: view.t('nav_deposits') }}
        state={<StateMark view={view} state={deposit.state} pill />}
        more={<Amount view={view} {...deposit.reported} big />}
      />
      <Facts
        view={view}
        facts={[
          { name: 'col_owner', value: owner.ref ?? owner.id },
          { name: 'col_network', value: deposit.network },
          {
            name: 'col_address',
            value: <a href={`/cabinet/addresses/${deposit.deposit_address_id}`}>{deposit.deposit_address_id}</a>,
          },
          { name: 'col_hash', value: transaction.hash === null ? null : <span class="addr">{transaction.hash}</span> },
          { name: 'col_credited', value: credited === null ? null : <Amount view={view} {...credited} /> },
          { name: 'col_reason', value: deposit.reason },
          { name: 'col_created', value: <Moment view={view} at={deposit.created_at} /> },
          {
            name: 'col_last_read',
            value: <Moment view={view} at={deposit.last_read_at} />,
            more: <Ago view={view} at={deposit.last_read_at} />,
          },
          { name: 'fact_final', value: deposit.final_at && <Moment view={view} at={deposit.final_at} /> },
          {
            name: 'col_movement',
            value:
              deposit.movement_ids.length === 0
                ? null
                : deposit.movement_ids.map((id) => (
                    <>
                      <a class="id" href={`/cabinet/movements/${id}`}>
                        {id}
                      </a>{' '}
                    </>
                  )),
          },
        ]}
      />
    </>,
  );
}

const FILTERS: readonly ListFilter[] = [
  { name: 'state', label: 'col_state', choices: depositSchema.shape.state.options, prefix: 'state' },
  { name: 'network', label: 'col_network', choices: networkSchema.options },
  { name: 'asset', label: 'col_asset' },
  { name: 'customer', label: 'filter_customer' },
  { name: 'hash', label: 'col_hash' },
  { name: 'from', label: 'filter_from', isDay: true },
  { name: 'to', label: 'filter_to', isDay: true },
];

const COLUMNS: readonly Column<DepositRecord>[] = [
  idColumn({ title: 'deposit', id: (row) => row.id, href: (row) => `/cabinet/deposits/${row.id}` }),
  textColumn({ title: 'col_owner', name: 'customer', text: (row) => row.customerRef, class: 'keep' }),
  textColumn({ title: 'col_network', name: 'network', text: (row) => row.network, class: 'p2' }),
  amountColumn({ title: 'col_reported', name: 'reported', amount: (row) => toDeposit(row).reported }),
  amountColumn({ title: 'col_credited', name: 'credited', amount: (row) => toDeposit(row).credited, class: 'p2 amts' }),
  stateColumn({ state: (row) => row.state }),
  timeColumn({ title: 'col_noticed', name: 'created_at', at: (row) => row.createdAt }),
];
