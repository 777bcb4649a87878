import { z } from 'zod';
import type { ProblemCode } from '../../contracts/problems.js';
import { Problem } from '../problem.js';
import { checkBody, readJsonObject, readOptionalObject } from './body.js';
import type { Answer, Call } from './call.js';
import { readIdempotencyKey } from './idempotency.js';
import { type Parameters, readParameters, type ValuesOf } from './parameters.js';

/** Of a POST without a body: none, or `{}`. */
const NO_MEMBERS = z.strictObject({});

/** One documented answer of a route. */
export interface AnswerDoc {
  readonly description: string;
  readonly schema: z.ZodType;
  /** The answer names where the object can be read again. */
  readonly location?: boolean;
  /** The answer says when to ask again. */
  readonly retryAfter?: boolean;
}

interface RouteDoc {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As OpenAPI writes it: `/v1/deposits/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  /** `Idempotency-Key` is required. */
  readonly needsKey?: boolean;
  /** By status. */
  readonly answers: Readonly<Record<number, AnswerDoc>>;
  /** Problems beside those that every route may answer. */
  readonly problems?: readonly ProblemCode[];
}

export interface RouteDefinition<P extends Parameters, Body> extends RouteDoc {
  readonly query: P;
  readonly body?: z.ZodType<Body>;
  readonly handler: (call: Call<ValuesOf<P>, Body>) => Promise<Answer>;
}

/** A route as the application serves it and OpenAPI shows it. */
export interface Route extends RouteDoc {
  readonly query: Parameters;
  readonly body: z.ZodType | null;
  /** True for a route that writes: a `read_only` key is refused there. */
  readonly writes: boolean;
  readonly answer: (call: Omit<Call<never, never>, 'query' | 'body'>, request: Request) => Promise<Answer>;
}

/**
 * Ties a handler to its method and path, its parameters and body (anything unknown in them is refused before the
 * handler runs), and its documentation: the same definition serves the call and writes OpenAPI.
 */
export function defineRoute<const P extends Parameters, Body = null>(definition: RouteDefinition<P, Body>): Route {
  const { handler, query, body, ...doc } = definition;
  const writes = doc.method !== 'GET';
  return {
    ...doc,
    query,
    body: body ?? null,
    writes,
    async answer(call, request) {
      if (writes && call.caller.access !== 'full') throw new Problem('permission');
      if (doc.needsKey) readIdempotencyKey(call.header('idempotency-key'));
      const values = readParameters(query, new URL(request.url).searchParams);
      if (!body && doc.method === 'POST') checkBody(NO_MEMBERS, await readOptionalObject(request));
      const checked = body ? checkBody(body, await readJsonObject(request)) : (null as Body);
      return handler({ ...call, query: values, body: checked });
    },
  };
}
