import { readFileSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isRunning, sendSignal } from '../../src/local/process-info.js';
import { readRunFile } from '../../src/local/run-file.js';
import { eventually, type ProductFolder, productFolder, type RunningProduct } from '../support/running-product.js';
import { REPOSITORY_ROOT } from '../support/tree-files.js';

// Each starts the product, some twice; the bound is only for a machine that does much else.
const WITHIN_MS = 300_000;

const PROCESSES = [
  'guard',
  'postgres',
  'temporal',
  'worker',
  'gateway',
  'relay',
  'console',
  'cabinet',
  'simulators',
] as const;

let folder: ProductFolder;
beforeEach(() => {
  folder = productFolder();
});
afterEach(() => folder.remove());

function pid(product: RunningProduct, name: string): number {
  return product.run().pids[name] ?? 0;
}

async function kill(product: RunningProduct, name: string): Promise<number> {
  const killed = pid(product, name);
  sendSignal(killed, 'SIGKILL');
  await eventually(`${name} is gone`, () => !isRunning(killed));
  return killed;
}

function restarted(product: RunningProduct, name: string, killed: number): Promise<number> {
  return eventually(`${name} runs again`, () => {
    const now = pid(product, name);
    return now !== killed && isRunning(now) && now;
  });
}

async function isReady(product: RunningProduct, name: string): Promise<boolean> {
  const answer = await fetch(`${product.run().opsUrls[name]}/readyz`).catch(() => null);
  return answer?.status === 200;
}

test(
  'everything that run.json names runs, and a clean stop leaves neither a process nor the file',
  async () => {
    const product = await folder.start();
    const run = product.run();
    expect(PROCESSES.filter((name) => !isRunning(run.pids[name] ?? 0))).toEqual([]);
    expect((await fetch(`${run.gatewayUrl}/openapi.json`)).status).toBe(200);
    expect(run.hooks.map((hook) => [hook.provider, hook.endpoint, hook.secrets.length])).toEqual([
      ['custody', 'main-live', 2],
      ['custody', 'main-test', 2],
      ['issuer', 'main-live', 2],
      ['issuer', 'main-test', 2],
      ['pert', 'pert-main', 2],
      ['pert', 'pert-test', 2],
    ]);
    expect(Object.keys(run.simulators).toSorted()).toEqual(['custody', 'issuer', 'pert']);
    expect(run.logins.map(({ user, role, at }) => [user, role, at])).toEqual([
      ['requester', 'merchant requester', 'cabinet'],
      ['requester-test', 'merchant requester', 'cabinet'],
      ['operator', 'operator', 'console'],
      ['approver', 'approver', 'console'],
      ['approver2', 'approver', 'console'],
      ['admin', 'admin', 'console'],
      ['auditor', 'auditor', 'console'],
    ]);
    for (const { linkFile } of run.logins) {
      const file = resolve(REPOSITORY_ROOT, linkFile);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(readFileSync(file, 'utf8')).toMatch(
        /^http:\/\/localhost:\d+\/(operator|cabinet)\/sign-in\?link=[A-Za-z0-9_-]{43}\n$/,
      );
    }
    expect(await product.stop()).toBe(0);
    await eventually('nothing is left', () => folder.leftBehind().length === 0);
    expect(() => product.run()).toThrow('ENOENT');
  },
  WITHIN_MS,
);

test(
  'a killed process of ours, PostgreSQL, Temporal and the guard start again at the same addresses',
  async () => {
    const product = await folder.start();
    const before = product.run();
    for (const name of PROCESSES) await restarted(product, name, await kill(product, name));
    for (const name of ['worker', 'gateway', 'relay', 'simulators']) {
      await eventually(`${name} is ready again`, () => isReady(product, name));
    }
    const { pids: _before, ...same } = before;
    expect(product.run()).toMatchObject(same);
    await product.stop();
  },
  WITHIN_MS,
);

test(
  'after kill -9 of the start itself its processes end, and the next start works',
  async () => {
    const product = await folder.start();
    const file = join(folder.state, 'run.json');
    expect(readRunFile(file)?.ready).toBe(true);
    await kill(product, 'self');
    await eventually('nobody is told that it is ready', () => readRunFile(file)?.ready === false);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await eventually('its processes are gone', () => folder.leftBehind().length === 0);
    const second = await folder.start();
    expect(await isReady(second, 'worker')).toBe(true);
    expect(await second.stop()).toBe(0);
  },
  WITHIN_MS,
);

test(
  'what a killed start and a killed guard left behind is ended by the next start',
  async () => {
    const product = await folder.start();
    const old = product.run().pids;
    sendSignal(old['guard'] ?? 0, 'SIGKILL');
    sendSignal(old['self'] ?? 0, 'SIGKILL');
    await eventually('the start is gone', () => !isRunning(old['self'] ?? 0));
    expect(isRunning(old['postgres'] ?? 0)).toBe(true);
    const second = await folder.start();
    expect(Object.entries(old).filter(([, left]) => isRunning(left))).toEqual([]);
    expect(await second.stop()).toBe(0);
    await eventually('nothing is left', () => folder.leftBehind().length === 0);
  },
  WITHIN_MS,
);

test(
  'a second start in the same folder is refused and leaves the first alone',
  async () => {
    const product = await folder.start();
    const before = product.run();
    const refused = await folder.start().then(String, (error: Error) => error.message);
    expect(refused).toContain(`Sverka already runs here: process ${before.pids['self']}`);
    expect(refused).not.toContain('Starting');
    expect(product.run()).toEqual(before);
    expect(await isReady(product, 'gateway')).toBe(true);
    await product.stop();
  },
  WITHIN_MS,
);

test(
  'a lost Temporal store does not keep the product from starting',
  async () => {
    const product = await folder.start();
    await product.stop();
    rmSync(join(folder.state, 'temporal.db'));
    const second = await folder.start();
    expect(await isReady(second, 'worker')).toBe(true);
    await second.stop();
  },
  WITHIN_MS,
);
