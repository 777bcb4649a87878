import { spawn } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { ensureStanding } from '../../src/client/standing.js';
import { setCardFee } from '../../src/db/card-fees.js';
import { CARD_PRODUCTS } from '../../src/domain/card.js';
import { type Ops, startOps } from '../../src/http/ops.js';
import { keyFiles } from '../../src/local/key-files.js';
import { choosePorts } from '../../src/local/ports.js';
import { registerSearchAttributes } from '../../src/local/register-search-attributes.js';
import type { RunFile } from '../../src/local/run-file.js';
import { ensureKeyring } from '../../src/providers/keys/keyring-file.js';
import { CLI_SECRET, hookOf, newCliNamespace, unusedIssuer } from '../support/cli-world.js';
import { type CommandLine, openCommandLine, runWithConsole } from '../support/command-line.js';
import { eventually } from '../support/running-product.js';
import { testTemporal } from '../support/test-temporal.js';
import { arrive, makeKnownAddress } from '../support/worker-rows.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const LIVE = 'deposit-reconcile:live:custody';

let world: WorkerWorld;
let worker: RunningWorker | undefined;
let cli: CommandLine;
let ops: Ops;
let whole: Partial<RunFile>;
/** What the ops listener's one check answers. */
let opsDetail: string | null = null;
/** While set, the worker keeps a page of the reconciliation waiting. */
let gate: Promise<void> | null = null;
let pagesAsked = 0;

beforeAll(async () => {
  const namespace = await newCliNamespace();
  world = await openWorkerWorld({ namespace, settings: unusedIssuer() });
  for (const product of CARD_PRODUCTS) {
    await setCardFee(world.tx, { merchantId: null, product, asset: 'USD', amount: 100n, setBy: 'a test' });
  }
  ops = await startOps({
    ...{ process: 'worker', host: '127.0.0.1', port: 0 },
    checks: [{ name: 'postgres', required: true, check: async () => opsDetail }],
  });
  whole = {
    ...runWithConsole(world.database.urlFor('console')),
    startedAt: '2026-11-29T10:15:30.123Z',
    temporalAddress: testTemporal().address,
    temporalNamespace: namespace,
    pids: { self: process.pid, worker: process.pid },
    opsUrls: { worker: ops.url },
    simulators: { custody: { url: world.custody.url } },
    hooks: (['custody', 'issuer'] as const).flatMap((provider) =>
      (['live', 'test'] as const).map((book) => hookOf(provider, book, [CLI_SECRET, `other ${CLI_SECRET}`])),
    ),
  };
  cli = openCommandLine(whole);
  ensureKeyring(keyFiles(cli.state));
});
afterAll(async () => {
  cli.remove();
  await worker?.stop();
  await ops.close();
  await world.close();
});

/** The custodian's endpoint of that book with other secrets, beside all the others. */
function withSecrets(book: 'live' | 'test', secrets: readonly string[]): Partial<RunFile> {
  const others = whole.hooks?.filter((hook) => hook.provider !== 'custody' || hook.book !== book) ?? [];
  return { hooks: [hookOf('custody', book, secrets), ...others] };
}

interface Check {
  check: string;
  state: string;
  detail: string;
  fix: string | null;
}

/** What the doctor finds, beside what is well; exit code 1 exactly when something is missing. */
async function found(): Promise<string[]> {
  const { stdout } = await cli.run('doctor', '--json');
  const { checks, ok } = JSON.parse(stdout) as { checks: Check[]; ok: boolean };
  expect(ok).toBe(checks.every(({ state }) => state !== 'missing'));
  for (const { state, fix } of checks) expect(state === 'ok').toBe(fix === null);
  expect(stdout).not.toContain(CLI_SECRET);
  return checks.filter(({ state }) => state !== 'ok').map(({ check, state }) => `${check} ${state}`);
}

describe('doctor', () => {
  it('names everything that a Temporal without our worker lacks, each with its fix', async () => {
    expect(await found()).toEqual([
      ...['Kind', 'State', 'Merchant', 'Ref', 'Book', 'NeedsOperator'].map(
        (name) => `search-attribute:Sverka${name} missing`,
      ),
      ...['workflow:inbox-sweep missing', 'workflow:health-watch missing', `schedule:${LIVE} missing`],
      ...[
        ...['deposit-reconcile:test:custody', 'issuance-reconcile:live:issuer', 'issuance-reconcile:test:issuer'],
        ...['drift-check', 'full-check'],
      ].map((id) => `schedule:${id} missing`),
    ]);
    expect((await cli.run('doctor')).code).toBe(1);
  });

  it('finds nothing where everything is there', async () => {
    await registerSearchAttributes({ address: testTemporal().address, namespace: world.config.TEMPORAL_NAMESPACE });
    await ensureStanding(world.temporal, world.config);
    worker = await world.startWorker({ activities: gated });
    expect(await found()).toEqual([]);
    const { code, stdout } = await cli.run('doctor');
    expect(code).toBe(0);
    expect(stdout).toContain('Nothing is missing.');
  });

  it.each<[string, () => Promise<Partial<RunFile>>, string[]]>([
    [
      'a process that is gone',
      async () => ({ pids: { ...whole.pids, relay: await deadPid() } }),
      ['process:relay missing', 'ops:relay warning'],
    ],
    ['a short secret', async () => withSecrets('live', ['short']), ['secrets:custody/main-live missing']],
    ['no secret', async () => withSecrets('test', []), ['secrets:custody/main-test missing']],
    [
      'a simulator that is away',
      async () => ({ simulators: { custody: { url: await nowhere() } } }),
      ['simulator:custody missing'],
    ],
    ['an ops listener that is away', async () => ({ opsUrls: { worker: await nowhere() } }), ['ops:worker missing']],
    ['a gateway that is away', async () => ({ gatewayUrl: await nowhere() }), ['gateway missing']],
    ['a start that is not complete', async () => ({ ready: false }), ['run.json missing']],
    ['a role that is no admin’s', async () => runWithConsole(world.database.urlFor('gateway')), ['role missing']],
  ])('names %s', async (_, change, expected) => {
    cli.setRun({ ...whole, ...(await change()) });
    expect(await found()).toEqual(expected);
    cli.setRun(whole);
  });

  it('names a file that others can read, and a check of /readyz that fails', async () => {
    chmodSync(join(cli.state, 'run.json'), 0o644);
    opsDetail = 'refused';
    expect(await found()).toEqual(['run.json missing', 'ops:worker missing']);
    opsDetail = null;
    cli.setRun(whole);
  });

  it('where nothing runs says how to start it, and ends with 1', async () => {
    cli.setRun(null);
    expect(await found()).toEqual(['run.json missing']);
    cli.setRun(whole);
  });
});

describe('schedules', () => {
  it('list shows each with its next run, and pages', async () => {
    const { data } = await cli.json(['schedules', 'list']);
    expect(data).toMatchObject([
      { object: 'schedule', id: LIVE, workflow_type: 'depositReconcile', every_ms: [3_600_000], paused: false },
      { object: 'schedule', id: 'deposit-reconcile:test:custody', next_run_at: expect.stringMatching(/Z$/) },
      { object: 'schedule', id: 'drift-check', workflow_type: 'driftCheck', every_ms: [3_600_000] },
      { object: 'schedule', id: 'full-check', workflow_type: 'fullCheck', every_ms: [86_400_000] },
      { object: 'schedule', id: 'issuance-reconcile:live:issuer', workflow_type: 'issuanceReconcile' },
      { object: 'schedule', id: 'issuance-reconcile:test:issuer', every_ms: [3_600_000] },
    ]);
    // What serves both books belongs to each.
    expect((await cli.json(['schedules', 'list', '--book', 'test']))['data']).toHaveLength(4);
    const first = await cli.json(['schedules', 'list', '--limit', '1']);
    expect(first).toMatchObject({ data: [{ id: LIVE }], has_more: true });
    const next = ['schedules', 'list', '--limit', '1', '--cursor', String(first['next_cursor'])];
    expect(await cli.json(next)).toMatchObject({ data: [{ id: 'deposit-reconcile:test:custody' }], has_more: true });
  });

  it('run does what a run on time does, waits for it and prints its counts; a paused one runs, too', async () => {
    await arrive(world, await makeKnownAddress(world));
    const handle = world.temporal.client.schedule.getHandle(LIVE);
    await handle.pause('a test');
    expect(await cli.json(['schedules', 'run', LIVE])).toEqual({
      ...{ object: 'schedule_run', schedule_id: LIVE, run_id: expect.any(String) },
      workflow_id: expect.stringMatching(`^${LIVE}-`),
      result: { pages: 1, items: 1, changed: 1, unmatched: 0, unreadable: 0, more: false },
    });
    expect(await found()).toEqual([`schedule:${LIVE} warning`]);
    await handle.unpause();
    const again = await cli.run('schedules', 'run', LIVE);
    expect(again.code).toBe(0);
    expect(again.stdout).toMatch(/^changed +0$/m);
    for (const id of ['drift-check', 'full-check']) {
      expect(await cli.json(['schedules', 'run', id])).toMatchObject({ result: { findings: 0 } });
    }
  });

  it('run with --dry-run starts nothing, and one that is not there ends with 3', async () => {
    const runs = async () => (await world.temporal.client.schedule.getHandle(LIVE).describe()).info.numActionsTaken;
    const before = await runs();
    expect(await cli.json(['schedules', 'run', LIVE, '--dry-run'])).toMatchObject({
      object: 'dry_run',
      would: `run depositReconcile of ${LIVE} now`,
      subject: { object: 'schedule', id: LIVE },
    });
    await cli.problem(['schedules', 'run', 'nothing'], 3);
    expect(await runs()).toBe(before);
  });

  it('run begins behind one that is under way, and answers with its own result', async () => {
    const release = closeGate();
    const asked = pagesAsked;
    const first = cli.json(['schedules', 'run', LIVE]);
    await eventually('the first run is at work', () => pagesAsked > asked);
    const second = cli.json(['schedules', 'run', LIVE]);
    await eventually('the second is asked for', async () => {
      const { raw } = await world.temporal.client.schedule.getHandle(LIVE).describe();
      return Number(raw.info?.bufferSize ?? 0) > 0;
    });
    await arrive(world, await makeKnownAddress(world));
    release();
    const [one, two] = await Promise.all([first, second]);
    // The server names a run after the second it was asked for in: both may have one id.
    expect(one['run_id']).not.toBe(two['run_id']);
    expect(two).toMatchObject({ object: 'schedule_run', result: { more: false } });
  });

  it('run ends with 6 when the run has not ended in time, and with 1 when it failed', async () => {
    const release = closeGate();
    const problem = await cli.problem(['schedules', 'run', LIVE, '--wait', '2'], 6);
    expect(problem['detail']).toContain('it goes on');
    const { info } = await world.temporal.client.schedule.getHandle(LIVE).describe();
    const running = info.runningActions[0]?.workflow.workflowId ?? '';
    const waiting = cli.problem(['schedules', 'run', LIVE], 1);
    await world.temporal.client.workflow.getHandle(running).terminate('a test');
    await eventually('the next run is at work', async () => {
      const now = (await world.temporal.client.schedule.getHandle(LIVE).describe()).info.runningActions[0];
      const id = now?.workflow.workflowId;
      if (id === undefined || id === running) return false;
      await world.temporal.client.workflow.getHandle(id).terminate('a test');
      return true;
    });
    expect((await waiting)['detail']).toContain('failed');
    release();
  });
});

it('Ctrl-C ends a command with 130 at once, and the run it waits for goes on', async () => {
  const release = closeGate();
  const asked = pagesAsked;
  const { child, ended } = cli.start('schedules', 'run', LIVE);
  await eventually('the run is at work', () => pagesAsked > asked);
  child.kill('SIGINT');
  expect(await ended).toMatchObject({ code: 130, stdout: '' });
  const { info } = await world.temporal.client.schedule.getHandle(LIVE).describe();
  expect(info.runningActions).toHaveLength(1);
  release();
});

it('trace tells the workflows that Temporal still knows', async () => {
  const { items, notes } = await cli.json(['trace', 'inbox-sweep']);
  expect(notes).toEqual([]);
  expect(items).toMatchObject([{ kind: 'workflow', id: 'inbox-sweep', type: 'inboxSweep', status: 'running' }]);
});

function gated(activities: object): object {
  const { pageDepositChanges } = activities as { pageDepositChanges: (input: unknown) => Promise<unknown> };
  return {
    ...activities,
    async pageDepositChanges(input: unknown) {
      pagesAsked += 1;
      await gate;
      return pageDepositChanges(input);
    },
  };
}

function closeGate(): () => void {
  let release: () => void = () => undefined;
  gate = new Promise((resolve) => {
    release = resolve;
  });
  return () => {
    gate = null;
    release();
  };
}

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.once('exit', resolve));
  return child.pid ?? 0;
}

async function nowhere(): Promise<string> {
  return `http://127.0.0.1:${(await choosePorts(['closed'])).closed}`;
}
