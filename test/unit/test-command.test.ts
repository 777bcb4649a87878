import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { REPOSITORY } from '../../src/local/paths.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-command-'));
  mkdirSync(join(folder, 'test'));
  for (const file of ['scripts/test.mjs', 'test/support/reporter.cjs'])
    cpSync(join(REPOSITORY, file), join(folder, file));
  symlinkSync(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'));
  // Jest's own pattern would take scripts/test.mjs for a test, which starts Jest, which …
  const testMatch = ['<rootDir>/test/*.test.js'];
  const config = { testMatch, testEnvironment: 'node', reporters: ['default', '<rootDir>/test/support/reporter.cjs'] };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', jest: config }));
});

afterEach(() => rmSync(folder, { recursive: true }));

function plant(name: string, code: string): void {
  writeFileSync(join(folder, 'test', `${name}.test.js`), code);
}

/** Exit code and last line of `npm test` in the planted folder. */
function run(...args: string[]): [number | null, string | undefined] {
  const result = spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
    cwd: folder,
    encoding: 'utf8',
    timeout: 50_000,
    env: { PATH: process.env['PATH'], DATABASE_URL: 'postgres://production', SVERKA_SWEEP_INTERVAL: '1ms' },
  });
  return [result.status, result.stdout.trimEnd().split('\n').at(-1)];
}

test('the last line counts what passed and failed, a file that cannot be read among the failures', () => {
  plant('good', `test('one', () => {}); test('two', () => {}); test.skip('three', () => {});`);
  expect(run()).toEqual([0, '2 passed, 0 failed']);
  plant('bad', `test('four', () => { throw new Error('no'); });`);
  plant('broken', `test('five' () => {});`);
  expect(run()).toEqual([1, '2 passed, 2 failed']);
});

test('what is red beside the others is played once more alone, and counts as it is then', () => {
  plant('good', `test('one', () => {}); test('two', () => {});`);
  plant(
    'unsteady',
    `import { existsSync, writeFileSync } from 'node:fs';
    test('three', () => {});
    test('four', () => {
      if (existsSync('seen')) return;
      writeFileSync('seen', '');
      throw new Error('a moment');
    });`,
  );
  expect(run()).toEqual([0, '4 passed, 0 failed']);
});

test('a red look at money is never played once more', () => {
  plant(
    'money',
    `import { existsSync, writeFileSync } from 'node:fs';
    import { look } from './money-invariants.js';
    test('one', () => {
      if (!existsSync('seen')) look(() => writeFileSync('seen', ''));
    });`,
  );
  const look = `export function look(leave) { leave(); throw new Error('a cent is gone'); }`;
  writeFileSync(join(folder, 'test/money-invariants.js'), look);
  expect(run()).toEqual([1, '0 passed, 1 failed']);
});

test('its arguments reach Jest', () => {
  plant('good', `test('one', () => {}); test('two', () => {});`);
  plant('bad', `test('four', () => { throw new Error('no'); });`);
  expect(run('test/good', '-t', 'one')).toEqual([0, '1 passed, 0 failed']);
});

test('a run without any test is a failure', () => {
  expect(run('nothing-of-that-name')).toEqual([1, '0 passed, 1 failed']);
});

test("a test never sees the developer's database or settings, and runs in UTC", () => {
  plant(
    'environment',
    `test('it', () => {
      const { DATABASE_URL, SVERKA_SWEEP_INTERVAL, NODE_OPTIONS, TZ } = process.env;
      expect([DATABASE_URL, SVERKA_SWEEP_INTERVAL, NODE_OPTIONS, TZ]).toEqual([undefined, undefined, undefined, 'UTC']);
    });`,
  );
  expect(run()).toEqual([0, '1 passed, 0 failed']);
});
