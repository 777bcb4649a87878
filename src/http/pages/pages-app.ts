import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { readSession, type Session } from '../../db/sessions.js';
import { withTrace } from '../../telemetry/trace.js';
import { requestIdOf, traceIdOf } from '../answer-headers.js';
import type { PageCall, PagesDeps } from './call.js';
import { readCookies, sessionCookie, setCookie } from './cookies.js';
import { FORM_BYTES_MAX, NO_FORM, readForm, requireOwnOrigin, requireToken } from './form-body.js';
import { homeOf } from './navigation.js';
import { PageError } from './page-error.js';
import type { PageRoute } from './page-route.js';
import { answerProblem } from './problem-page.js';
import { redirect } from './respond.js';
import { setPageHeaders } from './security-headers.js';
import { type Chosen, oneOf, readChosen, VIEW_COOKIE, VIEW_COOKIE_SECONDS, viewOf, writeChosen } from './view.js';

interface PagesEnv {
  Variables: { traceId: string; route: string; user: string | undefined };
  /** What Node's server tells of the connection; nothing where a test calls. */
  Bindings: { incoming?: { socket: { remoteAddress?: string } } };
}
type Seen = Pick<PageCall, 'view' | 'session' | 'path' | 'traceId' | 'cookie'> & { readonly chosenNow: string | null };

/**
 * Serves a table of routes, and nothing that has no row in it. Each call passes, in this order: its trace, its session,
 * for a POST the origin, the role, the form with the session's token.
 */
export function createPagesApp<Deps extends PagesDeps>(deps: Deps, routes: readonly PageRoute<Deps>[]): Hono<PagesEnv> {
  const app = new Hono<PagesEnv>();
  app.use('*', frame(deps));
  for (const route of routes) app.on(route.method, route.path, (c) => answer(deps, route, c));
  for (const path of new Set(routes.map((route) => route.path))) app.all(path, (c) => refuse(deps, c, { path }));
  app.notFound((c) => refuse(deps, c, { path: null }));
  return app;
}

function frame(deps: PagesDeps): MiddlewareHandler<PagesEnv> {
  return async (c, next) => {
    const began = performance.now();
    const requestId = requestIdOf(c.req.header('request-id'));
    const traceId = traceIdOf(c.req.header('traceparent'));
    c.set('traceId', traceId);
    c.set('route', 'none');
    await withTrace({ traceId, requestId }, async () => {
      await next();
      setPageHeaders(c.res.headers, requestId);
      const method = ['GET', 'HEAD', 'POST'].includes(c.req.method) ? c.req.method : 'other';
      const { status } = c.res;
      const [route, ms] = [c.get('route'), performance.now() - began];
      deps.metrics.observeHttp({ method, route, status, seconds: ms / 1_000 });
      deps.log.info('A page was answered.', { method, route, status, ms: Math.round(ms), user: c.get('user') });
    });
  };
}

async function answer<Deps extends PagesDeps>(deps: Deps, route: PageRoute<Deps>, c: Context<PagesEnv>) {
  c.set('route', route.path);
  const seen = seenOf(c, null);
  try {
    if (deps.stopping()) throw new PageError(503);
    if (route.method === 'POST') requireOwnOrigin(c.req.raw.headers, deps.origin);
    const session = await sessionOf(deps, seen);
    c.set('user', session?.userId);
    const call = await callOf({ deps, route, c, seen: { ...seen, session } });
    if (call === null) return toSignIn(deps, c);
    return withChoice(await route.handler(call), seen);
  } catch (error) {
    const session = await sessionOf(deps, seen).catch(() => null);
    return answerProblem({ ...seen, session, deps }, error);
  }
}

async function refuse<Deps extends PagesDeps>(deps: Deps, c: Context<PagesEnv>, of: { path: string | null }) {
  if (of.path !== null) c.set('route', of.path);
  const seen = seenOf(c, null);
  const session = await sessionOf(deps, seen).catch(() => null);
  return answerProblem({ ...seen, session, deps }, new PageError(of.path === null ? 404 : 405));
}

function seenOf(c: Context<PagesEnv>, session: Session | null): Seen {
  const cookie = readCookies(c.req.header('cookie'));
  const kept = readChosen({ cookie: cookie(VIEW_COOKIE), acceptLanguage: c.req.header('accept-language') });
  // A link to a book is kept, so that the next page is of the same.
  const asked = c.req.method === 'GET' ? c.req.query('book') : undefined;
  const chosen: Chosen = { ...kept, book: oneOf(['live', 'test'], asked) ?? kept.book };
  return {
    view: viewOf(chosen),
    session,
    path: c.req.path,
    traceId: c.get('traceId'),
    cookie,
    chosenNow: chosen.book === kept.book ? null : writeChosen(chosen),
  };
}

async function sessionOf(deps: PagesDeps, seen: Seen): Promise<Session | null> {
  const token = seen.cookie(sessionCookie(deps.audience));
  return token === undefined ? null : readSession(deps.db, { token, audience: deps.audience });
}

/** Null when somebody has to sign in first. */
async function callOf<Deps extends PagesDeps>(of: {
  deps: Deps;
  route: PageRoute<Deps>;
  c: Context<PagesEnv>;
  seen: Seen;
}): Promise<PageCall<Deps> | null> {
  const { deps, route, c, seen } = of;
  const { session } = seen;
  if (route.roles !== 'anyone') {
    if (session === null) return null;
    const { roles } = session;
    if (!route.roles.some((role) => roles.includes(role))) throw new PageError(403);
  }
  const form = route.method === 'POST' ? await readForm(c.req.raw, route.bodyBytesMax ?? FORM_BYTES_MAX) : NO_FORM;
  if (route.method === 'POST' && session !== null) requireToken(form, session.csrf);
  return {
    ...{ deps, form, view: seen.view, session, path: seen.path, traceId: seen.traceId, cookie: seen.cookie },
    params: c.req.param() as Record<string, string>,
    query: new URL(c.req.url).searchParams,
    address: addressOf(c),
    fetchSite: c.req.header('sec-fetch-site') ?? null,
  };
}

function addressOf(c: Context<PagesEnv>): string {
  const env: PagesEnv['Bindings'] | undefined = c.env;
  return env?.incoming?.socket.remoteAddress ?? 'unknown';
}

function toSignIn(deps: PagesDeps, c: Context<PagesEnv>): Response {
  const home = homeOf(deps.audience);
  if (c.req.method !== 'GET' || c.req.path === home) return redirect(`${home}/sign-in`);
  return redirect(`${home}/sign-in?${new URLSearchParams({ next: c.req.path }).toString()}`);
}

function withChoice(response: Response, { chosenNow }: Seen): Response {
  if (chosenNow !== null) response.headers.append('set-cookie', setCookie(VIEW_COOKIE, chosenNow, VIEW_COOKIE_SECONDS));
  return response;
}
