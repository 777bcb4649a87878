// `npm run drill -- [--flow NAME …] [--point N,…] [--seed N] [--minutes N] [--quick]`: installs what is missing, then
// runs test/drill/run.ts without what would lead it to a developer's own servers or settings.
import { spawn, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const ready = spawnSync(process.execPath, [join(root, 'scripts/bootstrap.mjs'), '--dev'], { stdio: 'inherit' });
if (ready.status !== 0) process.exit(1);

const kept = Object.entries(process.env).filter(
  ([name]) => !/^(SVERKA_|TEMPORAL_|DATABASE_URL$|PG[A-Z]+$|TEST_)/.test(name) || isAllowed(name),
);
const drill = spawn(process.execPath, ['--import', 'tsx', join(root, 'test/drill/run.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...Object.fromEntries(kept), TZ: 'UTC' },
});
// Ctrl-C reaches the drill as well: its guard ends what it started.
for (const signal of ['SIGINT', 'SIGHUP']) process.on(signal, () => {});
process.on('SIGTERM', () => drill.kill('SIGTERM'));
drill.on('close', (code) => {
  process.exitCode = code ?? 1;
});

/** Where programs are found, not what they serve. */
function isAllowed(name) {
  return name === 'SVERKA_CACHE_DIR' || name === 'TEMPORAL_CLI_PATH';
}
