import { ConstraintViolation } from '../../../db/errors.js';
import { listIdentities } from '../../../db/identities.js';
import { createLoginLink } from '../../../db/login-links.js';
import { findUserListing, type UserListing } from '../../../db/merchants-listing.js';
import { listPasskeys, type Passkey, removePasskey } from '../../../db/passkeys.js';
import { listSessions, revokeSessionsOf, type SessionListing } from '../../../db/sessions.js';
import { setUserDisabled, setUserRoles } from '../../../db/users.js';
import type { SignedCall } from '../../pages/call.js';
import { notFound, PageError } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { Facts } from '../../pages/parts/facts.js';
import { CheckField } from '../../pages/parts/field.js';
import { Form } from '../../pages/parts/form.js';
import { Head } from '../../pages/parts/head.js';
import { Ago, Moment } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { StateMark } from '../../pages/parts/state-mark.js';
import { redirect, respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import type { Word } from '../../pages/words.js';
import { authorOf } from '../author-of.js';
import type { ConsoleDeps } from '../console-deps.js';
import { PasskeyTable } from './passkeys-page.js';
import { linkSubject, UserIdentities, unlinkSubject } from './user-identities.js';
import { roleOptions } from './users-page.js';

/** A person: roles, sessions, and what an admin can change. */
export async function userPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, await userOf(call));
}

export async function setRolesAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const user = await userOf(call);
  const roles = call.form.texts('roles');
  if (roles.length === 0 || user.merchantId !== null) throw new PageError(422);
  await setUserRoles(call.deps.db, { id: user.id, roles }, authorOf(call)).catch((error: unknown) => {
    throw error instanceof ConstraintViolation ? new PageError(422) : error;
  });
  return done(call, user, 'The roles of a person were changed.');
}

export async function setDisabledAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const user = await userOf(call);
  await setUserDisabled(
    call.deps.db,
    { id: user.id, isDisabled: call.form.text('disabled') === 'yes' },
    authorOf(call),
  );
  return done(call, user, 'A person was disabled or enabled.');
}

export async function revokeSessionsAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const user = await userOf(call);
  await revokeSessionsOf(call.deps.db, user.id, authorOf(call));
  return done(call, user, 'The sessions of a person were ended.');
}

/** A one-time link, which the answer shows this once; where links are on. */
export async function createLinkAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, session } = call;
  if (!deps.localLinks) notFound();
  const user = await userOf(call);
  const token = (await createLoginLink(deps.db, user.login, authorOf(call))) ?? notFound();
  deps.log.info('A one-time link was made.', { user: session.userId, source: user.id });
  const pages = user.merchantId === null ? `${deps.origin}/operator` : `${deps.cabinetUrl}/cabinet`;
  return show(call, user, { link: `${pages}/sign-in?link=${token}` });
}

/** From now on that subject of the identity provider signs in as this person. */
export async function linkIdentityAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const user = await userOf(call);
  const problem = await linkSubject(call, user.id);
  return problem === null ? done(call, user, 'An identity was linked.') : show(call, user, { problem });
}

export async function unlinkIdentityAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const user = await userOf(call);
  await unlinkSubject(call, user.id);
  return done(call, user, 'An identity was unlinked.');
}

/** A lost one, which the person cannot remove alone. */
export async function removePasskeyOfAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const user = await userOf(call);
  await removePasskey(call.deps.db, { userId: user.id, id: call.form.text('passkey') }, authorOf(call));
  return done(call, user, 'A passkey of a person was removed.');
}

async function userOf({ deps, params }: SignedCall<ConsoleDeps>): Promise<UserListing> {
  return (await findUserListing(deps.db, params['id'] ?? '')) ?? notFound();
}

function done({ deps, session }: SignedCall<ConsoleDeps>, user: UserListing, what: string): Response {
  deps.log.info(what, { user: session.userId, source: user.id });
  return redirect(`/operator/users/${user.id}`);
}

async function show(
  call: SignedCall<ConsoleDeps>,
  user: UserListing,
  { link = null, problem = null }: { link?: string | null; problem?: Word | null } = {},
): Promise<Response> {
  const { deps, view, session, form } = call;
  const sessions = await listSessions(deps.db, user.id);
  const passkeys = user.roles.includes('approver') ? await listPasskeys(deps.db, user.id) : null;
  const identities = deps.identityProvider === null ? null : await listIdentities(deps.db, user.id);
  const csrf = session.roles.includes('admin') ? session.csrf : null;
  return respond(
    call,
    { title: user.login, status: problem === null ? 200 : 422 },
    <>
      <Head
        view={view}
        title={user.login}
        crumb={{ href: '/operator/users', name: view.t('nav_users') }}
        state={<StateMark view={view} state={user.disabledAt === null ? 'active' : 'disabled'} pill />}
      />
      {link === null ? null : (
        <Notice tone="person" title={view.t('link_made')} alert>
          <p>
            <code class="id">{link}</code>
          </p>
          <p>{view.t('link_made_more')}</p>
        </Notice>
      )}
      <Facts
        view={view}
        facts={[
          { name: 'col_id', value: <span class="id">{user.id}</span> },
          { name: 'col_roles', value: user.roles.map((role) => view.named('role', role)).join(', ') },
          {
            name: 'col_merchant',
            value: user.merchantId && <a href={`/operator/merchants/${user.merchantId}`}>{user.merchantName}</a>,
          },
          { name: 'timeline', value: <a href={`/operator/trace/${user.id}`}>{view.t('history')}</a> },
          { name: 'col_created', value: <Moment view={view} at={user.createdAt} /> },
        ]}
      />
      {csrf === null ? null : <Acts view={view} user={user} csrf={csrf} localLinks={deps.localLinks} />}
      {identities === null ? null : (
        <UserIdentities {...{ view, user, identities, csrf, problem }} entered={form.text('subject')} />
      )}
      {passkeys === null ? null : <UserPasskeys {...{ view, user, passkeys, csrf }} />}
      <Sessions view={view} sessions={sessions} />
    </>,
  );
}

function Acts(of: { view: View; user: UserListing; csrf: string; localLinks: boolean }) {
  const { view, user, csrf, localLinks } = of;
  const at = `/operator/users/${user.id}`;
  const isDisabled = user.disabledAt !== null;
  return (
    <section class="section" aria-labelledby="h-change">
      <div class="section-head">
        <h2 id="h-change">{view.t('change')}</h2>
      </div>
      {user.merchantId === null ? (
        <Form action={`${at}/roles`} csrf={csrf}>
          <CheckField legend={view.t('col_roles')} name="roles" options={roleOptions(view)} chosen={user.roles} />
          <div class="form-end">
            <button type="submit" class="btn btn--main">
              {view.t('roles_save')}
            </button>
          </div>
        </Form>
      ) : null}
      <div class="form-end">
        <ActButton
          {...{ csrf, action: `${at}/disabled`, danger: !isDisabled, fields: { disabled: isDisabled ? 'no' : 'yes' } }}
          label={view.t(isDisabled ? 'user_enable' : 'user_disable')}
        />
        <ActButton csrf={csrf} action={`${at}/sessions`} label={view.t('sessions_revoke')} danger />
        {localLinks && !isDisabled ? <ActButton csrf={csrf} action={`${at}/link`} label={view.t('link_make')} /> : null}
      </div>
    </section>
  );
}

function UserPasskeys(of: { view: View; user: UserListing; passkeys: readonly Passkey[]; csrf: string | null }) {
  const { view, user, passkeys, csrf } = of;
  const remove = csrf === null ? null : { action: `/operator/users/${user.id}/passkeys/remove`, csrf };
  return (
    <section class="section" aria-labelledby="h-passkeys">
      <div class="section-head">
        <h2 id="h-passkeys">{view.t('nav_passkeys')}</h2>
      </div>
      <PasskeyTable view={view} passkeys={passkeys} remove={remove} />
    </section>
  );
}

function Sessions({ view, sessions }: { view: View; sessions: readonly SessionListing[] }) {
  return (
    <section class="section" aria-labelledby="h-sessions">
      <div class="section-head">
        <h2 id="h-sessions">{view.t('sessions')}</h2>
      </div>
      {sessions.length === 0 ? (
        <p class="muted">{view.t('no_sessions')}</p>
      ) : (
        <table class="table table--stack">
          <thead>
            <tr>
              <th scope="col">{view.t('session_at')}</th>
              <th scope="col">{view.t('session_opened')}</th>
              <th scope="col">{view.t('session_seen')}</th>
              <th scope="col">{view.t('session_ends')}</th>
            </tr>
          </thead>
          <tbody>
            {sessions.map(({ audience, createdAt, lastSeenAt, endsAt }) => (
              <tr>
                <th scope="row" class="lead">
                  {audience}
                </th>
                <td class="value">
                  <Moment view={view} at={createdAt} />
                </td>
                <td class="keep">
                  <Ago view={view} at={lastSeenAt} />
                </td>
                <td class="age">
                  <Moment view={view} at={endsAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
