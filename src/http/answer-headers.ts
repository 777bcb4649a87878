import { randomUUID } from 'node:crypto';

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** The caller's `Request-Id` when it is within its grammar, a new one otherwise. */
export function requestIdOf(given: string | null | undefined): string {
  return given && REQUEST_ID.test(given) ? given : randomUUID();
}

/** What every answer carries, of every listener that the public can reach. */
export function setAnswerHeaders(headers: Headers, requestId: string): void {
  headers.set('request-id', requestId);
  headers.set('cache-control', 'no-store');
  headers.set('x-content-type-options', 'nosniff');
}
