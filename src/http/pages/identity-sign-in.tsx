import { randomBytes } from 'node:crypto';
import { beginSignIn, type Identity, openIdentitySession, takeSignIn } from '../../db/identities.js';
import { revokeSession } from '../../db/sessions.js';
import type { PageCall, PagesDeps } from './call.js';
import { sessionCookie, setCookie, signInCookie } from './cookies.js';
import { ProviderAway, SignInRefused } from './identity-provider.js';
import { homeOf } from './navigation.js';
import { notFound } from './page-error.js';
import type { PageRoute } from './page-route.js';
import { type Fact, Facts } from './parts/facts.js';
import { Notice } from './parts/notice.js';
import { redirect, respond } from './respond.js';
import { countSignIn } from './sign-in-limit.js';
import type { Word } from './words.js';

/** As long as the attempt is kept. */
const ATTEMPT_SECONDS = 600;
/** Behind one address is a whole office, and a start guesses nothing. */
const STARTS_MAX = 120;

/**
 * Signing in by the identity provider: away with a fresh state, nonce and PKCE challenge, and back. What the browser
 * has to come back with is kept in the database, for it alone and once; `nextOf` names the page that it may lead to.
 */
export function identityRoutes<Deps extends PagesDeps>(
  audience: Deps['audience'],
  nextOf: (text: string) => string,
): readonly PageRoute<Deps>[] {
  const home = homeOf(audience);
  const open = { roles: 'anyone', names: null, method: 'GET' } as const;
  return [
    {
      ...open,
      path: `${home}/sign-in/start`,
      handler: async (call) => start(call, nextOf(call.query.get('next') ?? '')),
    },
    { ...open, path: `${home}/sign-in/callback`, handler: callback },
  ];
}

/** A link and no form: a policy on forms would also bind every page that the provider leads through. */
export function IdentityButton({ call, next }: { call: PageCall; next: string }) {
  const { view, deps } = call;
  const query = next === '' ? '' : `?${new URLSearchParams({ next }).toString()}`;
  return (
    <p>
      <a class="btn btn--main btn--wide" href={`${homeOf(deps.audience)}/sign-in/start${query}`}>
        {view.t('sign_in')}
      </a>
    </p>
  );
}

async function start<Deps extends PagesDeps>(call: PageCall<Deps>, next: string): Promise<Response> {
  const { deps, address, fetchSite } = call;
  const provider = deps.identityProvider ?? notFound();
  // Another site signs nobody in: the person presses our own button.
  if (fetchSite !== 'same-origin') return redirect(`${homeOf(deps.audience)}/sign-in`);
  await countSignIn(deps, address, STARTS_MAX);
  try {
    const { away, url } = await provider.begin(`${deps.origin}${callbackOf(deps)}`);
    const browser = randomBytes(32).toString('base64url');
    await beginSignIn(deps.db, { ...away, browser, audience: deps.audience, next });
    return redirect(url.href, [setCookie(signInCookie(deps.audience), browser, ATTEMPT_SECONDS)]);
  } catch (error) {
    return failed(call, error);
  }
}

async function callback<Deps extends PagesDeps>(call: PageCall<Deps>): Promise<Response> {
  const { deps, query, cookie } = call;
  const provider = deps.identityProvider ?? notFound();
  const { audience } = deps;
  const [browser, state] = [cookie(signInCookie(audience)), query.get('state')];
  const asking = browser === undefined || state === null ? null : { browser, state };
  const attempt = asking && (await takeSignIn(deps.db, { ...asking, audience }));
  if (asking === null || attempt === null) return problem(call, { status: 400, word: 'sign_in_stale' });
  try {
    const address = new URL(`${deps.origin}${callbackOf(deps)}?${query.toString()}`);
    const identity = await provider.finish(address, { ...attempt, state: asking.state });
    return await enter(call, { identity, next: attempt.next });
  } catch (error) {
    return failed(call, error);
  }
}

async function enter<Deps extends PagesDeps>(
  call: PageCall<Deps>,
  { identity, next }: { identity: Identity; next: string },
): Promise<Response> {
  const { deps, cookie } = call;
  const { audience } = deps;
  const opened = await openIdentitySession(deps.db, { ...identity, audience });
  if (opened === null) return unknownIdentity(call, identity);
  // Whoever was signed in here before is not any more.
  const before = cookie(sessionCookie(audience));
  if (before !== undefined) await revokeSession(deps.db, before);
  deps.log.info('Somebody signed in.', { user: opened.userId });
  return redirect(next, [setCookie(sessionCookie(audience), opened.token), setCookie(signInCookie(audience), '', 0)]);
}

function callbackOf({ audience }: PagesDeps): string {
  return `${homeOf(audience)}/sign-in/callback`;
}

function failed<Deps extends PagesDeps>(call: PageCall<Deps>, error: unknown): Promise<Response> {
  const { log } = call.deps;
  if (error instanceof SignInRefused) {
    log.warn('A sign-in was refused.', { error: error.cause ?? error });
    return problem(call, { status: 403, word: 'sign_in_not_taken' });
  }
  if (error instanceof ProviderAway) {
    log.warn('The identity provider does not answer.', { error: error.cause ?? error });
    return problem(call, { status: 503, word: 'sign_in_away' });
  }
  throw error;
}

/** Says what an admin must do, and names the subject to do it with. */
function unknownIdentity<Deps extends PagesDeps>(call: PageCall<Deps>, { issuer, subject }: Identity) {
  call.deps.log.warn('An identity that is nobody here came to sign in.');
  const admin = call.view.t('sign_in_unknown_admin');
  return problem(call, { status: 403, word: 'sign_in_unknown' }, [
    { name: 'identity_subject', value: <span class="id">{subject}</span>, more: admin },
    { name: 'identity_issuer', value: issuer },
  ]);
}

function problem<Deps extends PagesDeps>(
  call: PageCall<Deps>,
  {
    status,
    word,
  }: { status: number; word: 'sign_in_stale' | 'sign_in_not_taken' | 'sign_in_away' | 'sign_in_unknown' },
  facts: readonly Fact[] = [],
): Promise<Response> {
  const { view, deps } = call;
  const more: Word = `${word}_more`;
  return respond(
    { ...call, session: null },
    { title: view.t(word), status },
    <>
      <h1>{view.t(word)}</h1>
      <Notice tone={status === 503 ? 'wait' : 'fail'} alert>
        {view.t(more)}
      </Notice>
      {facts.length === 0 ? null : <Facts view={view} facts={facts} narrow />}
      <p>
        <a href={`${homeOf(deps.audience)}/sign-in`}>{view.t('sign_in_begin_again')}</a>
      </p>
    </>,
  );
}
