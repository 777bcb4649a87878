import type { PayloadCodec } from '@temporalio/common';
import { PayloadNotOpened } from '../../client/encryption-codec.js';
import type { Log } from '../../telemetry/log.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { withTrace } from '../../telemetry/trace.js';
import { requestIdOf, setAnswerHeaders, traceIdOf } from '../answer-headers.js';
import { Problem, problemResponse } from '../problem.js';
import { type CodecAccess, requireCaller, requireOrigin } from './codec-access.js';
import { readPayloads, writePayloads } from './payloads.js';
import { signIn, signInPage } from './sign-in.js';

export interface CodecDeps {
  readonly codec: PayloadCodec;
  readonly access: CodecAccess;
  readonly log: Log;
  readonly metrics: Metrics;
}

type Route = 'encode' | 'decode' | 'sign-in';
const METHODS: Readonly<Record<Route, string>> = {
  encode: 'POST, OPTIONS',
  decode: 'POST, OPTIONS',
  'sign-in': 'GET, HEAD, POST',
};
/** What the UI sends; a preflight is asked again after ten minutes. */
const CORS_HEADERS = 'authorization, authorization-extras, content-type, x-namespace';
const PREFLIGHT_SECONDS = '600';
/** A namespace stands in the log only where it looks like one. */
const NAMESPACE = /^[A-Za-z0-9._-]{1,64}$/;

/**
 * Temporal's remote codec: `…/encode` and `…/decode` take and give payloads as JSON, for who has the token or a
 * session, and for scripts of Temporal's UI alone. As the protocol asks, only the last part of a path counts.
 */
export function createCodecApp(deps: CodecDeps): (request: Request) => Promise<Response> {
  return async (request) => {
    const began = performance.now();
    const path = new URL(request.url).pathname;
    const route = /(?:^|\/)(encode|decode|sign-in)$/.exec(path)?.[1] as Route | undefined;
    const traceId = traceIdOf(request.headers.get('traceparent'));
    const requestId = requestIdOf(request.headers.get('request-id'));
    return withTrace({ traceId, requestId }, async () => {
      const answer = await answerTo(deps, request, route).catch((error: unknown) =>
        problemResponse(toProblem(deps, error), { path, traceId }),
      );
      setAnswerHeaders(answer.headers, requestId);
      allowUi(request, answer, deps.access);
      const method = request.method in { GET: 1, HEAD: 1, POST: 1, OPTIONS: 1 } ? request.method : 'other';
      const seconds = (performance.now() - began) / 1_000;
      deps.metrics.observeHttp({ method, route: route ?? 'none', status: answer.status, seconds });
      return answer;
    });
  };
}

async function answerTo(deps: CodecDeps, request: Request, route: Route | undefined): Promise<Response> {
  if (route === undefined) throw new Problem('not_found');
  const { method } = request;
  if (!METHODS[route].split(', ').includes(method))
    throw new Problem('method_not_allowed', { headers: { allow: METHODS[route] } });
  if (route === 'sign-in') return method === 'POST' ? signIn(request, deps.access) : signInPage();
  requireOrigin(request.headers, deps.access);
  return method === 'OPTIONS' ? preflight(request) : convert(deps, request, route);
}

function preflight(request: Request): Response {
  // One without an Origin asks nothing.
  if (request.headers.get('origin') === null) throw new Problem('permission', { detail: 'A preflight has an Origin.' });
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': CORS_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    },
  });
}

async function convert({ codec, access, log }: CodecDeps, request: Request, how: 'encode' | 'decode') {
  const caller = requireCaller(request.headers, access);
  const payloads = await readPayloads(request);
  const converted = await codec[how](payloads);
  const namespace = request.headers.get('x-namespace') ?? '';
  // Who reads what was encrypted leaves a trace.
  log.info('payloads were converted', {
    operation: how,
    source: caller,
    count: payloads.length,
    namespace: NAMESPACE.test(namespace) ? namespace : undefined,
  });
  return new Response(writePayloads(converted), { headers: { 'content-type': 'application/json' } });
}

/** On every answer, refusals too: without it the UI could not tell why it was refused. */
function allowUi(request: Request, answer: Response, { uiOrigin }: CodecAccess): void {
  answer.headers.append('vary', 'origin');
  if (request.headers.get('origin') !== uiOrigin) return;
  answer.headers.set('access-control-allow-origin', uiOrigin);
  answer.headers.set('access-control-allow-credentials', 'true');
}

function toProblem({ log }: CodecDeps, error: unknown): Problem {
  if (error instanceof Problem) {
    if (error.code === 'authentication') log.warn('a call without the token was refused');
    return error;
  }
  if (error instanceof PayloadNotOpened) {
    log.warn('a payload could not be opened', { error });
    return new Problem('validation', { detail: error.message });
  }
  log.error('a call met a bug', { error });
  return new Problem('internal');
}
