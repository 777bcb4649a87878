import { randomUUID } from 'node:crypto';
import { isFreeOfCardNumbers, isTraceFreeOfCardNumbers } from '../contracts/values.js';
import { newTraceId, parseTraceparent } from '../telemetry/trace.js';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's `Request-Id` when it is within its grammar and holds no card number, a new one otherwise. */
export function requestIdOf(given: string | null | undefined): string {
  return given && REQUEST_ID.test(given) && isFreeOfCardNumbers(given) ? given : randomUUID();
}

/** The trace of the caller's `traceparent` when it is one and hides no card number, a new one otherwise. */
export function traceIdOf(traceparent: string | null | undefined): string {
  const given = parseTraceparent(traceparent);
  return given !== null && isTraceFreeOfCardNumbers(given) ? given : newTraceId();
}

/** What every answer carries, of every listener that the public can reach. */
export function setAnswerHeaders(headers: Headers, requestId: string): void {
  headers.set('request-id', requestId);
  headers.set('cache-control', 'no-store');
  headers.set('x-content-type-options', 'nosniff');
}
