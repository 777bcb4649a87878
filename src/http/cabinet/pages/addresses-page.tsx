import {
  type DepositAddressRecord,
  depositAddressSchema,
  toDepositAddress,
} from '../../../contracts/deposit-address.js';
import { networkSchema } from '../../../contracts/values.js';
import { findDepositAddress } from '../../../db/deposit-addresses.js';
import { listDepositAddresses } from '../../../db/lists.js';
import type { SignedCall } from '../../pages/call.js';
import { idColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import type { ListFilter } from '../../pages/list-query.js';
import { notFound } from '../../pages/page-error.js';
import { Facts } from '../../pages/parts/facts.js';
import { Head } from '../../pages/parts/head.js';
import { Moment } from '../../pages/parts/moment.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { respond } from '../../pages/respond.js';
import { type CabinetDeps, scopeOf } from '../cabinet-deps.js';
import { drawQr } from '../draw-qr.js';
import { wantedOf } from '../wanted-of.js';

const FILTER_COLUMNS = { state: 'a.state', network: 'a.network', asset: 'a.asset', customer: 'c.ref' };
const ENDS = 6;

/** Addresses where deposits of the merchant and his customers arrive. */
export async function addressesPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  return answerListPage(call, {
    ...{ path: '/cabinet/addresses', title: 'nav_addresses', name: 'deposit-addresses', defaultSort: '-created' },
    filters: FILTERS,
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listDepositAddresses(call.deps.db, scopeOf(call), wantedOf(asked, FILTER_COLUMNS)),
  });
}

/** One address, whole, with its code to scan. */
export async function addressPage(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { view } = call;
  const record = await addressOf(call);
  const { id, address, tag, asset, network, owner, state, created_at, settlement } = toDepositAddress(record);
  return respond(
    call,
    { title: id },
    <>
      <Head
        view={view}
        title={`${view.t('address')} ${asset}`}
        crumb={{ href: '/cabinet/addresses', name: view.t('nav_addresses') }}
        state={<StateMark view={view} state={state} pill />}
        more={<span class="id">{id}</span>}
      />
      {address === null ? (
        <p class="muted">{view.t('address_not_yet')}</p>
      ) : (
        <div class="address section">
          <img class="qr" src={`/cabinet/addresses/${id}/code.svg`} alt={view.t('qr_alt')} width="240" height="240" />
          <div>
            <p class="addr">
              <b>{address.slice(0, ENDS)}</b>
              {address.slice(ENDS, -ENDS)}
              <b>{address.slice(-ENDS)}</b>
            </p>
            {tag === null ? null : (
              <p>
                {view.t('address_tag')}: <b class="id">{tag}</b>
              </p>
            )}
            <p class="small muted">{view.t('address_only', { asset, network })}</p>
          </div>
        </div>
      )}
      <Facts
        view={view}
        facts={[
          { name: 'col_owner', value: owner.ref ?? owner.id },
          { name: 'col_network', value: network },
          { name: 'col_asset', value: asset, more: settlement.asset },
          { name: 'col_created', value: <Moment view={view} at={created_at} /> },
        ]}
      />
    </>,
  );
}

/** The code of that address as a picture of its own, so that pages need no picture in their text. */
export async function addressCode(call: SignedCall<CabinetDeps>): Promise<Response> {
  const { address } = await addressOf(call);
  return new Response(drawQr(address ?? notFound()), { headers: { 'content-type': 'image/svg+xml' } });
}

async function addressOf(call: SignedCall<CabinetDeps>): Promise<DepositAddressRecord> {
  const { deps, params } = call;
  return (await findDepositAddress(deps.db, { ...scopeOf(call), id: params['id'] ?? '' })) ?? notFound();
}

const FILTERS: readonly ListFilter[] = [
  { name: 'network', label: 'col_network', choices: networkSchema.options },
  { name: 'state', label: 'col_state', choices: depositAddressSchema.shape.state.options, prefix: 'state' },
  { name: 'asset', label: 'col_asset' },
  { name: 'customer', label: 'filter_customer' },
];

const COLUMNS: readonly Column<DepositAddressRecord>[] = [
  idColumn({ title: 'col_id', id: (row) => row.id, href: (row) => `/cabinet/addresses/${row.id}` }),
  textColumn({ title: 'col_owner', name: 'customer', text: (row) => row.customerRef, class: 'keep' }),
  textColumn({ title: 'col_network', name: 'network', text: (row) => row.network, class: 'p2' }),
  textColumn({ title: 'col_asset', name: 'asset', text: (row) => row.asset, class: 'value' }),
  textColumn({ title: 'col_address', name: 'address', text: (row) => row.address, class: 'p3 id' }),
  stateColumn({ state: (row) => row.state }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt }),
];
