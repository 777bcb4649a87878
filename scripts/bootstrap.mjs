// Installs what package-lock.json asks for and node_modules lacks. Plain Node: it runs before anything is installed.
// `--dev` also wants what tests and checks need. When nothing is missing it only reads two files.
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const withDev = process.argv.includes('--dev');

refuseOldNode();
const lacking = missingPackages();
if (lacking.length > 0) install(lacking);

function refuseOldNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Sverka needs Node.js 20.19 or newer; this is ${process.versions.node}. Install a newer one and try again.`);
}

/** Names of what the lock wants and node_modules, or npm's own record of it, does not have in that version. */
function missingPackages() {
  const want = packagesOf('package-lock.json');
  const have = packagesOf(join('node_modules', '.package-lock.json'));
  const missing = [];
  for (const [path, wanted] of Object.entries(want)) {
    if (path === '' || (!withDev && (wanted.dev || wanted.devOptional))) continue;
    const found = have[path];
    if (found === undefined && (wanted.optional || wanted.peer)) continue;
    const there = found?.version === wanted.version && existsSync(join(root, path, 'package.json'));
    if (!there) missing.push(path.replace(/^.*node_modules\//, ''));
  }
  return missing;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {};
  } catch (error) {
    if (error.code === 'ENOENT' && file !== 'package-lock.json') return {};
    return fail(`${file} cannot be read: ${error.message}`);
  }
}

function install(names) {
  refuseForeignCheckout();
  const shown = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
  process.stderr.write(`Installing what is missing (${shown}) …\n`);
  const args = ['ci', '--no-audit', '--no-fund', '--prefer-offline', withDev ? '--include=dev' : '--omit=dev'];
  const npm = process.env.npm_execpath;
  const result = npm
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status === 0) return;
  fail(`npm ci did not succeed (${result.error?.message ?? `exit ${result.status}`}); its own words are above.`);
}

function refuseForeignCheckout() {
  try {
    accessSync(root, constants.W_OK);
  } catch {
    fail(
      `${root} belongs to another user, so nothing can be installed there. Run this as its owner, or clone it again.`,
    );
  }
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
