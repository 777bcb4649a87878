import { Agent, buildConnector, request } from 'undici';
import { kindOfStatus, ProviderError, type ProviderErrorDetails } from './errors.js';
import { readStrictJson } from './strict-json.js';

/** A page of 200 records is some 100 KiB; what is larger than this is not read to its end. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const RETRY_AFTER_MS_MAX = 3_600_000;
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** What a caller hands through every client function. */
export interface CallContext {
  /** W3C trace context to pass on; anything malformed is left out. */
  readonly traceparent?: string | undefined;
}

export interface HttpCall {
  /** Name of the client's function, for errors and logs. */
  readonly operation: string;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly context?: CallContext | undefined;
  /** Statuses that are an answer; every other becomes a ProviderError. */
  readonly expect: readonly number[];
  /** For a create: a connection of its own, so that a stale kept-alive one can never make the outcome unknown. */
  readonly freshConnection?: boolean;
  /** For a create that is not idempotent by our reference: a 409 says nothing certain of it. */
  readonly conflictProvesNothing?: boolean;
}

export interface HttpAnswer {
  readonly status: number;
  /** JSON read losslessly: its numbers are `LosslessNumber`. */
  readonly body: unknown;
}

export interface HttpCaller {
  call(call: HttpCall): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export interface HttpCallerOptions {
  readonly provider: string;
  readonly url: string;
  /** For the whole call: connect, send, and read the answer to its end. */
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * One HTTP call at a time to one provider: explicit timeouts, no retry, no redirect, a bound on the answer's size,
 * lossless JSON. `call` returns an expected answer or throws a ProviderError that says what the failure proves.
 */
export function createHttpCaller(options: HttpCallerOptions): HttpCaller {
  const kept = createAgent(options.timeoutMs, { keepAlive: true });
  const fresh = createAgent(options.timeoutMs, { keepAlive: false });
  const base = options.url.replace(/\/+$/, '');
  return {
    async call(call) {
      const fail = (details: Omit<ProviderErrorDetails, 'provider' | 'operation'>) =>
        new ProviderError({ provider: options.provider, operation: call.operation, ...details });
      const raw = await exchange(base, call, {
        agent: call.freshConnection ? fresh : kept,
        timeoutMs: options.timeoutMs,
        headers: options.headers,
      }).catch((error: unknown) => {
        throw fail(outcomeOfTransportError(error));
      });
      const json = readStrictJson(raw.bytes);
      if (!call.expect.includes(raw.status)) {
        const { status, retryAfterMs } = raw;
        throw fail({
          kind: status === 409 && call.conflictProvesNothing ? 'conflict' : kindOfStatus(status),
          status,
          retryAfterMs,
          code: json.ok ? errorCodeOf(json.value) : null,
        });
      }
      if (!json.ok) throw fail({ kind: 'garbage', status: raw.status, reason: json.reason });
      return { status: raw.status, body: json.value };
    },
    async close() {
      await Promise.all([kept.close(), fresh.close()]);
    },
  };
}

/** Marks an error that came before there was a connection: the one proof that nothing was sent. */
class NotConnectedError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`not connected: ${code}`);
    this.code = code;
  }
}

function createAgent(timeoutMs: number, { keepAlive }: { keepAlive: boolean }): Agent {
  const connect = buildConnector({ timeout: Math.max(1, Math.floor(timeoutMs / 2)) });
  return new Agent({
    pipelining: keepAlive ? 1 : 0,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: ANSWER_BYTES_MAX,
    connect: (target, callback) =>
      connect(target, (...[error, socket]) => {
        if (error) callback(new NotConnectedError(codeOf(error)), null);
        else callback(null, socket);
      }),
  });
}

async function exchange(
  base: string,
  call: HttpCall,
  options: { agent: Agent; timeoutMs: number; headers: Readonly<Record<string, string>> },
): Promise<{ status: number; bytes: Uint8Array; retryAfterMs: number | null }> {
  const traceparent = call.context?.traceparent;
  const response = await request(`${base}${call.path}${queryText(call.query)}`, {
    method: call.method,
    dispatcher: options.agent,
    signal: AbortSignal.timeout(options.timeoutMs),
    headers: {
      accept: 'application/json',
      'user-agent': 'Sverka/1',
      ...(call.body ? { 'content-type': 'application/json' } : {}),
      ...(traceparent && TRACEPARENT.test(traceparent) ? { traceparent } : {}),
      ...options.headers,
      ...call.headers,
    },
    body: call.body ? JSON.stringify(call.body) : null,
  });
  return {
    status: response.statusCode,
    bytes: new Uint8Array(await response.body.arrayBuffer()),
    retryAfterMs: retryAfterOf(response.headers['retry-after']),
  };
}

function queryText(query: HttpCall['query']): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size > 0 ? `?${parameters}` : '';
}

function outcomeOfTransportError(error: unknown): Omit<ProviderErrorDetails, 'provider' | 'operation'> {
  const reason = codeOf(error);
  if (error instanceof NotConnectedError) return { kind: 'refused', reason };
  if (reason === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return { kind: 'garbage', reason: 'answer too large' };
  // A parser error means bytes came that are not HTTP.
  if (reason.startsWith('HPE_')) return { kind: 'garbage', reason: 'not HTTP' };
  return { kind: 'unavailable', reason };
}

// Only the class of a driver's error: its text can hold addresses.
function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  const code = 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code)) return code;
  return 'name' in error && typeof error.name === 'string' ? error.name : 'unknown';
}

/** `Retry-After` in seconds or as a date, as milliseconds from now within an hour; null when absent or odd. */
function retryAfterOf(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  const date = / GMT$/.test(text) ? Date.parse(text) - Date.now() : Number.NaN;
  const ms = /^[0-9]{1,9}$/.test(text) ? Number(text) * 1_000 : date;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), RETRY_AFTER_MS_MAX);
}

function errorCodeOf(body: unknown): string | null {
  const code = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  if (typeof code !== 'string' || !/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/.test(code)) return null;
  // No word: it could be a card number, and an error is kept for ever.
  return /[0-9]{12}/.test(code.replace(/[_.-]/g, '')) ? null : code;
}
