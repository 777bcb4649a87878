import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Context, Hono } from 'hono';
import { html } from 'hono/html';
import { isProblemCode, PROBLEMS, type ProblemCode } from '../../contracts/problems.js';
import { Problem } from '../problem.js';
import type { GatewayEnv } from './frame.js';

const SWAGGER = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const OWN = fileURLToPath(new URL('../assets/', import.meta.url));
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
/** Files of the pages, from disk and not from a network: the pages work where nothing else can be reached. */
const ASSETS: Readonly<Record<string, { readonly folder: string; readonly type: string }>> = {
  'swagger-ui.css': { folder: SWAGGER, type: CSS },
  'swagger-ui-bundle.js': { folder: SWAGGER, type: SCRIPT },
  'console.css': { folder: OWN, type: CSS },
};

// Styles that the page's script sets on elements are inline; scripts never are.
const PLAIN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PROBLEM_POLICY = `${PLAIN_POLICY}; style-src 'self'`;
const DOCS_POLICY =
  `${PLAIN_POLICY}; script-src 'self'; style-src 'self' 'unsafe-inline'; ` + "img-src 'self' data:; connect-src 'self'";

/** The problems' meanings mark what stands in code with them. */
const BACKTICK = '`';
const START_SCRIPT = "SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', validatorUrl: null });\n";

/** What needs no key: `/openapi.json`, its page `/docs`, and one page per error code. */
export function addPages(app: Hono<GatewayEnv>, openApi: object): void {
  const document = JSON.stringify(openApi, null, 2);
  const pages: Readonly<Record<string, (c: Context<GatewayEnv>) => Response | Promise<Response>>> = {
    '/openapi.json': () => new Response(document, { headers: { 'content-type': 'application/json' } }),
    '/docs': () => page(DOCS_PAGE, DOCS_POLICY),
    '/docs/start.js': () => new Response(START_SCRIPT, { headers: { 'content-type': SCRIPT } }),
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
  const file = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (file === undefined) throw new Problem('not_found');
  return new Response(await readFile(join(file.folder, name)), { headers: { 'content-type': file.type } });
}

async function problemPage(code: string): Promise<Response> {
  if (!isProblemCode(code)) throw new Problem('not_found');
  return page(await problemDocument(code), PROBLEM_POLICY);
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
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Sverka</title>
<link rel="stylesheet" href="/docs/console.css">
</head>
<body class="auth">
<main id="main">
<a class="brand" href="/docs">
<svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
<rect class="mark-box" width="24" height="24" rx="6"/><path class="mark-bar" d="M6 8h9v2.5H6zM9 13.5h9V16H9z"/>
</svg>Sverka</a>
<div class="panel">
<h1>${title}</h1>
<p class="muted"><code>${code}</code> · HTTP status ${status}</p>
<p>${meaning.split(BACKTICK).map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : part))}</p>
<p>${advice}</p>
</div>
<p class="foot"><a href="/docs">All routes and their answers</a></p>
</main>
</body>
</html>
`;
}
