import { readFileSync } from 'node:fs';
import { PROBLEMS } from '../../src/contracts/problems.js';
import { buildOpenApi } from '../../src/http/gateway/openapi.js';
import { ROUTES } from '../../src/http/gateway/routes.js';

const document = JSON.parse(JSON.stringify(buildOpenApi(ROUTES)));
const text = JSON.stringify(document);

test('openapi.json is what the gateway serves; after a change run: node --import tsx scripts/openapi.mjs', () => {
  const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
  expect(JSON.parse(committed)).toEqual(document);
});

test('each route stands in the document once, with an operation id of its own', () => {
  const operations = ROUTES.map((route) => document.paths[route.path]?.[route.method.toLowerCase()]);
  expect(operations.map((operation) => operation?.operationId)).toEqual(ROUTES.map((route) => route.operationId));
  expect(new Set(ROUTES.map((route) => route.operationId)).size).toBe(ROUTES.length);
});

test('each reference leads to a component, and each component is referred to', () => {
  const names = Object.keys(document.components.schemas);
  const referred = new Set([...text.matchAll(/"#\/components\/schemas\/([A-Za-z]+)"/g)].map((match) => match[1]));
  expect(referred).toEqual(new Set(names));
});

test('each header and each parameter among the components is referred to, and each reference leads to one', () => {
  for (const [kind, names] of [
    ['headers', ['Request-Id', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'Location', 'Idempotent-Replayed']],
    ['headers', ['Preference-Applied', 'WWW-Authenticate', 'Allow']],
    ['parameters', ['Request-Id', 'traceparent', 'Prefer', 'Idempotency-Key']],
  ] as const) {
    expect(Object.keys(document.components[kind])).toEqual(expect.arrayContaining([...names]));
    const referred = [...text.matchAll(new RegExp(`"#/components/${kind}/([A-Za-z-]+)"`, 'g'))].map(([, name]) => name);
    expect(new Set(referred)).toEqual(new Set(Object.keys(document.components[kind])));
  }
});

test('a problem names its code out of all that there are', () => {
  expect(document.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(PROBLEMS));
});

test('nothing that a route refuses is documented under a status that its code does not have', () => {
  for (const route of ROUTES) {
    const { responses } = document.paths[route.path][route.method.toLowerCase()];
    for (const [status, { description, content }] of Object.entries<{ description: string; content: object }>(
      responses,
    )) {
      if (!('application/problem+json' in content)) continue;
      for (const code of description.replaceAll('`', '').split(', ')) {
        expect(PROBLEMS).toHaveProperty(code);
        expect(String(PROBLEMS[code as keyof typeof PROBLEMS].status)).toBe(status);
      }
    }
  }
});

test('the events of deposits, cards, loads and receivables are webhooks, and no withdrawal stands anywhere', () => {
  expect(Object.keys(document.webhooks)).toEqual([
    'deposit.confirming',
    'deposit.credited',
    'deposit.final',
    'deposit.orphaned',
    'deposit.rejected',
    'deposit.dropped',
    'card.active',
    'card.failed',
    'card.frozen',
    'card.unfrozen',
    'card.closed',
    'load.completed',
    'load.failed',
    'receivable.opened',
    'receivable.settled',
  ]);
  expect(Object.keys(document.paths).join(' ')).not.toMatch(/withdraw|payout/i);
});
