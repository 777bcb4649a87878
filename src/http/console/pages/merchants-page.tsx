import { isMerchantName } from '../../../contracts/values.js';
import { createMerchant, type MerchantRecord } from '../../../db/merchants.js';
import { listMerchantsForConsole } from '../../../db/merchants-listing.js';
import type { SignedCall } from '../../pages/call.js';
import { idColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import { PageError } from '../../pages/page-error.js';
import { TextField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { redirect } from '../../pages/respond.js';
import { authorOf } from '../author-of.js';
import type { ConsoleDeps } from '../console-deps.js';

/** Merchants; an admin makes one. */
export async function merchantsPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, session } = call;
  return answerListPage(call, {
    ...{ path: '/operator/merchants', title: 'nav_merchants', name: 'merchants', defaultSort: '-created' },
    filters: [{ name: 'q', label: 'filter_name' }],
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listMerchantsForConsole(deps.db, asked),
    above: session.roles.includes('admin') ? (
      <Form action="/operator/merchants" csrf={session.csrf} class="toolbar">
        <TextField id="name" label={view.t('merchant_new')} maxlength={140} required />
        <button type="submit" class="btn btn--main">
          {view.t('merchant_make')}
        </button>
      </Form>
    ) : null,
  });
}

export async function createMerchantAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, form, session } = call;
  const name = form.text('name');
  if (!isMerchantName(name)) throw new PageError(422);
  const id = await createMerchant(deps.db, name, authorOf(call));
  deps.log.info('A merchant was made.', { user: session.userId, merchant_id: id });
  return redirect(`/operator/merchants/${id}`);
}

const COLUMNS: readonly Column<MerchantRecord>[] = [
  idColumn({ title: 'col_id', id: (row) => row.id, href: (row) => `/operator/merchants/${row.id}` }),
  textColumn({ title: 'col_name', name: 'name', text: (row) => row.name, sort: 'name', class: 'keep' }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt, sort: 'created' }),
];
