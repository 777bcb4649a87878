// Writes the workflow bundle that the worker of the image runs: `node --import tsx deploy/bundle-workflows.mjs FILE`.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureWorkflowBundle } from '../src/local/workflow-bundle.ts';

const [file] = process.argv.slice(2);
if (!file) throw new Error('Name the file that the bundle shall be written to.');
const folder = mkdtempSync(join(tmpdir(), 'sverka-bundle-'));
try {
  copyFileSync(await ensureWorkflowBundle({ repository: fileURLToPath(new URL('..', import.meta.url)), folder }), file);
} finally {
  rmSync(folder, { recursive: true });
}
