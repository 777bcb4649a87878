import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildSpec, createSupervisor, type Supervisor } from '../../src/local/children.js';
import { type Guard, startGuard } from '../../src/local/guard.js';
import { REPOSITORY } from '../../src/local/paths.js';
import { isRunning, sendSignal } from '../../src/local/process-info.js';
import { eventually } from '../support/running-product.js';

const READY = `process.send({ ready: true }); process.on('disconnect', () => {}); setInterval(() => {}, 1000);`;

let folder: string;
let guard: Guard;
let supervisor: Supervisor;
let pids: Map<string, number[]>;
let notices: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sverka-children-'));
  guard = startGuard({ label: folder });
  pids = new Map();
  notices = [];
  supervisor = createSupervisor({
    guard,
    onPid: (name, pid) => pids.set(name, [...(pids.get(name) ?? []), pid]),
    onNotice: (line) => notices.push(line),
  });
});

afterEach(async () => {
  await supervisor.kill();
  guard.done();
  rmSync(folder, { recursive: true });
});

function node(name: string, code: string, stage = 1): ChildSpec {
  return {
    name,
    command: process.execPath,
    args: ['-e', code],
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    logFile: join(folder, `${name}.out`),
    stopSignal: 'SIGTERM',
    stage,
    isReady: 'message',
  };
}

test('a child that dies starts again under the same name, and the new pid is told', async () => {
  await supervisor.start(node('worker', READY));
  const [first = 0] = pids.get('worker') ?? [];
  sendSignal(first, 'SIGKILL');
  const second = await eventually('it runs again', () => pids.get('worker')?.[1]);
  expect(second).not.toBe(first);
  expect(notices).toEqual(['worker ended (SIGKILL); it starts again in 1 s.']);
});

test('a child that ends before it is ready fails the start with the end of what it wrote', async () => {
  const broken = node('gateway', `console.error('DATABASE_URL: must be a postgres:// URL'); process.exit(3)`);
  await expect(supervisor.start(broken)).rejects.toThrow(
    /gateway ended before it was ready \(exit 3\)[^]*DATABASE_URL: must be/,
  );
  expect(pids.get('gateway')).toHaveLength(1);
});

test('a program that does not exist fails the start by name', async () => {
  const missing = { ...node('temporal', ''), command: '/does/not/exist' };
  await expect(supervisor.start(missing)).rejects.toThrow(
    'temporal ended before it was ready (spawn /does/not/exist ENOENT)',
  );
});

test('stopping goes from the highest stage to the lowest, each after the one above has left', async () => {
  const log = join(folder, 'order');
  const slow = (name: string) => `
    const write = (what) => require('node:fs').appendFileSync(${JSON.stringify(log)}, what + ' ${name}\\n');
    process.on('SIGTERM', () => { write('asked'); setTimeout(() => { write('left'); process.exit(0); }, 100); });
    ${READY}`;
  await supervisor.start(node('server', slow('server'), 0));
  await supervisor.start(node('edge', slow('edge'), 2));
  await supervisor.start(node('worker', slow('worker'), 1));
  await supervisor.stop();
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  expect(lines).toEqual(['asked edge', 'left edge', 'asked worker', 'left worker', 'asked server', 'left server']);
  await expect(supervisor.start(node('late', READY))).rejects.toThrow('everything is being stopped');
});

test('when their parent is killed the guard ends the children, also one that ignores the polite signal', async () => {
  const source = (file: string) => JSON.stringify(join(REPOSITORY, 'src/local', file));
  const spec = (name: string, code: string) => `{ ...${JSON.stringify({ ...node(name, code), isReady: 'message' })} }`;
  const stubborn = `process.on('SIGTERM', () => {}); ${READY}`;
  const script = `
    import { createSupervisor } from ${source('children.ts')};
    import { startGuard } from ${source('guard.ts')};
    const guard = startGuard({ label: 'test' });
    const supervisor = createSupervisor({ guard, onPid: (name, pid) => console.log(pid) });
    await supervisor.start(${spec('polite', READY)});
    await supervisor.start(${spec('stubborn', stubborn)});
    console.log('up');`;
  const parent = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], { cwd: REPOSITORY });
  let output = '';
  parent.stdout.on('data', (chunk) => (output += String(chunk)));
  await eventually('both are up', () => output.includes('up'));
  const children = output.split('\n').slice(0, 2).map(Number);
  expect(children.map(isRunning)).toEqual([true, true]);
  parent.kill('SIGKILL');
  await eventually('both are gone', () => !children.some(isRunning));
});
