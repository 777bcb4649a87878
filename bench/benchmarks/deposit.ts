import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { createDepositActivities } from '../../src/activities/deposits.js';
import { nudgeDeposit } from '../../src/client/deposits.js';
import { connectTemporal } from '../../src/client/temporal.js';
import { loadConfig } from '../../src/config.js';
import { depositWorkflowId } from '../../src/contracts/ids.js';
import type { DepositInput, DepositSeen } from '../../src/contracts/messages.js';
import { createPool } from '../../src/db/pool.js';
import { createProviders } from '../../src/providers/create-providers.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { activityDeps } from '../support/activity-deps.js';
import { type BenchAddress, openAddresses } from '../support/addresses.js';
import type { BenchContext, Benchmark, BenchResult, Cost } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { countEvents } from '../support/history.js';
import { countRoundTrips } from '../support/round-trips.js';
import { compare, type Round, runCallers } from '../support/rounds.js';
import type { BenchDatabase } from '../support/servers.js';
import { CUSTODY, settingsFor } from '../support/settings.js';
import { type SimulatorProcess, startSimulator } from '../support/simulator-process.js';
import { checkpoint, walBytesOf } from '../support/wal.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';

/** Workflows that run at once. */
const CALLERS = 16;
const SIZES = { small: { workflows: 40, costs: 20 }, full: { workflows: 120, costs: 100 } };
const MERCHANTS = 20;

export const depositBenchmark: Benchmark = {
  name: 'deposit',
  about: 'the whole deposit workflow, against an empty workflow of the same shape',
  async run(context) {
    const { servers } = context;
    const database = await servers.openDatabase('deposit');
    const owner = createPool(database.url, { max: 4, applicationName: 'bench' });
    const namespace = await servers.openNamespace('deposit');
    const simulator = await startSimulator(servers, database);
    const start = (file: Parameters<typeof startWorkerProcess>[1]['file'], taskQueue: string) =>
      startWorkerProcess(servers, { file, taskQueue, database, namespace, custodyUrl: simulator.url });
    const started: WorkerProcess[] = [];
    try {
      const addresses = await openAddresses(owner, MERCHANTS, (reference) => simulator.makeAddress(reference));
      // Before any worker runs: its sweep numbers what is new, and writes to the log when it likes.
      const costed = await databaseCosts({ context, database, owner, namespace, simulator, addresses });
      const ours = await start('src/worker.ts', 'bench-deposit');
      started.push(ours);
      const empty = await start('bench/empty-worker.ts', 'bench-empty');
      started.push(empty);
      return await measure({ context, owner, simulator, addresses, ours, empty }, costed);
    } finally {
      await Promise.all(started.map((worker) => worker.stop()));
      await simulator.stop();
      await owner.end();
      await database.drop();
    }
  },
};

interface Custodian {
  readonly context: BenchContext;
  readonly owner: pg.Pool;
  readonly simulator: SimulatorProcess;
  readonly addresses: readonly BenchAddress[];
}

interface World extends Custodian {
  readonly ours: WorkerProcess;
  readonly empty: WorkerProcess;
}

async function measure(world: World, costed: readonly Cost[]): Promise<BenchResult> {
  const { context, owner } = world;
  const { workflows } = SIZES[context.size];
  const costs = [...(await eventCosts(world)), ...costed];
  const comparison = await compare(context, {
    what: `deposit, ${CALLERS} at once`,
    unit: 'workflows/s',
    floorIs: 'an empty workflow of the same shape',
    target: { atLeast: 0.8 },
    before: () => checkpoint(owner),
    ours: () => oursRound(world, workflows),
    floor: () => emptyRound(world, workflows),
  });
  return {
    comparisons: [comparison],
    costs,
    readings: [],
    notes: await cpuNotes(world, workflows),
  };
}

async function oursRound(world: World, workflows: number): Promise<Round> {
  const inputs = await arrive(world, workflows);
  const before = await countCredits(world.owner);
  const seconds = await runCallers({
    callers: CALLERS,
    operations: workflows,
    work: async () => void (await runOne(world.ours, inputs.pop())),
  });
  return { value: workflows / seconds, wrong: await wrongAfter(world.owner, { before, added: workflows }) };
}

async function emptyRound({ empty }: World, workflows: number): Promise<Round> {
  const seconds = await runCallers({
    callers: CALLERS,
    operations: workflows,
    work: async () => void (await runOne(empty, inputOf(`empty-${newTraceId()}`))),
  });
  return { value: workflows / seconds, wrong: null };
}

async function runOne({ temporal }: WorkerProcess, input: DepositInput | undefined): Promise<DepositSeen> {
  if (!input) throw new Error('There are fewer deposits than workflows.');
  await nudgeDeposit(temporal, input, { start: true });
  const seen: DepositSeen = await temporal.client.workflow.getHandle(depositWorkflowId(input)).result();
  if (seen.state !== 'final') throw new Error(`A deposit ended ${seen.state} (${seen.reason}).`);
  return seen;
}

function inputOf(ref: string): DepositInput {
  const { book, provider, account } = CUSTODY;
  return { book, provider, account, ref, traceId: newTraceId() };
}

/** Completed deposits at the custodian that nobody has told us of. */
async function arrive({ simulator, addresses }: Custodian, count: number, body: object = {}): Promise<DepositInput[]> {
  const inputs: DepositInput[] = [];
  for (let n = 0; n < count; n += 1) {
    const address = addresses[n % addresses.length]?.address;
    const ref = await simulator.arrive({ address, amount: '25', status: 'completed', ...body });
    inputs.push(inputOf(ref));
  }
  return inputs;
}

async function countCredits(owner: pg.Pool): Promise<number> {
  const { rows } = await owner.query<{ count: string }>('select count(*)::text as count from ledger.movement');
  return Number(rows[0]?.count ?? 0);
}

async function wrongAfter(owner: pg.Pool, round: { before: number; added: number }): Promise<string | null> {
  const added = (await countCredits(owner)) - round.before;
  if (added !== round.added) return `${added} credits for ${round.added} deposits`;
  const { rows } = await owner.query<{ total: string; waiting: string }>(
    `select (select coalesce(sum(amount), 0) from ledger.entry)::text as total,
       (select count(*) from sverka.deposit where state <> 'final')::text as waiting`,
  );
  const [found] = rows;
  if (found?.total === '0' && found.waiting === '0') return null;
  return `sum of entries ${found?.total}, deposits that are not final: ${found?.waiting}`;
}

/** One that is completed at its first read, and one that waits three times for a nudge, twice of them for nothing. */
async function eventCosts(world: World): Promise<Cost[]> {
  const { ours, simulator } = world;
  const [first] = await arrive(world, 1);
  const [later] = await arrive(world, 1, { status: 'seen' });
  if (!first || !later) throw new Error('The deposits did not arrive.');
  await runOne(ours, first);
  const { events: atOnce } = await countEvents(ours.temporal, depositWorkflowId(first));
  const id = depositWorkflowId(later);
  const look = () => countEvents(ours.temporal, id);
  const afterWaits: number[] = [];
  for (let waits = 1; waits <= 3; waits += 1) {
    await nudgeDeposit(ours.temporal, later, { start: true });
    let left = await look();
    while (left.timers < waits) {
      await pause(20);
      left = await look();
    }
    afterWaits.push(left.events);
  }
  await simulator.change(later.ref, { status: 'completed' });
  await runOne(ours, later);
  const [one = 0, , three = 0] = afterWaits;
  const { events: all } = await look();
  return [
    { what: 'Temporal events, completed at its first read', unit: 'events', value: atOnce, budget: { atMost: 20 } },
    { what: 'Temporal events more per wait', unit: 'events', value: (three - one) / 2, budget: { atMost: 12 } },
    { what: 'Temporal events, completed after three waits', unit: 'events', value: all, budget: { atMost: 20 + 36 } },
  ];
}

/** The activity itself, in this process, through a counter. */
async function databaseCosts(
  world: Custodian & { readonly database: BenchDatabase; readonly namespace: string },
): Promise<Cost[]> {
  const { context, database, namespace, simulator, owner } = world;
  const deposits = SIZES[context.size].costs;
  const of = { database, namespace, role: 'worker' as const, taskQueue: 'bench-costs', custodyUrl: simulator.url };
  const config = loadConfig(settingsFor(context.servers, of));
  const counter = await countRoundTrips(config.DATABASE_URL);
  const pool = createPool(counter.url, { max: 2, applicationName: 'bench-counted' });
  const providers = createProviders(config);
  const temporal = connectTemporal(config);
  try {
    const { providerReadDeposit } = createDepositActivities({
      ...activityDeps({ pool, config, providers }),
      nudgeDeposit: (input, how) => nudgeDeposit(temporal, input, how),
    });
    const readAll = async (inputs: readonly DepositInput[]) => {
      for (const input of inputs) await providerReadDeposit({ ...input, absentMs: 0 });
    };
    const [warm, counted] = [await arrive(world, deposits), await arrive(world, deposits)];
    await checkpoint(owner);
    await readAll(warm);
    counter.take();
    const bytes = await walBytesOf(owner, () => readAll(counted));
    const trips = counter.take();
    return [
      { what: 'WAL a deposit', unit: 'bytes', value: bytes / deposits, budget: { atMost: 17_000 } },
      { what: 'round trips a deposit', unit: 'round trips', value: trips / deposits, budget: { atMost: 20 } },
    ];
  } finally {
    await Promise.all([providers.close(), pool.end(), temporal.connection.close()]);
    await counter.close();
  }
}

async function cpuNotes(world: World, workflows: number): Promise<string[]> {
  const { ours, empty, simulator, context } = world;
  const { pids } = context.servers;
  const inputs = await arrive(world, workflows);
  const work = async () => void (await runAll(ours, inputs));
  const real = await cpuSecondsOf(
    { worker: ours.process.pid, simulator: simulator.pid, bench: process.pid, ...pids },
    work,
  );
  const bare = await cpuSecondsOf({ worker: empty.process.pid, bench: process.pid, ...pids }, async () => {
    await emptyRound(world, workflows);
  });
  return [
    `ms of CPU a deposit: ${describeCpu(real, workflows)}`,
    `ms of CPU an empty workflow: ${describeCpu(bare, workflows)}`,
  ];
}

async function runAll(worker: WorkerProcess, inputs: DepositInput[]): Promise<number> {
  const operations = inputs.length;
  return runCallers({ callers: CALLERS, operations, work: async () => void (await runOne(worker, inputs.pop())) });
}
