import type { Context, MiddlewareHandler } from 'hono';
import { DatabaseError, Retryable, Unavailable } from '../../db/errors.js';
import type { Log } from '../../telemetry/log.js';
import { withTrace } from '../../telemetry/trace.js';
import { requestIdOf, setAnswerHeaders, traceIdOf } from '../answer-headers.js';
import { Problem, problemResponse } from '../problem.js';
import type { Caller, GatewayDeps } from './call.js';

export interface GatewayEnv {
  Variables: {
    traceId: string;
    requestId: string;
    /** Template of the path, for logs and metrics. */
    route: string;
    caller: Caller;
    /** Headers of whatever is answered, a problem too. */
    budgetHeaders: Readonly<Record<string, string>>;
  };
}

const RETRY_AFTER_S = '1';

/** Around every call: its ids, what every answer carries, one log line, one observation. */
export function frame(deps: GatewayDeps): MiddlewareHandler<GatewayEnv> {
  return async (c, next) => {
    const began = performance.now();
    const requestId = requestIdOf(c.req.header('request-id'));
    const traceId = traceIdOf(c.req.header('traceparent'));
    c.set('requestId', requestId);
    c.set('traceId', traceId);
    c.set('route', 'none');
    await withTrace({ traceId, requestId }, async () => {
      await next();
      setAnswerHeaders(c.res.headers, requestId);
      for (const [name, value] of Object.entries(c.get('budgetHeaders') ?? {})) c.res.headers.set(name, value);
      report(deps, c, performance.now() - began);
    });
  };
}

/** Refuses every call from the first moment of a stop. */
export function refuseWhenStopping(deps: GatewayDeps): MiddlewareHandler<GatewayEnv> {
  return async (_, next) => {
    if (deps.stopping()) throw unavailable();
    await next();
  };
}

/** Any error as the answer to it; what is not expected is logged and says nothing but `internal`. */
export function answerError(error: Error, c: Context<GatewayEnv>, log: Log): Response {
  return problemResponse(toProblem(error, log), { path: new URL(c.req.url).pathname, traceId: c.get('traceId') });
}

function toProblem(error: Error, log: Log): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Unavailable || error instanceof Retryable) {
    log.warn('The database did not answer a call.', { error, code: error.sqlstate });
    return unavailable();
  }
  const code = error instanceof DatabaseError ? error.sqlstate : undefined;
  log.error('A call failed for a reason that is a bug.', { error, code });
  return new Problem('internal', { headers: { 'retry-after': RETRY_AFTER_S } });
}

function unavailable(): Problem {
  return new Problem('temporarily_unavailable', { headers: { 'retry-after': RETRY_AFTER_S } });
}

function report(deps: GatewayDeps, c: Context<GatewayEnv>, ms: number): void {
  const { method } = c.req;
  const route = c.get('route');
  const { status } = c.res;
  const caller: Caller | undefined = c.get('caller');
  deps.metrics.observeHttp({ method: metricMethod(method), route, status, seconds: ms / 1_000 });
  const of = caller && { book: caller.book, merchant_id: caller.merchantId, key_id: caller.keyId };
  deps.log.info('A call was answered.', { method: metricMethod(method), route, status, ms: Math.round(ms), ...of });
}

// A stranger chooses the method: a label takes only those that we serve.
function metricMethod(method: string): string {
  return ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].includes(method) ? method : 'other';
}
