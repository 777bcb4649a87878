import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { notFound } from './page-error.js';

const STYLE = readFileSync(fileURLToPath(new URL('../assets/console.css', import.meta.url)));
const STYLE_NAME = `console.${createHash('sha256').update(STYLE).digest('hex').slice(0, 16)}.css`;

/** Where the stylesheet lies below that home; its name changes with its content, so it is kept for ever. */
export function stylePath(home: string): string {
  return `${home}/assets/${STYLE_NAME}`;
}

/** The file of that name. */
export function assetResponse(name: string): Response {
  if (name !== STYLE_NAME) notFound();
  const headers = { 'content-type': 'text/css; charset=utf-8', 'cache-control': 'public, max-age=31536000, immutable' };
  return new Response(new Uint8Array(STYLE), { headers });
}
