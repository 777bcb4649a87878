import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workflowBundle } from '../../src/temporal-workers.js';
import { testTemporal } from '../support/test-temporal.js';
import { bundleMutant } from '../support/worker-mutants.js';

/** Every workflow in the cache costs memory by what the bundle holds; nearly all of this is the SDK. */
const BUDGET_KB = 1_800;

const readBundle = () => readFileSync(testTemporal().bundlePath, 'utf8');
/** Packages whose modules stand in a bundle, by webpack's own comments. */
const packagesIn = (code: string) =>
  new Set(Array.from(code.matchAll(/node_modules\/((?:@[^/"]+\/)?[^/"]+)\//g), ([, name]) => name));

test('the workflow bundle holds the SDK and nothing heavy or impure, within its budget [CASES L12]', () => {
  const code = readBundle();
  const kilobytes = Math.round(Buffer.byteLength(code) / 1_024);
  const packages = [...packagesIn(code)].join(', ');
  process.stdout.write(`workflow bundle: ${kilobytes} KB of ${BUDGET_KB}; ${packages}\n`);
  expect(kilobytes).toBeLessThanOrEqual(BUDGET_KB);
  for (const name of [
    'zod',
    'pg',
    'undici',
    'hono',
    'pino',
    'decimal.js',
    '@temporalio/activity',
    '@temporalio/client',
  ]) {
    expect(packagesIn(code)).not.toContain(name);
  }
  expect(packagesIn(code)).toContain('@temporalio/workflow');
});

test('a bundle with zod in it would be found out', async () => {
  const mutant = await bundleMutant([
    {
      file: 'deposit.ts',
      from: "import { createShow } from './show.js';",
      to: "import { createShow } from './show.js';\nimport { z } from 'zod';\nexport const seen = z.object({});",
    },
  ]);
  expect(packagesIn(mutant.code)).toContain('zod');
  expect(Buffer.byteLength(mutant.code) / 1_024).toBeGreaterThan(BUDGET_KB);
  mutant.remove();
});

test('a bundle that lacks a workflow is refused at the start of a worker, with its name [CASES L19]', async () => {
  const mutant = await bundleMutant([
    { file: 'index.ts', from: "export { inboxSweep } from './inbox-sweep.js';\n", to: '' },
  ]);
  expect(() => workflowBundle(mutant.path, false)).toThrow(/no workflow inboxSweep: bundle again/);
  const codePath = testTemporal().bundlePath;
  expect(workflowBundle(codePath, true)).toEqual({ codePath });
  mutant.remove();
});

test('a bundle without the converter of failures is refused: their messages would stand in clear', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-bundle-'));
  const path = join(folder, 'bundle.js');
  writeFileSync(path, readBundle().replaceAll('sverkaFailuresInClear', 'somethingElse'));
  for (const encrypted of [true, false])
    expect(() => workflowBundle(path, encrypted)).toThrow(/no failure converter: bundle again/);
  rmSync(folder, { recursive: true });
});

test('a bundle of other sources is refused at the start of a worker; without the sources it is taken', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-stale-'));
  const file = join(folder, 'workflows.js');
  const code = readBundle();
  const stamp = /^\/\/ sverka-workflows ([0-9a-f]{16})$/m.exec(code)?.[1] ?? '';
  writeFileSync(file, code.replace(stamp, '0'.repeat(16)));
  expect(() => workflowBundle(file, true)).toThrow(/other sources than those here: bundle again, or unset/);
  expect(workflowBundle(file, true, folder)).toEqual({ codePath: file });
  writeFileSync(file, code.replace(`// sverka-workflows ${stamp}`, ''));
  expect(workflowBundle(file, true)).toEqual({ codePath: file });
  rmSync(folder, { recursive: true });
});
