import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['src/workflows', 'src/domain', 'src/contracts'];
/** How many bundles of other sources are kept, for those who go back and forth between branches. */
const KEEP = 4;

/**
 * Path of the bundle of `src/workflows/index.ts`, for `workflowBundle: { codePath }`. Made in one to two seconds when
 * the hash of the sources and of the lock is new, else found in `folder`. Throws what the bundler says.
 */
export async function ensureWorkflowBundle(input: { repository: string; folder: string }): Promise<string> {
  const codePath = join(input.folder, `workflows-${sourceHash(input.repository)}.js`);
  if (existsSync(codePath)) return codePath;
  // Imported only here: it loads the bundler and the native core.
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(input.repository, 'src/workflows/index.ts'),
    failureConverterPath: join(input.repository, 'src/workflows/failure-converter.cjs'),
    logger: new DefaultLogger('WARN'),
  });
  mkdirSync(input.folder, { recursive: true });
  const partial = `${codePath}.${process.pid}`;
  writeFileSync(partial, stamped(code, sourceHash(input.repository)));
  renameSync(partial, codePath);
  removeOld(input.folder, codePath);
  return codePath;
}

/**
 * True for a bundle that says which sources it is of, where they are now others. Its runs would go on with old code
 * beside new activities. One without a stamp, or without the sources beside it, is taken as it is.
 */
export function isStaleBundle(code: string, repository: string): boolean {
  const stamp = STAMPED.exec(code)?.[1];
  return stamp !== undefined && existsSync(join(repository, 'src/workflows')) && stamp !== sourceHash(repository);
}

const STAMPED = /^\/\/ sverka-workflows ([0-9a-f]{16})$/m;

/** In front of the source map, which the worker takes from the end. */
function stamped(code: string, hash: string): string {
  const at = code.lastIndexOf('//# sourceMappingURL=');
  const end = at < 0 ? code.length : at;
  return `${code.slice(0, end)}\n// sverka-workflows ${hash}\n${code.slice(end)}`;
}

function sourceHash(repository: string): string {
  const hash = createHash('sha256');
  const files = SOURCES.flatMap((folder) => filesBelow(repository, folder)).sort();
  // The lock and this file: with what, and how, they are bundled.
  for (const file of [...files, 'package-lock.json', 'src/local/workflow-bundle.ts']) {
    const content = readFileSync(join(repository, file));
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

function filesBelow(repository: string, folder: string): string[] {
  const entries = readdirSync(join(repository, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(repository, path) : [path];
  });
}

/** The newest of the others stay, as another process may be about to read one of them. */
function removeOld(folder: string, current: string): void {
  const others = readdirSync(folder)
    .map((name) => join(folder, name))
    .filter((path) => path !== current && path.endsWith('.js'))
    .map((path) => ({ path, made: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.made - a.made);
  for (const { path } of others.slice(KEEP)) rmSync(path, { force: true });
}
