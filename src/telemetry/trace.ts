import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';

/** What every log line inside a call carries. */
export interface TraceContext {
  /** 32 hex digits; goes from the call into workflow, movement, audit row, log and event. */
  readonly traceId: string;
  readonly requestId?: string;
}

const storage = new AsyncLocalStorage<TraceContext>();

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const ZEROS = /^0+$/;

/** Runs `work` inside a trace: what it awaits, and every log line it writes, belongs to it. */
export function withTrace<Result>(context: TraceContext, work: () => Result): Result {
  return storage.run(context, work);
}

/** The trace that the present call runs in, or undefined outside of any. */
export function currentTrace(): TraceContext | undefined {
  return storage.getStore();
}

export function newTraceId(): string {
  return randomBytes(16).toString('hex');
}

/** The trace id of a W3C `traceparent`, or null for one that is absent, malformed, or all zeros. */
export function parseTraceparent(header: string | null | undefined): string | null {
  const match = TRACEPARENT.exec(header?.trim() ?? '');
  if (!match) return null;
  const [, version, traceId, parentId, rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (!traceId || !parentId || ZEROS.test(traceId) || ZEROS.test(parentId)) return null;
  return traceId;
}

/** A W3C `traceparent` of that trace with a fresh span id, marked as sampled. */
export function makeTraceparent(traceId: string): string {
  return `00-${traceId}-${randomBytes(8).toString('hex')}-01`;
}
