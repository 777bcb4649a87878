import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPaths, localPaths } from '../../src/local/paths.js';
import { isRunning } from '../../src/local/process-info.js';
import { claimRunFile, readRunFile } from '../../src/local/run-file.js';

/** No process has it: Linux gives out smaller ones, and macOS does as well. */
const DEAD_PID = 99_999_999;

let paths: LocalPaths;
let started: ChildProcess[] = [];

beforeEach(() => {
  paths = localPaths({ SVERKA_STATE_DIR: mkdtempSync(join(tmpdir(), 'sverka-run-')) });
});

afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  started = [];
  rmSync(paths.state, { recursive: true });
});

/** A process that waits, with this on its command line. */
function bystander(label: string): number {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)', '--', label], { detached: true });
  started.push(child);
  return child.pid ?? 0;
}

function leave(content: object): void {
  writeFileSync(paths.runFile, JSON.stringify(content));
}

test('the file is for this user alone, replaced as a whole, and gone at the end', async () => {
  const file = await claimRunFile(paths);
  file.put('pids', 'worker', 7);
  file.set({ gatewayUrl: 'http://127.0.0.1:1' });
  expect(statSync(paths.runFile).mode & 0o777).toBe(0o600);
  expect(readRunFile(paths.runFile)).toMatchObject({
    version: 1,
    ready: false,
    pids: { self: process.pid, worker: 7 },
    gatewayUrl: 'http://127.0.0.1:1',
  });
  file.remove();
  expect(readdirSync(paths.state)).toEqual(['log']);
});

test('a start that lives keeps its file', async () => {
  const self = bystander('src/start.ts');
  leave({ version: 1, ready: true, pids: { self } });
  await expect(claimRunFile(paths)).rejects.toThrow(`Sverka already runs here: process ${self}`);
  expect(readRunFile(paths.runFile)).toEqual({ version: 1, ready: true, pids: { self } });
  expect(readdirSync(paths.state).sort()).toEqual(['log', 'run.json']);
});

test('what a dead start left running is ended, and its pid that now is another program is not', async () => {
  const worker = bystander(`--state=${paths.state}`);
  const other = bystander('--state=/somewhere/else');
  const longer = bystander(`--state=${paths.state}-2`);
  expect([worker, other, longer].map(isRunning)).toEqual([true, true, true]);
  leave({ version: 1, ready: true, pids: { self: DEAD_PID, worker, relay: other, gateway: longer } });
  const file = await claimRunFile(paths);
  expect([worker, other, longer].map(isRunning)).toEqual([false, true, true]);
  expect(file.current().pids).toEqual({ self: process.pid });
});

test('a pid of a dead start that another program has now does not count as a start that lives', async () => {
  leave({ version: 1, ready: true, pids: { self: bystander('something else') } });
  expect((await claimRunFile(paths)).current().pids).toEqual({ self: process.pid });
});

test('of two starts at once exactly one gets the file', async () => {
  leave({ version: 1, ready: true, pids: { self: DEAD_PID } });
  const script = `
    import { claimRunFile } from ${JSON.stringify(join(paths.repository, 'src/local/run-file.ts'))};
    import { localPaths } from ${JSON.stringify(join(paths.repository, 'src/local/paths.ts'))};
    try { await claimRunFile(localPaths(process.env)); console.log('mine'); setInterval(() => {}, 1000); }
    catch { console.log('refused'); }`;
  const answers = [1, 2, 3].map(() => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script, 'src/start.ts'], {
      cwd: paths.repository,
      env: { ...process.env, SVERKA_STATE_DIR: paths.state },
    });
    started.push(child);
    return new Promise<string>((resolve) => child.stdout.once('data', (chunk) => resolve(String(chunk).trim())));
  });
  expect((await Promise.all(answers)).sort()).toEqual(['mine', 'refused', 'refused']);
});

test('a damaged file counts as none', async () => {
  writeFileSync(paths.runFile, '{"pids":');
  expect((await claimRunFile(paths)).current().ready).toBe(false);
});
