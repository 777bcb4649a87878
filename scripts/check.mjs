// `npm run check`: everything that is held without running the product. `npm run check -- lint layers` runs some of it.
// Each step says what to do when it fails; the last line is `N passed, N failed`, and any failure is the exit code.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => join(root, 'node_modules/.bin', name);

/** Each answers what is wrong as text, and '' when nothing is. */
const STEPS = {
  format: {
    run: () => tool('biome', 'check', '.'),
    fix: '`npm run format`, then look at what it changed.',
  },
  types: {
    run: () => tool('tsc', '--noEmit'),
    fix: 'correct the type at its source; `any` and ignore comments are refused by test/unit/tidy.test.ts.',
  },
  lint: {
    run: () => tool('oxlint', '--type-aware'),
    fix: 'change the code, not .oxlintrc.json; an import that is refused belongs in another layer (CONTRIBUTING.md).',
  },
  layers: {
    run: cruiseBuild,
    fix: 'move the code to the layer that may know both, or hand the thing in as an argument (CONTRIBUTING.md).',
  },
  unused: {
    run: () => tool('knip', '--no-progress'),
    fix: 'remove the file, export or dependency; what only tests use belongs in test/support.',
  },
  schema: {
    run: () => spawned(process.execPath, ['scripts/dump-schema.mjs', '--check']),
    fix: '`node scripts/dump-schema.mjs`, and read the difference: is it what your migration was meant to do?',
  },
  versions: {
    run: async () => versionProblems().join('\n'),
    fix: 'pin each package exactly, all of @temporalio to one version, and run `npm install`.',
  },
  compose: {
    run: composeProblems,
    fix: 'docker-compose.yml says more, or other, than test/support/compose-file.ts knows; mend the one that is wrong.',
  },
};
/** Two cores are what a small machine has. */
const AT_ONCE = 2;

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in STEPS));
if (unknown.length > 0) {
  process.stderr.write(`No such check: ${unknown.join(', ')}. There are: ${Object.keys(STEPS).join(', ')}.\n`);
  process.exit(2);
}
const queue = Object.keys(STEPS).filter((name) => wanted.length === 0 || wanted.includes(name));
const counts = { passed: 0, failed: 0 };
await Promise.all(Array.from({ length: AT_ONCE }, takeTurns));
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed > 0 ? 1 : 0;

async function takeTurns() {
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const began = performance.now();
    const { run, fix } = STEPS[name];
    const wrong = await run().catch((error) => String(error.stack));
    const seconds = ((performance.now() - began) / 1_000).toFixed(1);
    counts[wrong === '' ? 'passed' : 'failed'] += 1;
    process.stdout.write(`${wrong === '' ? 'ok    ' : 'FAILED'}  ${name.padEnd(9)} ${seconds} s\n`);
    if (wrong !== '') process.stdout.write(`${wrong.trimEnd().replace(/^/gm, '    ')}\n    What to do: ${fix}\n`);
  }
}

function tool(name, ...args) {
  return spawned(bin(name), args);
}

/** '' when it exits with 0, else all it wrote. */
function spawned(command, args, cwd = root) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let written = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (written += text));
    child.on('error', (error) => resolve(`${command}: ${error.message}`));
    child.on('close', (code) => resolve(code === 0 ? '' : written || `${command} ended with ${code}`));
  });
}

/** In a folder of its own: what an earlier build left behind is not this one. */
async function cruiseBuild() {
  const folder = mkdtempSync(join(tmpdir(), 'sverka-build-'));
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    const emitted = await tool('tsc', '-p', 'tsconfig.build.json', '--outDir', join(folder, 'dist'));
    if (emitted !== '') return emitted;
    return await spawned(bin('depcruise'), ['--config', join(root, '.dependency-cruiser.cjs'), 'dist'], folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function versionProblems() {
  const { dependencies, devDependencies, optionalDependencies } = read('package.json');
  const named = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  const locked = Object.entries(read('package-lock.json').packages);
  const temporal = [
    ...named.filter(([name]) => name.startsWith('@temporalio/')),
    ...locked
      .filter(([path]) => path.includes('node_modules/@temporalio/'))
      .map(([path, { version }]) => [path, version]),
  ];
  const wantedVersion = dependencies['@temporalio/workflow'];
  // Two copies of protobufjs make a recorded history unreadable: `type must be a Type`.
  const copies = locked.filter(([path]) => /node_modules\/@temporalio\/.*node_modules\/protobufjs$/.test(path));
  return [
    ...named.filter(([, version]) => !/^[0-9]/.test(version)).map(([name, version]) => `${name} ${version}: not exact`),
    ...temporal
      .filter(([, version]) => version !== wantedVersion)
      .map(([name, version]) => `${name} ${version}: the others are ${wantedVersion}`),
    ...copies.map(([path]) => `${path}: a second copy of protobufjs`),
  ];
}

function read(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

async function composeProblems() {
  const { composeFileProblems } = await tsImport('../test/support/compose-file.ts', import.meta.url);
  return composeFileProblems(root).join('\n');
}
