import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { isProblemCode, PROBLEMS, type ProblemCode } from '../../contracts/problems.js';
import { Problem } from '../problem.js';
import type { GatewayEnv } from './frame.js';

/** Files of the page, from disk and not from a network: the page works where nothing else can be reached. */
const ASSETS: Readonly<Record<string, string>> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};
const ASSET_FOLDER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

// Styles that the page's script sets on elements are inline; scripts never are.
const PLAIN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DOCS_POLICY =
  `${PLAIN_POLICY}; script-src 'self'; style-src 'self' 'unsafe-inline'; ` + "img-src 'self' data:; connect-src 'self'";

const START_SCRIPT = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', validatorUrl: null });\n";

/** What needs no key: `/openapi.json`, its page `/docs`, and one page per error code. */
export function addPages(app: Hono<GatewayEnv>, openApi: object): void {
  const document = JSON.stringify(openApi, null, 2);
  const pages: Readonly<Record<string, (c: Context<GatewayEnv>) => Response | Promise<Response>>> = {
    '/openapi.json': () => new Response(document, { headers: { 'content-type': 'application/json' } }),
    '/docs': () => page(DOCS_PAGE, DOCS_POLICY),
    '/docs/start.js': () =>
      new Response(START_SCRIPT, { headers: { 'content-type': ASSETS['swagger-ui-bundle.js'] ?? '' } }),
    '/docs/:asset': (c) => asset(c.req.param('asset') ?? ''),
    '/problems/:code': (c) => problemPage(c.req.param('code') ?? ''),
  };
  for (const [path, answer] of Object.entries(pages)) {
    app.get(path, (c) => {
      c.set('route', path);
      return answer(c);
    });
    app.all(path, (c) => {
      c.set('route', path);
      throw new Problem('method_not_allowed', { headers: { allow: 'GET, HEAD' } });
    });
  }
}

async function asset(name: string): Promise<Response> {
  const type = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (type === undefined) throw new Problem('not_found');
  return new Response(await readFile(join(ASSET_FOLDER, name)), { headers: { 'content-type': type } });
}

async function problemPage(code: string): Promise<Response> {
  if (!isProblemCode(code)) throw new Problem('not_found');
  return page(await problemDocument(code), PLAIN_POLICY);
}

function page(text: string, policy: string): Response {
  return new Response(text, {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy },
  });
}

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Sverka API</title><link rel="stylesheet" href="/docs/swagger-ui.css"></head>
<body>
<div id="docs"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

function problemDocument(code: ProblemCode) {
  const { status, title, meaning, retryable } = PROBLEMS[code];
  const advice = retryable
    ? 'The same call, with the same key, may succeed later. Obey Retry-After.'
    : 'Sending the same call again gives the same answer.';
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${code}</title></head>
<body>
<h1>${title}</h1>
<p><code>${code}</code>, HTTP status ${status}</p>
<p>${meaning}</p>
<p>${advice}</p>
</body>
</html>
`;
}
