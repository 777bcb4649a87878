import { PROBLEMS, type ProblemCode } from '../../contracts/problems.js';

type Json = Readonly<Record<string, unknown>>;

const text = (description: string, pattern?: string): Json => ({
  description,
  schema: { type: 'string', ...(pattern !== undefined && { pattern }) },
});

/** Headers of calls, by their name in `components/parameters`. */
export const HEADER_PARAMETERS = {
  'Request-Id': header(
    'Request-Id',
    text('Echoed; made when absent, outside the grammar, or holding a card number.', '^[A-Za-z0-9._-]{1,64}$'),
  ),
  traceparent: header(
    'traceparent',
    text('W3C Trace Context; its trace id goes into movement, event and log, unless it holds a card number.'),
  ),
  'Idempotency-Key': header(
    'Idempotency-Key',
    text(
      'Leads to one thing for ever, by merchant and book: sending the same call again is always safe.',
      '^[A-Za-z0-9._:-]{1,128}$',
    ),
  ),
  Prefer: header('Prefer', text('`wait=N` (0 to 10 seconds, default 4) or `respond-async`.')),
} as const;

/** Headers of answers, by their name in `components/headers`. */
export const ANSWER_HEADERS = {
  'Request-Id': text('The id of this call, as given or made.'),
  RateLimit: text('`"api";r=412;t=17`: calls that are left (`r`), seconds until they are whole again (`t`).'),
  'RateLimit-Policy': text('`"api";q=600;w=60`: calls (`q`) in a window of seconds (`w`).'),
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 0 } },
  Location: text('Where it is read.'),
  'Idempotent-Replayed': {
    description: 'There when another call with this key came first.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Preference-Applied': text('What was applied of `Prefer`.'),
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', enum: ['Bearer'] } },
  Allow: text('The methods that this path has.'),
} as const;
type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** What a route's call may carry beside its parameters. */
export function headerParameters({ needsKey = false }: { needsKey?: boolean | undefined }): Json[] {
  const names = ['Request-Id', 'traceparent', ...(needsKey ? ['Idempotency-Key', 'Prefer'] : [])];
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** The headers of a success. `keyed`: of a route that needs an Idempotency-Key. */
export function successHeaders(of: { keyed: boolean; location: boolean; retryAfter: boolean }): Json {
  return references([
    ...(of.location ? (['Location'] as const) : []),
    ...(of.retryAfter ? (['Retry-After'] as const) : []),
    ...(of.keyed ? (['Idempotent-Replayed', 'Preference-Applied'] as const) : []),
  ]);
}

/** The headers of the problems that share a status. Only what a key keeps (402, 409) is replayed. */
export function problemHeaders(codes: readonly ProblemCode[], of: { keyed: boolean; status: number }): Json {
  const { keyed, status } = of;
  return references(
    [
      ...(codes.some((code) => PROBLEMS[code].retryable) ? (['Retry-After'] as const) : []),
      ...(status === 401 ? (['WWW-Authenticate'] as const) : []),
      ...(status === 405 ? (['Allow'] as const) : []),
      ...(keyed && (status === 402 || status === 409) ? (['Idempotent-Replayed', 'Location'] as const) : []),
    ],
    status !== 401,
  );
}

/** A caller whose key is not known has no budget that could be told. */
function references(names: readonly AnswerHeader[], known = true): Json {
  const always = known ? (['Request-Id', 'RateLimit', 'RateLimit-Policy'] as const) : (['Request-Id'] as const);
  return Object.fromEntries([...always, ...names].map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function header(name: string, shown: Json): Json {
  return { name, in: 'header', required: name === 'Idempotency-Key', ...shown };
}
