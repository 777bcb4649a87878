import type { z } from 'zod';
import { PROBLEMS, type ProblemCode, problemSchema } from '../../contracts/problems.js';
import { requestSchema } from '../../contracts/request.js';
import {
  ANSWER_HEADERS,
  HEADER_PARAMETERS,
  headerParameters,
  problemHeaders,
  successHeaders,
} from './openapi-headers.js';
import { createSchemaBook, type JsonSchema, type SchemaBook } from './openapi-schemas.js';
import { EVENTS, WEBHOOK_HEADERS } from './openapi-webhooks.js';
import type { Parameters } from './parameters.js';
import type { AnswerDoc, Route } from './route.js';

type Json = Readonly<Record<string, unknown>>;

/** Problems that every route may answer (API.md 4). */
const COMMON: readonly ProblemCode[] = [
  'validation',
  'authentication',
  'not_found',
  'method_not_allowed',
  'rate_limited',
  'internal',
  'temporarily_unavailable',
];
const WITH_BODY: readonly ProblemCode[] = ['malformed_body', 'payload_too_large', 'unsupported_media_type'];
const WITH_KEY: readonly ProblemCode[] = ['idempotency_key_missing', 'idempotency_key_reused'];

/** The OpenAPI 3.1 document of these routes and of the events that are sent; `openapi.json` is its committed copy. */
export function buildOpenApi(routes: readonly Route[]): Json {
  const schemas = createSchemaBook();
  const paths: Record<string, Record<string, Json>> = {};
  for (const route of routes) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: toOperation(route, schemas) };
  }
  const webhooks = Object.fromEntries(EVENTS.map((event) => [event.type, { post: toWebhook(event, schemas) }]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sverka',
      version: '1.0.0',
      summary: "Moves merchants' money through outside parties, exactly once.",
      description: 'Every error is `application/problem+json`; each code has a page at `/problems/{code}`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    webhooks,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key `sk_live_…` or `sk_test_…`. It belongs to one merchant and one book.',
        },
      },
      parameters: HEADER_PARAMETERS,
      headers: ANSWER_HEADERS,
      schemas: schemas.components(),
    },
  };
}

function toOperation(route: Route, schemas: SchemaBook): Json {
  const names = [...route.path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]);
  const parameters = [
    ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...headerParameters(route),
    ...toQueryParameters(route.query, schemas),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    parameters,
    ...(route.body && { requestBody: { required: true, content: jsonContent(schemas.show(route.body)) } }),
    responses: { ...successes(route, schemas), ...failures(route, schemas) },
  };
}

function toQueryParameters(parameters: Parameters, schemas: SchemaBook): Json[] {
  return Object.entries(parameters).map(([name, { schema, shown, repeatable, description }]) => {
    const one = schemas.show(shown ?? schema);
    return {
      name,
      in: 'query',
      required: false,
      description,
      schema: repeatable ? { type: 'array', items: one } : one,
    };
  });
}

function successes(route: Route, schemas: SchemaBook): Record<string, Json> {
  const answers = Object.entries(route.answers).map(([status, doc]) => {
    return [status, toAnswer(route, doc, schemas)] as const;
  });
  return { ...Object.fromEntries(answers), ...(route.needsKey && { 202: toAccepted(route, schemas) }) };
}

function toAnswer(route: Route, { description, schema, location, retryAfter }: AnswerDoc, schemas: SchemaBook): Json {
  const keyed = route.needsKey === true;
  const headers = successHeaders({ keyed, location: location === true, retryAfter: retryAfter === true });
  return { description, headers, content: jsonContent(schemas.show(schema)) };
}

// A create may be answered by its request alone, when its outcome could not be learned in time.
function toAccepted(route: Route, schemas: SchemaBook): Json {
  const accepted = route.answers[202];
  const perhaps = 'Or perhaps accepted: `Location` names the request, which answers even before anything is known.';
  const request = schemas.show(requestSchema);
  const headers = successHeaders({ keyed: true, location: true, retryAfter: true });
  if (!accepted) return { description: perhaps, headers, content: jsonContent(request) };
  const either = { oneOf: [schemas.show(accepted.schema), request] };
  return { description: `${accepted.description} ${perhaps}`, headers, content: jsonContent(either) };
}

function failures(route: Route, schemas: SchemaBook): Record<string, Json> {
  const codes = new Set<ProblemCode>([
    ...COMMON,
    ...('cursor' in route.query ? (['invalid_cursor'] as const) : []),
    ...(route.writes ? (['permission'] as const) : []),
    ...(route.body || route.method === 'POST' ? WITH_BODY : []),
    ...(route.needsKey ? WITH_KEY : []),
    ...(route.problems ?? []),
  ]);
  const found: Record<string, Json> = {};
  for (const status of new Set([...codes].map((code) => PROBLEMS[code].status))) {
    const named = [...codes].filter((code) => PROBLEMS[code].status === status);
    const headers = problemHeaders(named, { keyed: route.needsKey === true, status });
    const content = { 'application/problem+json': { schema: schemas.show(problemSchema) } };
    found[status] = { description: named.map((code) => `\`${code}\``).join(', '), headers, content };
  }
  return found;
}

function toWebhook(event: { type: string; summary: string; schema: z.ZodType }, schemas: SchemaBook): Json {
  return {
    operationId: event.type.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    summary: event.summary,
    tags: ['Webhooks'],
    security: [],
    parameters: WEBHOOK_HEADERS.map(({ name, description }) => {
      return { name, in: 'header', required: true, description, schema: { type: 'string' } };
    }),
    requestBody: { required: true, content: jsonContent(schemas.show(event.schema)) },
    responses: { '2XX': { description: 'Taken.' } },
  };
}

function jsonContent(schema: JsonSchema): Json {
  return { 'application/json': { schema } };
}
