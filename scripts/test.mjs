// Runs Jest in ESM mode with this command's arguments; the last line is always `N passed, N failed`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'sverka-counts-'));
const countsFile = join(folder, 'counts.json');
/** More than that is no matter of moments. */
const RED_FILES_MAX = 3;

// Ctrl-C reaches Jest as well: wait for it, and still print the last line.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});

const wanted = process.argv.slice(2);
const first = await runJest(wanted);
const counts = wanted.length === 0 ? await onceMore(first) : first;
for (const { file, titles } of counts.red) {
  for (const title of titles.length > 0 ? titles : ['(could not be run)']) {
    process.stdout.write(`RED ${relative(root, file)}: ${title}\n`);
  }
}
if (counts.skipped > 0) process.stdout.write(`${counts.skipped} skipped\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
rmSync(folder, { recursive: true, force: true });
process.exitCode = counts.failed > 0 ? 1 : 0;

/** One run with these arguments; answers its counts and the files that were red. */
async function runJest(args) {
  rmSync(countsFile, { force: true });
  const jest = spawn(
    process.execPath,
    // The flags stand on the command line and not in NODE_OPTIONS: what the tests start must not inherit them.
    [
      '--experimental-vm-modules',
      '--disable-warning=ExperimentalWarning',
      createRequire(import.meta.url).resolve('jest/bin/jest'),
      ...args,
    ],
    { cwd: root, stdio: 'inherit', env: testEnvironment() },
  );
  const end = () => jest.kill('SIGTERM');
  process.on('SIGTERM', end);
  const [code, signal] = await once(jest, 'close');
  process.off('SIGTERM', end);
  if (signal !== null) process.stdout.write(`Jest was ended by ${signal}.\n`);
  const counted = readCounts();
  return code !== 0 && counted.failed === 0 ? { ...counted, failed: 1, red: [] } : counted;
}

/**
 * A few red files of a whole run are played once more, alone: beside all the others a process may have been killed or
 * slowed at a moment that the test did not mean. Named either way; what says that money is not right stays red.
 */
async function onceMore(whole) {
  const { red } = whole;
  if (red.length === 0 || red.length > RED_FILES_MAX || red.some(({ money }) => money)) return whole;
  process.stdout.write(`\nRed beside the others, played once more alone: ${red.map(({ file }) => file).join(' ')}\n`);
  const again = await runJest(['--runInBand', '--runTestsByPath', ...red.map(({ file }) => file)]);
  const names = red.filter(({ file }) => !again.red.some((still) => still.file === file)).map(({ file }) => file);
  if (names.length > 0) process.stdout.write(`UNSTEADY to be mended: ${names.join(' ')}\n`);
  const passedBefore = red.reduce((sum, { passed }) => sum + passed, 0);
  return { ...whole, passed: whole.passed - passedBefore + again.passed, failed: again.failed, red: again.red };
}

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
    return { passed: 0, failed: 1, skipped: 0, red: [] };
  }
}
