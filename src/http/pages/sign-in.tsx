import { openSession, revokeSession } from '../../db/sessions.js';
import type { PageCall, PagesDeps } from './call.js';
import { sessionCookie, setCookie } from './cookies.js';
import { IdentityButton, identityRoutes } from './identity-sign-in.js';
import { homeOf } from './navigation.js';
import { notFound } from './page-error.js';
import { isKnownPath, type PageRoute } from './page-route.js';
import { TextField } from './parts/field.js';
import { Form } from './parts/form.js';
import { Icon } from './parts/icon.js';
import { Notice } from './parts/notice.js';
import { redirect, respond } from './respond.js';
import { countSignIn } from './sign-in-limit.js';

/** What stands at the end of a link, or is all of it. */
const TOKEN = /([A-Za-z0-9_-]{43})\s*$/;

/**
 * The pages of signing in and out. Opening a link shows a button and uses nothing up: a scanner of mails that opens
 * links presses no button.
 */
export function signInRoutes<Deps extends PagesDeps>(
  audience: Deps['audience'],
  table: () => readonly PageRoute<Deps>[],
): readonly PageRoute<Deps>[] {
  const home = homeOf(audience);
  const open = { roles: 'anyone', names: null } as const;
  const nextOf = (text: string) => (isKnownPath(table(), text) ? text : home);
  return [
    {
      ...{ ...open, method: 'GET', path: `${home}/sign-in` },
      handler: async (call) => {
        const link = call.query.get('link') ?? '';
        // Somebody who is signed in may open the link of another login.
        return call.session !== null && link === '' ? redirect(home) : signInPage(call, { link });
      },
    },
    {
      ...{ ...open, method: 'POST', path: `${home}/sign-in` },
      handler: async (call) => signIn(call, nextOf(call.form.text('next'))),
    },
    { ...{ ...open, method: 'POST', path: `${home}/sign-out` }, handler: signOut },
    ...identityRoutes<Deps>(audience, nextOf),
  ];
}

async function signIn<Deps extends PagesDeps>(call: PageCall<Deps>, next: string): Promise<Response> {
  const { deps, form, cookie, address } = call;
  if (!deps.localLinks) notFound();
  await countSignIn(deps, address);
  const { audience } = deps;
  const link = TOKEN.exec(form.text('link'))?.[1];
  const opened = link === undefined ? null : await openSession(deps.db, { link, audience });
  if (opened === null) return signInPage(call, { link: '', refused: true });
  // Whoever was signed in here before is not any more.
  const before = cookie(sessionCookie(audience));
  if (before !== undefined) await revokeSession(deps.db, before);
  deps.log.info('Somebody signed in.', { user: opened.userId });
  return redirect(next, [setCookie(sessionCookie(audience), opened.token)]);
}

async function signOut<Deps extends PagesDeps>({ deps, cookie }: PageCall<Deps>): Promise<Response> {
  const name = sessionCookie(deps.audience);
  const token = cookie(name);
  if (token !== undefined) await revokeSession(deps.db, token);
  return redirect(`${homeOf(deps.audience)}/sign-in`, [setCookie(name, '', 0)]);
}

function signInPage<Deps extends PagesDeps>(call: PageCall<Deps>, of: { link: string; refused?: boolean }) {
  const { view, deps, query, form } = call;
  const link = TOKEN.exec(of.link)?.[1] ?? null;
  const next = query.get('next') ?? form.text('next');
  const title = view.t('sign_in_title');
  return respond(
    { ...call, session: null },
    { title, status: of.refused ? 422 : 200 },
    <>
      <h1>{title}</h1>
      {next === '' || of.refused ? null : <Notice tone="wait">{view.t('sign_in_again')}</Notice>}
      {deps.localLinks ? (
        <Form action={`${homeOf(deps.audience)}/sign-in`} csrf={call.session?.csrf ?? null}>
          <input type="hidden" name="next" value={next} />
          {link === null ? (
            <TextField
              id="link"
              label={view.t('sign_in_field')}
              hint={view.t('sign_in_hint')}
              error={of.refused ? view.t('sign_in_refused') : undefined}
              maxlength={300}
              required
            />
          ) : (
            <>
              <input type="hidden" name="link" value={link} />
              <p>{view.t('sign_in_ready')}</p>
            </>
          )}
          <button type="submit" class="btn btn--main btn--wide">
            <Icon name="lock" />
            {view.t('sign_in')}
          </button>
        </Form>
      ) : deps.identityProvider === null ? (
        <p>{view.t('sign_in_off')}</p>
      ) : (
        <IdentityButton call={call} next={next} />
      )}
      <p class="small muted">{view.t('no_passwords')}</p>
    </>,
  );
}
