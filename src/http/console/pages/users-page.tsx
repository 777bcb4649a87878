import { isId } from '../../../contracts/ids.js';
import { isLogin } from '../../../contracts/values.js';
import { ConstraintViolation, UniqueViolation } from '../../../db/errors.js';
import { listUsersForConsole, type UserListing } from '../../../db/merchants-listing.js';
import { createUser } from '../../../db/users.js';
import type { SignedCall } from '../../pages/call.js';
import { idColumn, stateColumn, textColumn, timeColumn } from '../../pages/columns.js';
import { answerListPage, type Column } from '../../pages/list-page.js';
import { PageError } from '../../pages/page-error.js';
import { CheckField, TextField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { redirect } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import { authorOf } from '../author-of.js';
import type { ConsoleDeps } from '../console-deps.js';

/** What a person of ours can be. */
export const OUR_ROLES = ['operator', 'approver', 'admin', 'auditor'] as const;

/** Everybody who can sign in; an admin makes one. */
export async function usersPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, view, session } = call;
  return answerListPage(call, {
    ...{ path: '/operator/users', title: 'nav_users', name: 'users', defaultSort: 'login' },
    filters: [
      { name: 'q', label: 'col_login' },
      { name: 'role', label: 'col_roles', choices: ['requester', ...OUR_ROLES], prefix: 'role' },
      { name: 'state', label: 'col_state', choices: ['active', 'disabled'], prefix: 'state' },
      { name: 'merchant', label: 'col_merchant' },
    ],
    columns: COLUMNS,
    id: (row) => row.id,
    find: (asked) => listUsersForConsole(deps.db, asked),
    above: session.roles.includes('admin') ? <NewUser view={view} csrf={session.csrf} /> : null,
  });
}

/** Makes a person of ours with some roles, or a requester of the merchant that is named. */
export async function createUserAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, form, session } = call;
  const [login, merchantId] = [form.text('login'), form.text('merchant') || null];
  const roles = merchantId === null ? form.texts('roles') : ['requester'];
  const isPossible = isLogin(login) && roles.length > 0 && (merchantId === null || isId('merchant', merchantId));
  if (!isPossible) throw new PageError(422);
  const id = await createUser(deps.db, { login, roles, merchantId }, authorOf(call)).catch((error: unknown) => {
    if (error instanceof UniqueViolation) throw new PageError(409);
    throw error instanceof ConstraintViolation ? new PageError(422) : error;
  });
  deps.log.info('A person was made.', { user: session.userId, source: id });
  return redirect(`/operator/users/${id}`);
}

function NewUser({ view, csrf }: { view: View; csrf: string }) {
  return (
    <details class="section">
      <summary>{view.t('user_new')}</summary>
      <Form action="/operator/users" csrf={csrf}>
        <TextField id="login" label={view.t('col_login')} hint={view.t('user_login_hint')} maxlength={64} required />
        <CheckField legend={view.t('col_roles')} name="roles" options={roleOptions(view)} chosen={[]} />
        <TextField id="merchant" label={view.t('user_merchant')} hint={view.t('user_merchant_hint')} maxlength={40} />
        <div class="form-end">
          <button type="submit" class="btn btn--main">
            {view.t('user_make')}
          </button>
        </div>
      </Form>
    </details>
  );
}

export function roleOptions(view: View) {
  return OUR_ROLES.map((value) => ({ value, label: view.t(`role_${value}`) }));
}

const COLUMNS: readonly Column<UserListing>[] = [
  idColumn({ title: 'col_id', id: (row) => row.id, href: (row) => `/operator/users/${row.id}` }),
  textColumn({ title: 'col_login', name: 'login', text: (row) => row.login, sort: 'login', class: 'value' }),
  textColumn({ title: 'col_roles', name: 'roles', text: (row) => row.roles.join(' '), class: 'keep' }),
  textColumn({ title: 'col_merchant', name: 'merchant', text: (row) => row.merchantName, class: 'p2' }),
  stateColumn({ state: (row) => (row.disabledAt === null ? 'active' : 'disabled') }),
  timeColumn({ title: 'col_created', name: 'created_at', at: (row) => row.createdAt, sort: 'created' }),
];
