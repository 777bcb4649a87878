import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notFound } from './page-error.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** By the name under which they are served: it changes with the content, so a browser keeps them for ever. */
const FILES = new Map(['console.css', 'icon.svg'].map((name) => [name, load(name)]));

/** Where that file lies below the home of an audience. */
export function assetPath(home: string, name: 'console.css' | 'icon.svg'): string {
  return `${home}/assets/${FILES.get(name)?.served ?? name}`;
}

/** The file that is served under that name. */
export function assetResponse(served: string): Response {
  const file = [...FILES.values()].find((each) => each.served === served) ?? notFound();
  return new Response(file.bytes, {
    headers: { 'content-type': file.type, 'cache-control': 'public, max-age=31536000, immutable' },
  });
}

function load(name: string): { served: string; type: string; bytes: Uint8Array<ArrayBuffer> } {
  const bytes = new Uint8Array(readFileSync(fileURLToPath(new URL(`../assets/${name}`, import.meta.url))));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const end = extname(name);
  return { served: `${name.slice(0, -end.length)}.${hash}${end}`, type: TYPES[end] ?? '', bytes };
}
