import { createHash } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { AcceptOutcome, Delivery } from '../../db/inbox.js';
import type { Log } from '../../telemetry/log.js';
import { withTrace } from '../../telemetry/trace.js';
import { requestIdOf, setAnswerHeaders, traceIdOf } from '../answer-headers.js';
import { Problem, problemResponse } from '../problem.js';
import type { Endpoint } from './endpoints.js';

/** Largest notification that is read. */
const BODY_BYTES_MAX = 1024 * 1024;
const RETRY_AFTER_SECONDS = 5;

export interface RelayDeps {
  readonly endpoints: ReadonlyMap<string, Endpoint>;
  readonly log: Log;
  /** Notifications a second and endpoint. */
  readonly rateLimit: number;
  /** Resolves after the commit of this delivery. */
  accept(delivery: Delivery): Promise<AcceptOutcome>;
  /** Says "look" to whoever follows the subject; never waits. */
  nudge(delivery: Delivery): void;
  /** Counts what the database's role lets the relay tell: 401s and 5xx. */
  count(what: 'rejected' | 'failed', endpoint: Endpoint): void;
}

/**
 * Webhooks in: size and rate limit → raw bytes → signature → delivery id → inbox, committed → 200 → nudge.
 * A bad signature is 401 without detail and not stored; what cannot be stored is 503.
 */
export function createRelayApp(deps: RelayDeps): (request: Request) => Promise<Response> {
  const limiter = new RateLimiterMemory({ points: deps.rateLimit, duration: 1 });
  return async (request) => {
    const path = new URL(request.url).pathname;
    const traceId = traceIdOf(request.headers.get('traceparent'));
    const requestId = requestIdOf(request.headers.get('request-id'));
    return withTrace({ traceId, requestId }, async () => {
      const answer = await answerTo(request, { path, traceId });
      setAnswerHeaders(answer.headers, requestId);
      return answer;
    });
  };

  async function answerTo(request: Request, { path, traceId }: { path: string; traceId: string }): Promise<Response> {
    try {
      const endpoint = deps.endpoints.get(path);
      if (!endpoint) throw new Problem('not_found');
      if (request.method !== 'POST') throw new Problem('method_not_allowed', { headers: { allow: 'POST' } });
      await limiter.consume(path).catch(() => {
        throw new Problem('rate_limited', { headers: { 'retry-after': '1' } });
      });
      await take(deps, { endpoint, request, traceId });
      return new Response('{"received":true}', { headers: { 'content-type': 'application/json' } });
    } catch (error) {
      return problemResponse(toProblem(deps, error), { path, traceId });
    }
  }
}

async function take(
  deps: RelayDeps,
  { endpoint, request, traceId }: { endpoint: Endpoint; request: Request; traceId: string },
): Promise<void> {
  const rawBody = await readBody(request);
  if (endpoint.verify(rawBody, request.headers) === 'bad') {
    deps.count('rejected', endpoint);
    throw new Problem('authentication', { detail: 'The notification was not accepted.' });
  }
  const { delivery, outcome } = await store(deps, { endpoint, rawBody, headers: request.headers, traceId }).catch(
    (error: unknown) => {
      deps.count('failed', endpoint);
      deps.log.error('a notification could not be stored', {
        provider: endpoint.provider,
        endpoint: endpoint.name,
        error,
      });
      throw new Problem('temporarily_unavailable', { headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } });
    },
  );
  deps.log.info('notification received', {
    provider: endpoint.provider,
    endpoint: endpoint.name,
    book: endpoint.book,
    outcome,
    subject_type: delivery.subject?.type,
    reason: delivery.parkedReason,
  });
  // A conflict nudges too: its id may have been taken by a forger first.
  if (delivery.subject) deps.nudge(delivery);
}

/** What cannot be sealed cannot be stored either, and is not taken. */
async function store(deps: RelayDeps, { endpoint, ...received }: Received & { endpoint: Endpoint }) {
  const delivery = toDelivery(endpoint, received);
  return { delivery, outcome: await deps.accept(delivery) };
}

interface Received {
  readonly rawBody: Buffer;
  readonly headers: Headers;
  readonly traceId: string;
}

function toDelivery(endpoint: Endpoint, { rawBody, headers, traceId }: Received): Delivery {
  const bodyHash = createHash('sha256').update(rawBody).digest();
  const named = endpoint.read(rawBody, headers);
  const parked = 'parked' in named;
  const deliveryId = named.deliveryId ?? `sha256:${bodyHash.toString('hex')}`;
  return {
    provider: endpoint.provider,
    endpoint: endpoint.name,
    book: endpoint.book,
    deliveryId,
    body: endpoint.keep(rawBody, deliveryId),
    bodyHash,
    eventType: parked ? null : named.eventType,
    subject: parked ? null : named.subject,
    parkedReason: parked ? named.parked : null,
    traceId,
  };
}

async function readBody(request: Request): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) throw new Problem('payload_too_large');
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Problem('payload_too_large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function toProblem(deps: RelayDeps, error: unknown): Problem {
  if (error instanceof Problem) return error;
  deps.log.error('a notification met a bug', { error });
  return new Problem('internal');
}
