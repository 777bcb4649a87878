import { spawnSync } from 'node:child_process';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

/** Runs an entry point to its end, with nothing of ours in its environment but this. */
function run(entry: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawnSync(process.execPath, ['--import', 'tsx', `src/${entry}.ts`, ...args], {
    cwd: REPOSITORY_ROOT,
    env: { PATH: process.env['PATH'] ?? '', ...env },
    encoding: 'utf8',
  });
  return { code: child.status, stdout: child.stdout, stderr: child.stderr };
}

test.each(['--help', '-h'])('npm start -- %s prints every flag and starts nothing', (flag) => {
  const { code, stdout, stderr } = run('start', [flag]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^Usage: npm start/);
  for (const name of ['--once', '--no-story', '--help']) expect(stdout).toContain(name);
});

test('a flag that npm start does not have ends it with 2 and the flags that it has', () => {
  const { code, stderr } = run('start', ['--onec']);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^Unknown option '--onec'/);
  expect(stderr).toContain('--once');
});

test.each(['worker', 'gateway', 'relay', 'console', 'cabinet', 'simulators'])(
  'a %s whose settings are not usable names each of them, and shows no stack',
  (entry) => {
    const { code, stderr } = run(entry, [], { SVERKA_LOG_LEVEL: 'loud', SVERKA_RATE_LIMIT: '0' });
    expect([code, stderr.split('\n')]).toEqual([
      1,
      [
        'The configuration is not usable:',
        '  DATABASE_URL: missing; set it',
        '  SVERKA_LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal',
        '  SVERKA_RATE_LIMIT: must be at least 1',
        '',
      ],
    ]);
  },
);

test('a worker that cannot come up says why in a few lines', () => {
  const { code, stderr } = run('worker', [], { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^PostgreSQL is not available/);
  expect(stderr.trim().split('\n').length).toBeLessThanOrEqual(5);
});
