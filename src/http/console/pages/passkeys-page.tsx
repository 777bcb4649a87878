import { UniqueViolation } from '../../../db/errors.js';
import { listPasskeys, type Passkey, removePasskey } from '../../../db/passkeys.js';
import type { SignedCall } from '../../pages/call.js';
import { PageError } from '../../pages/page-error.js';
import { ActButton } from '../../pages/parts/act-button.js';
import { Form } from '../../pages/parts/form.js';
import { Head } from '../../pages/parts/head.js';
import { Ago, Moment } from '../../pages/parts/moment.js';
import { Notice } from '../../pages/parts/notice.js';
import { redirect, respond } from '../../pages/respond.js';
import type { View } from '../../pages/view.js';
import { authorOf } from '../author-of.js';
import { askToApprove, askToRegister, register } from '../check-passkey.js';
import type { ConsoleDeps } from '../console-deps.js';
import { PasskeyPart } from '../step-up.js';

const AT = '/operator/passkeys';
/** A session that was stolen later than that adds no passkey. */
const FRESH_MS = 5 * 60_000;

/** A person's own passkeys, which approve. */
export async function passkeysPage(call: SignedCall<ConsoleDeps>): Promise<Response> {
  return show(call, { refused: false });
}

/** Adds the passkey that answered. */
export async function addPasskeyAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  requireFresh(call);
  const added = await register(call, call.form.text('answer')).catch((error: unknown) => {
    if (error instanceof UniqueViolation) return false;
    throw error;
  });
  if (!added) return show(call, { refused: true });
  call.deps.log.info('A passkey was added.', { user: call.session.userId });
  return redirect(AT);
}

/** Takes one of the own passkeys away. */
export async function removePasskeyAct(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const { deps, form, session } = call;
  await removePasskey(deps.db, { userId: session.userId, id: form.text('passkey') }, authorOf(call));
  deps.log.info('A passkey was removed.', { user: session.userId });
  return redirect(AT);
}

/** What a new passkey is asked to sign, for the script of the page. */
export async function registrationOptions(call: SignedCall<ConsoleDeps>): Promise<Response> {
  requireFresh(call);
  return Response.json(await askToRegister(call));
}

/** What a passkey is asked to sign for the hash that the form shows, for the script of a decision's page. */
export async function approvalOptions(call: SignedCall<ConsoleDeps>): Promise<Response> {
  const seen = call.form.text('seen');
  if (!/^[0-9a-f]{64}$/.test(seen)) throw new PageError(400);
  return Response.json(await askToApprove(call, Buffer.from(seen, 'hex')));
}

/** The passkeys of a person, and for who may, a button to take each away. */
export function PasskeyTable(of: {
  view: View;
  passkeys: readonly Passkey[];
  remove: { action: string; csrf: string } | null;
}) {
  const { view, passkeys, remove } = of;
  if (passkeys.length === 0) return <p class="muted">{view.t('passkeys_none')}</p>;
  return (
    <table class="table table--stack">
      <thead>
        <tr>
          <th scope="col">{view.t('passkey')}</th>
          <th scope="col">{view.t('passkey_added')}</th>
          <th scope="col">{view.t('passkey_used')}</th>
          {remove === null ? null : <th scope="col">{view.t('change')}</th>}
        </tr>
      </thead>
      <tbody>
        {passkeys.map(({ id, createdAt, lastUsedAt }) => (
          <tr>
            <th scope="row" class="lead id">
              {id.slice(0, 12)}…
            </th>
            <td class="value">
              <Moment view={view} at={createdAt} />
            </td>
            <td class="keep">{lastUsedAt === null ? '–' : <Ago view={view} at={lastUsedAt} />}</td>
            {remove === null ? null : (
              <td>
                <ActButton {...remove} fields={{ passkey: id }} label={view.t('passkey_remove')} danger />
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

async function show(call: SignedCall<ConsoleDeps>, { refused }: { refused: boolean }): Promise<Response> {
  const { deps, view, session } = call;
  const passkeys = await listPasskeys(deps.db, session.userId);
  const { csrf } = session;
  return respond(
    call,
    { title: view.t('nav_passkeys'), status: refused ? 422 : 200 },
    <>
      <Head view={view} title={view.t('nav_passkeys')} />
      <p>{view.t(deps.approvalPasskey ? 'passkeys_what' : 'passkeys_off')}</p>
      {refused ? (
        <Notice tone="fail" alert>
          {view.t('passkey_refused')}
        </Notice>
      ) : null}
      <PasskeyTable view={view} passkeys={passkeys} remove={{ action: `${AT}/remove`, csrf }} />
      {isFresh(call) ? (
        <Form action={AT} csrf={csrf} class="section">
          <PasskeyPart kind="register" options={`${AT}/options`} name="answer" failed={view.t('passkey_failed')}>
            <noscript>
              <p class="err">{view.t('passkey_noscript')}</p>
            </noscript>
          </PasskeyPart>
          <button type="submit" class="btn btn--main">
            {view.t('passkey_add')}
          </button>
        </Form>
      ) : (
        <Notice tone="person">{view.t('passkey_stale')}</Notice>
      )}
    </>,
  );
}

function isFresh({ session, view }: SignedCall<ConsoleDeps>): boolean {
  return view.now.getTime() - session.openedAt.getTime() < FRESH_MS;
}

function requireFresh(call: SignedCall<ConsoleDeps>): void {
  if (!isFresh(call)) throw new PageError(403);
}
