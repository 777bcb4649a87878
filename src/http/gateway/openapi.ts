import type { z } from 'zod';
import { PROBLEMS, type ProblemCode, problemSchema } from '../../contracts/problems.js';
import { requestSchema } from '../../contracts/request.js';
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

const KEY_PARAMETERS: readonly Json[] = [
  {
    name: 'Idempotency-Key',
    in: 'header',
    required: true,
    description: 'Leads to one thing for ever, by merchant and book: sending the same call again is always safe.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9._:-]{1,128}$' },
  },
  {
    name: 'Prefer',
    in: 'header',
    required: false,
    description: '`wait=N` (0 to 10 seconds, default 4) or `respond-async`.',
    schema: { type: 'string' },
  },
];

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
      schemas: schemas.components(),
    },
  };
}

function toOperation(route: Route, schemas: SchemaBook): Json {
  const names = [...route.path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1]);
  const parameters = [
    ...names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...(route.needsKey ? KEY_PARAMETERS : []),
    ...toQueryParameters(route.query, schemas),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
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
  const answers = Object.entries(route.answers).map(([status, doc]) => [status, toAnswer(doc, schemas)] as const);
  return { ...Object.fromEntries(answers), ...(route.needsKey && { 202: toAccepted(route.answers[202], schemas) }) };
}

function toAnswer({ description, schema, location }: AnswerDoc, schemas: SchemaBook): Json {
  return answer(description, jsonContent(schemas.show(schema)), location === true);
}

// A create may be answered by its request alone, when its outcome could not be learned in time.
function toAccepted(accepted: AnswerDoc | undefined, schemas: SchemaBook): Json {
  const perhaps = 'Or perhaps accepted: `Location` names the request, which answers even before anything is known.';
  const request = schemas.show(requestSchema);
  if (!accepted) return answer(perhaps, jsonContent(request), true);
  const either = { oneOf: [schemas.show(accepted.schema), request] };
  return answer(`${accepted.description} ${perhaps}`, jsonContent(either), true);
}

function failures(route: Route, schemas: SchemaBook): Record<string, Json> {
  const codes = new Set<ProblemCode>([
    ...COMMON,
    ...('cursor' in route.query ? (['invalid_cursor'] as const) : []),
    ...(route.writes ? (['permission'] as const) : []),
    ...(route.body ? WITH_BODY : []),
    ...(route.needsKey ? WITH_KEY : []),
    ...(route.problems ?? []),
  ]);
  const found: Record<string, Json> = {};
  for (const status of new Set([...codes].map((code) => PROBLEMS[code].status))) {
    const named = [...codes].filter((code) => PROBLEMS[code].status === status).map((code) => `\`${code}\``);
    const content = { 'application/problem+json': { schema: schemas.show(problemSchema) } };
    found[status] = { description: named.join(', '), content };
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

function answer(description: string, content: Json, location: boolean): Json {
  const headers = { Location: { description: 'Where it is read.', schema: { type: 'string' } } };
  return { description, ...(location && { headers }), content };
}

function jsonContent(schema: JsonSchema): Json {
  return { 'application/json': { schema } };
}
