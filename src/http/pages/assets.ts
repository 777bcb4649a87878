import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { notFound } from './page-error.js';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

const OWN = fileURLToPath(new URL('../assets/', import.meta.url));
/** The bundle that the package makes for browsers lies beside what it exports. */
const WEBAUTHN = join(dirname(createRequire(import.meta.url).resolve('@simplewebauthn/browser')), '../dist/bundle');
const SOURCES = {
  'console.css': join(OWN, 'console.css'),
  'icon.svg': join(OWN, 'icon.svg'),
  'passkey.js': join(OWN, 'passkey.js'),
  'simplewebauthn.js': join(WEBAUTHN, 'index.umd.min.js'),
} as const;
export type AssetName = keyof typeof SOURCES;

/** By the name under which they are served: it changes with the content, so a browser keeps them for ever. */
const FILES = new Map(Object.entries(SOURCES).map(([name, path]) => [name, load(name, path)]));

/** Where that file lies below the home of an audience. */
export function assetPath(home: string, name: AssetName): string {
  return `${home}/assets/${FILES.get(name)?.served ?? name}`;
}

/** The file that is served under that name. */
export function assetResponse(served: string): Response {
  const file = [...FILES.values()].find((each) => each.served === served) ?? notFound();
  return new Response(file.bytes, {
    headers: { 'content-type': file.type, 'cache-control': 'public, max-age=31536000, immutable' },
  });
}

function load(name: string, path: string): { served: string; type: string; bytes: Uint8Array<ArrayBuffer> } {
  const bytes = new Uint8Array(readFileSync(path));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const end = extname(name);
  return { served: `${name.slice(0, -end.length)}.${hash}${end}`, type: TYPES[end] ?? '', bytes };
}
