import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { Problem } from '../problem.js';
import { authenticate } from './authentication.js';
import type { Answer, GatewayDeps } from './call.js';
import { answerError, frame, type GatewayEnv, refuseWhenStopping } from './frame.js';
import { buildOpenApi } from './openapi.js';
import { addPages } from './pages.js';
import { createRateLimiter, type RateLimiter, requireBudget } from './rate-limit.js';
import type { Route } from './route.js';
import { ROUTES } from './routes.js';

/**
 * The public API. Each call under `/v1` passes, in this order: its ids, the key, the budget of the key, the route;
 * so without a key every path there answers alike.
 */
export function createGatewayApp(deps: GatewayDeps): Hono<GatewayEnv> {
  const app = new Hono<GatewayEnv>();
  const limiter = createRateLimiter(deps.db, {
    limit: deps.config.SVERKA_RATE_LIMIT,
    windowMs: deps.config.SVERKA_RATE_LIMIT_WINDOW,
  });
  app.onError((error, c) => answerError(error, c, deps.log));
  app.notFound((c) => answerError(new Problem('not_found'), c, deps.log));
  app.use('*', frame(deps), refuseWhenStopping(deps));
  addPages(app, buildOpenApi(ROUTES));
  app.use('/v1/*', behindKey(deps, limiter));
  for (const route of ROUTES) app.on(route.method, honoPath(route.path), (c) => serve(deps, route, c));
  refuseOtherMethods(app, ROUTES);
  return app;
}

function behindKey(deps: GatewayDeps, limiter: RateLimiter): MiddlewareHandler<GatewayEnv> {
  return async (c, next) => {
    const caller = await authenticate(deps.db, c.req.header('authorization'));
    c.set('caller', caller);
    const budget = await limiter.consume(caller.keyId);
    c.set('budgetHeaders', budget.headers);
    requireBudget(budget);
    await next();
  };
}

async function serve(deps: GatewayDeps, route: Route, c: Context<GatewayEnv>): Promise<Response> {
  c.set('route', route.path);
  const call = {
    deps,
    caller: c.get('caller'),
    method: route.method,
    path: c.req.path,
    params: c.req.param() as Record<string, string>,
    traceId: c.get('traceId'),
    header: (name: string) => c.req.header(name),
  };
  return toResponse(await route.answer(call, c.req.raw));
}

function toResponse({ status, body, headers }: Answer): Response {
  return new Response(JSON.stringify(body), { status, headers: { ...headers, 'content-type': 'application/json' } });
}

/** A known path with another method is 405 with `Allow`; HEAD goes where GET does. */
function refuseOtherMethods(app: Hono<GatewayEnv>, routes: readonly Route[]): void {
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = routes.filter((route) => route.path === path).flatMap(({ method }) => allowed(method));
    app.all(honoPath(path), (c) => {
      c.set('route', path);
      throw new Problem('method_not_allowed', { headers: { allow: methods.join(', ') } });
    });
  }
}

function allowed(method: Route['method']): string[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method];
}

function honoPath(path: string): string {
  return path.replaceAll(/\{([a-z_]+)\}/g, ':$1');
}
