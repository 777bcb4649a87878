import { z } from 'zod';
import { toTime } from './values.js';

export const REQUEST_STATES = ['not_seen', 'in_progress', 'done'] as const;

/** What the API shows of a call with an Idempotency-Key; `response` is what a replay would give now (API.md 3). */
export const requestSchema = z.object({
  object: z.literal('request'),
  id: z.string(),
  state: z.enum(REQUEST_STATES),
  method: z.string().nullable(),
  path: z.string().nullable(),
  resource: z.object({ type: z.string(), id: z.string(), url: z.string() }).nullable(),
  response: z.object({ status: z.int(), body: z.record(z.string(), z.unknown()) }).nullable(),
  trace_id: z.string().nullable(),
  created_at: z.string().nullable(),
  updated_at: z.string().nullable(),
});
export type RequestResource = z.infer<typeof requestSchema>;

/** A call that left no row (yet): repeating it with the same key is the right move. */
export function toOpenRequest(id: string, state: 'not_seen' | 'in_progress'): RequestResource {
  return {
    object: 'request',
    id,
    state,
    method: null,
    path: null,
    resource: null,
    response: null,
    trace_id: null,
    created_at: null,
    updated_at: null,
  };
}

/** A call whose key leads somewhere. */
export function toDoneRequest(
  row: { id: string; method: string; path: string; traceId: string | null; createdAt: Date },
  led: Pick<RequestResource, 'resource' | 'response'> & { updatedAt?: string | undefined },
): RequestResource {
  return {
    object: 'request',
    id: row.id,
    state: 'done',
    method: row.method,
    path: row.path,
    resource: led.resource,
    response: led.response,
    trace_id: row.traceId,
    created_at: toTime(row.createdAt),
    updated_at: led.updatedAt ?? toTime(row.createdAt),
  };
}
