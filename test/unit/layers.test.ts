import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

/**
 * The layer rules are held by two tools, with the same configuration as `npm run check`: dependency-cruiser on the
 * emitted build, oxlint on the source for imports of types. test/fixtures/layers holds a small clean tree with one file
 * per place, and in it one planted breach of each rule, in a file called `…breach…`.
 */
const FIXTURE = join(REPOSITORY_ROOT, 'test/fixtures/layers/src');
const BIN = join(REPOSITORY_ROOT, 'node_modules/.bin');

const LINT = ['--type-aware', '--allow', 'import/no-unassigned-import'];

/** What each planted file breaches in the emitted build: `<importer> → <imported>`, with the rules that refuse it. */
const REFUSED_IN_BUILD: Readonly<Record<string, readonly string[]>> = {
  'activities/breach-client.js → client/deposits.js': ['activities'],
  'activities/breach-package.js → pg': ['activities'],
  'cli/breach-provider.js → providers/custody/client.js': ['cli'],
  'client/breach-database.js → db/pool.js': ['client'],
  'client/breach-workflow.js → workflows/deposit.js': ['client'],
  'config-breach.js → domain/money.js': ['config'],
  'contracts/breach-database.js → db/pool.js': ['contracts'],
  'contracts/breach-node.js → crypto': ['contracts'],
  'db/breach-activity.js → activities/deposits.js': ['db'],
  'db/breach-provider.js → providers/http-call.js': ['db'],
  'demo/breach-contract.js → contracts/ids.js': ['demo'],
  'domain/breach-contract.js → contracts/ids.js': ['domain'],
  'domain/breach-cycle-back.js → domain/breach-cycle.js': ['no-cycle'],
  'domain/breach-node.js → crypto': ['domain'],
  'domain/breach-package.js → pino': ['domain'],
  'domain/breach-reached.js → db/pool.js': ['domain'],
  'http/breach-activity.js → activities/deposits.js': ['http'],
  'http/breach-client-of-provider.js → providers/custody/client.js': ['http'],
  'http/breach-domain.js → domain/money.js': ['http'],
  'http/breach-keys.js → providers/keys/keyring.js': ['http'],
  'http/breach-entry-point.js → worker.js': ['http', 'nothing-imports-an-entry-point'],
  'local/breach-database.js → db/pool.js': ['local'],
  'local/seed-breach.js → telemetry/log.js': ['local-seed'],
  'providers/custody/breach-database.js → db/pool.js': ['providers'],
  'providers/custody/breach-driver.js → pg': ['providers-no-database'],
  'providers/custody/breach-simulator.js → providers/custody/simulator.js': ['simulators-stand-apart'],
  'providers/custody/breach-stranger.js → providers/issuer/client.js': ['providers-are-strangers'],
  'providers/custody/simulator-breach.js → providers/custody/schema.js': ['simulators-know-money-alone'],
  'providers/simulator-kit/breach-contract.js → contracts/ids.js': ['simulators-know-money-alone'],
  'telemetry/breach-database.js → db/pool.js': ['telemetry'],
  'workflows/breach-activity.js → activities/deposits.js': ['workflows', 'workflows-reach'],
  'workflows/breach-contract.js → contracts/deposit.js': ['workflows'],
  'workflows/breach-node.js → crypto': ['workflows'],
  'workflows/breach-package.js → zod': ['workflows', 'workflows-reach'],
  // Through a file of the domain, which is refused for itself above.
  'workflows/breach-reach.js → db/pool.js': ['workflows-reach'],
};

/** What each planted file breaches in the source: by type, or by a promise that nobody waits for. */
const REFUSED_IN_SOURCE: Readonly<Record<string, string>> = {
  'src/client/breach-type.ts': 'eslint(no-restricted-imports)',
  'src/contracts/breach-type.ts': 'eslint(no-restricted-imports)',
  'src/db/breach-type.ts': 'eslint(no-restricted-imports)',
  'src/demo/breach-type.ts': 'eslint(no-restricted-imports)',
  'src/domain/breach-cycle-back.ts': 'import(no-cycle)',
  'src/domain/breach-type.ts': 'eslint(no-restricted-imports)',
  'src/providers/custody/breach-type.ts': 'eslint(no-restricted-imports)',
  'src/providers/custody/simulator-breach-type.ts': 'eslint(no-restricted-imports)',
  'src/workflows/breach-activity.ts': 'eslint(no-restricted-imports)',
  'src/workflows/breach-node.ts': 'eslint(no-restricted-imports)',
  'src/workflows/breach-package.ts': 'eslint(no-restricted-imports)',
  'src/workflows/breach-promise.ts': 'typescript(no-floating-promises)',
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-layers-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

test('a tree that keeps the layers passes, in the build and in the source', () => {
  const clean = plant('clean', { breaches: false });
  expect(cruise(clean)).toEqual({});
  expect(lint(clean)).toEqual({});
});

describe('in a tree with planted breaches', () => {
  let built: Record<string, string[]>;
  let linted: Record<string, string[]>;
  beforeAll(() => {
    const planted = plant('planted', { breaches: true });
    built = cruise(planted);
    linted = lint(planted);
  });

  test.each(Object.entries(REFUSED_IN_BUILD))('the build refuses %s', (edge, rules) => {
    expect(built[edge]).toEqual(rules);
  });

  test.each(Object.entries(REFUSED_IN_SOURCE))('the lint of the source refuses %s', (file, code) => {
    expect(linted[file]).toContain(code);
  });

  test('nothing is refused but what was planted', () => {
    const reach = (edge: string) => built[edge]?.every((rule) => rule === 'workflows-reach');
    const unplanted = Object.keys(built).filter((edge) => !(edge in REFUSED_IN_BUILD) && !reach(edge));
    expect(unplanted).toEqual([]);
    expect(Object.keys(linted).filter((file) => !/breach/.test(file))).toEqual([]);
  });

  test('each rule of the configuration has a breach', () => {
    const { forbidden } = createRequire(import.meta.url)(join(REPOSITORY_ROOT, '.dependency-cruiser.cjs')) as {
      forbidden: { name: string }[];
    };
    const planted = new Set(Object.values(REFUSED_IN_BUILD).flat());
    expect(forbidden.map(({ name }) => name).filter((name) => !planted.has(name))).toEqual([]);
  });
});

/** A copy of the fixture, set up as the repository is. */
function plant(name: string, { breaches }: { breaches: boolean }): string {
  const at = join(folder, name);
  const isWanted = (path: string) => breaches || !/(^|-)breach/.test(basename(path));
  cpSync(FIXTURE, join(at, 'src'), { recursive: true, filter: isWanted });
  for (const file of [
    'tsconfig.json',
    'tsconfig.build.json',
    '.dependency-cruiser.cjs',
    '.oxlintrc.json',
    'package.json',
  ]) {
    copyFileSync(join(REPOSITORY_ROOT, file), join(at, file));
  }
  symlinkSync(join(REPOSITORY_ROOT, 'node_modules'), join(at, 'node_modules'));
  return at;
}

/** Compiles, and answers what dependency-cruiser refuses. */
function cruise(at: string): Record<string, string[]> {
  execFileSync(join(BIN, 'tsc'), ['-p', 'tsconfig.build.json'], { cwd: at, encoding: 'utf8' });
  const args = ['--config', '.dependency-cruiser.cjs', '--output-type', 'json', 'dist'];
  const { stdout } = spawnSync(join(BIN, 'depcruise'), args, { cwd: at, encoding: 'utf8' });
  const { summary } = JSON.parse(stdout) as {
    summary: { violations: { from: string; to: string; rule: { name: string } }[] };
  };
  const found: Record<string, string[]> = {};
  for (const { from, to, rule } of summary.violations) {
    const edge = `${short(from)} → ${short(to)}`;
    found[edge] = [...(found[edge] ?? []), rule.name].sort();
  }
  return found;
}

/** `dist/db/pool.js` is `db/pool.js`, a package is its name. */
function short(path: string): string {
  return path.replace(/^dist\//, '').replace(/^.*node_modules\/((@[^/]+\/)?[^/]+)\/.*$/, '$1');
}

/** The codes that oxlint refuses per file; the fixture's files import for nothing, which is no matter here. */
function lint(at: string): Record<string, string[]> {
  const { stdout } = spawnSync(join(BIN, 'oxlint'), [...LINT, '-f', 'json'], { cwd: at, encoding: 'utf8' });
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { filename: string; code: string }[] };
  const found: Record<string, string[]> = {};
  for (const { filename, code } of diagnostics) found[filename] = [...(found[filename] ?? []), code];
  return found;
}
