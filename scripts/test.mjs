// Runs Jest in ESM mode with this command's arguments; the last line is always `N passed, N failed`.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'sverka-counts-'));
const countsFile = join(folder, 'counts.json');

// The flags stand on the command line and not in NODE_OPTIONS: what the tests start must not inherit them.
const jest = spawn(
  process.execPath,
  [
    '--experimental-vm-modules',
    '--disable-warning=ExperimentalWarning',
    createRequire(import.meta.url).resolve('jest/bin/jest'),
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', env: testEnvironment() },
);
// Ctrl-C reaches Jest as well: wait for it, and still print the last line.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
process.on('SIGTERM', () => jest.kill('SIGTERM'));
jest.on('close', (code, signal) => {
  const counts = readCounts();
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  if (signal !== null) process.stdout.write(`Jest was ended by ${signal}.\n`);
  if (counts.skipped > 0) process.stdout.write(`${counts.skipped} skipped\n`);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.exitCode = counts.failed > 0 ? 1 : 0;
});

/** The environment without what would lead a test to a developer's own servers or settings. */
function testEnvironment() {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SVERKA_|TEMPORAL_|DATABASE_URL$|PG[A-Z]+$|TEST_)/.test(name) || isAllowed(name),
  );
  return { ...Object.fromEntries(kept), TZ: 'UTC', SVERKA_TEST_COUNTS: countsFile };
}

/** Where programs are found, not what they serve. */
function isAllowed(name) {
  return name === 'SVERKA_CACHE_DIR' || name === 'TEMPORAL_CLI_PATH' || name === 'TEMPORAL_TEST_SERVER_PATH';
}

function readCounts() {
  try {
    return JSON.parse(readFileSync(countsFile, 'utf8'));
  } catch {
    // No file: Jest never came to its end.
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
