import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { REPOSITORY } from '../../src/local/paths.js';

const LOCK = {
  '': { version: '0.0.0' },
  'node_modules/run': { version: '1.0.0' },
  'node_modules/run/node_modules/inner': { version: '2.0.0' },
  'node_modules/tool': { version: '1.0.0', dev: true },
  'node_modules/elsewhere': { version: '1.0.0', optional: true },
} as const;
type Packages = Record<string, { version: string; dev?: boolean; optional?: boolean }>;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-bootstrap-'));
  cpSync(join(REPOSITORY, 'scripts/bootstrap.mjs'), join(folder, 'scripts/bootstrap.mjs'));
  write('package-lock.json', JSON.stringify({ packages: LOCK }));
  // Stands where npm stands, and writes down what it was asked.
  write('npm.cjs', `require('node:fs').writeFileSync('asked', process.argv.slice(2).join(' '));`);
});

afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function installed(packages: Packages): void {
  write('node_modules/.package-lock.json', JSON.stringify({ packages }));
  for (const path of Object.keys(packages)) write(join(path, 'package.json'), '{}');
}

/** What npm was asked, or null when it was left alone. */
function bootstrap(...args: string[]): string | null {
  const result = spawnSync(process.execPath, ['scripts/bootstrap.mjs', ...args], {
    cwd: folder,
    env: { npm_execpath: join(folder, 'npm.cjs') },
    encoding: 'utf8',
  });
  expect([result.status, result.stdout]).toEqual([0, '']);
  return existsSync(join(folder, 'asked')) ? readFileSync(join(folder, 'asked'), 'utf8') : null;
}

const { '': _root, 'node_modules/elsewhere': _elsewhere, 'node_modules/tool': tool, ...run } = LOCK;

test('nothing is installed when all is there, whatever else is there', () => {
  installed({ ...run, 'node_modules/tool': tool, 'node_modules/more': { version: '3.0.0' } });
  expect(bootstrap()).toBeNull();
  expect(bootstrap('--dev')).toBeNull();
});

test('what only tests need is missed by --dev alone', () => {
  installed(run);
  expect(bootstrap()).toBeNull();
  expect(bootstrap('--dev')).toBe('ci --no-audit --no-fund --prefer-offline --include=dev');
});

test('an empty checkout installs what running needs', () => {
  expect(bootstrap()).toBe('ci --no-audit --no-fund --prefer-offline --omit=dev');
});

test.each([
  ['of another version', () => installed({ ...run, 'node_modules/run/node_modules/inner': { version: '2.0.1' } })],
  ['removed by hand', () => (installed(run), rmSync(join(folder, 'node_modules/run/node_modules/inner/package.json')))],
])('a package that is %s is installed again', (_how, prepare) => {
  prepare();
  expect(bootstrap()).toContain('ci ');
});
