import type pg from 'pg';
import { requestIssuance } from '../../src/client/issuances.js';
import { issuanceWorkflowId } from '../../src/contracts/ids.js';
import type { Accepted } from '../../src/contracts/messages.js';
import { createPool } from '../../src/db/pool.js';
import type { BenchContext, Benchmark, BenchResult, Cost } from '../support/benchmark.js';
import { type Buyer, cardInput, openBuyers } from '../support/buyers.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { countEvents } from '../support/history.js';
import { type BenchKeys, makeKeys } from '../support/keys.js';
import { compare, type Round, runCallers } from '../support/rounds.js';
import { type SimulatorProcess, startSimulator } from '../support/simulator-process.js';
import { checkpoint } from '../support/wal.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';
import { openAnswers } from './issuance-answers.js';
import { databaseCosts } from './issuance-costs.js';

/** Workflows that run at once. */
const CALLERS = 16;
const SIZES = { small: { workflows: 32, costs: 10, answers: 5 }, full: { workflows: 120, costs: 100, answers: 20 } };
const MERCHANTS = 20;
const WITHIN_MS = 60_000;

export const issuanceBenchmark: Benchmark = {
  name: 'issuance',
  about: 'the whole issuance of a card, against an empty workflow of the same shape',
  async run(context) {
    const { servers } = context;
    const database = await servers.openDatabase('issuance');
    const owner = createPool(database.url, { max: 4, applicationName: 'bench' });
    const namespace = await servers.openNamespace('issuance');
    const simulator = await startSimulator(servers, database);
    await simulator.driveIssuer('POST', '/_sim/times', { lag_ms: 0 });
    const keys = makeKeys(servers);
    const issuer = { url: simulator.issuerUrl, keys };
    const of = { database, namespace, custodyUrl: simulator.url, issuer };
    const stops: (() => Promise<void>)[] = [];
    const start = async (file: Parameters<typeof startWorkerProcess>[1]['file'], taskQueue: string) => {
      const worker = await startWorkerProcess(servers, { ...of, file, taskQueue });
      stops.push(() => worker.stop());
      return worker;
    };
    try {
      const buyers = await openBuyers(owner, MERCHANTS, keys);
      // Before any worker runs: its sweep numbers what is new, and writes to the log when it likes.
      const costed = await databaseCosts({ ...of, servers, owner, buyers, count: SIZES[context.size].costs });
      const ours = await start('src/worker.ts', 'bench-issuance');
      const empty = await start('bench/empty-worker.ts', 'bench-empty-issuance');
      const answers = await openAnswers({ ...of, servers, owner, simulator, taskQueue: 'bench-issuance' });
      stops.push(() => answers.stop());
      return await measure({ context, owner, simulator, buyers, keys, ours, empty, answers }, costed);
    } finally {
      await Promise.all(stops.map((stop) => stop()));
      await simulator.stop();
      await owner.end();
      await database.drop();
    }
  },
};

interface World {
  readonly context: BenchContext;
  readonly owner: pg.Pool;
  readonly simulator: SimulatorProcess;
  readonly buyers: readonly Buyer[];
  readonly keys: BenchKeys;
  readonly ours: WorkerProcess;
  readonly empty: WorkerProcess;
  readonly answers: Awaited<ReturnType<typeof openAnswers>>;
}

async function measure(world: World, costed: readonly Cost[]): Promise<BenchResult> {
  const { context, owner, answers, buyers } = world;
  const { workflows, answers: calls } = SIZES[context.size];
  const events = await eventCosts(world);
  const throughput = await compare(context, {
    what: `issuance, ${CALLERS} at once`,
    unit: 'workflows/s',
    floorIs: 'an empty workflow of the same shape',
    target: { atLeast: 0.85 },
    before: () => checkpoint(owner),
    ours: () => oursRound(world, workflows),
    floor: () => emptyRound(world, workflows),
  });
  const early = await answers.withSlowIssuer(() =>
    compare(context, {
      what: 'issuance: time to the reserve answer, issuer at 300 ms',
      unit: 'ms',
      floorIs: 'time to the full answer',
      target: { atMost: 0.35 },
      ours: () => answers.round(buyers, { calls, prefer: 'respond-async', status: 202 }),
      floor: () => answers.round(buyers, { calls, prefer: 'wait=10', status: 201 }),
    }),
  );
  const open = await answers.openTransactions();
  return {
    comparisons: [throughput, early],
    costs: [...events, open, ...costed],
    readings: [],
    notes: await cpuNotes(world, workflows),
  };
}

async function oursRound({ owner, ours, buyers }: World, workflows: number): Promise<Round> {
  const before = await countSettled(owner);
  const seconds = await runMany(ours, buyers, workflows);
  const settled = (await countSettled(owner)) - before;
  const wrong = settled === workflows ? await wrongIn(owner) : `${settled} cards are settled of ${workflows}`;
  return { value: workflows / seconds, wrong };
}

async function emptyRound({ empty, buyers }: World, workflows: number): Promise<Round> {
  return { value: workflows / (await runMany(empty, buyers, workflows)), wrong: null };
}

function runMany(worker: WorkerProcess, buyers: readonly Buyer[], workflows: number): Promise<number> {
  let next = 0;
  return runCallers({
    callers: CALLERS,
    operations: workflows,
    work: async () => void (await runOne(worker, buyers[(next += 1) % buyers.length])),
  });
}

/** As the gateway asks for it, up to the end of the workflow; answers its id. */
async function runOne({ temporal }: WorkerProcess, buyer: Buyer | undefined): Promise<string> {
  if (!buyer) throw new Error('There are no buyers.');
  const input = cardInput(buyer);
  const { book, merchantId, request } = input;
  const outcome = await requestIssuance(temporal, input, WITHIN_MS);
  if (outcome.kind !== 'accepted') throw new Error(`A card was not accepted: ${outcome.kind}.`);
  const id = issuanceWorkflowId({ book, merchantId, requestId: request.id, generation: 0 });
  const { refusal }: Accepted = await temporal.client.workflow.getHandle(id).result();
  if (refusal) throw new Error(`A card was refused: ${refusal.code}.`);
  return id;
}

async function countSettled(owner: pg.Pool): Promise<number> {
  const { rows } = await owner.query<{ count: string }>(
    `select count(*)::text as count from ledger.movement m join sverka.issuance i on i.id = m.subject_id
      where m.kind = 'issuance_settle' and i.state = 'active'`,
  );
  return Number(rows[0]?.count ?? 0);
}

async function wrongIn(owner: pg.Pool): Promise<string | null> {
  const { rows } = await owner.query<{ total: string; held: string }>(
    `select (select coalesce(sum(amount), 0) from ledger.entry)::text as total,
       (select count(*) from ledger.account_balance where kind = 'hold' and balance <> 0)::text as held`,
  );
  const [found] = rows;
  if (found?.total === '0' && found.held === '0') return null;
  return `sum of entries ${found?.total}, holds that still hold something: ${found?.held}`;
}

async function eventCosts({ ours, empty, buyers }: World): Promise<Cost[]> {
  const { events, activities } = await countEvents(ours.temporal, await runOne(ours, buyers[0]));
  const bare = await countEvents(empty.temporal, await runOne(empty, buyers[0]));
  return [
    { what: 'Temporal events, straight path', unit: 'events', value: events, budget: { atMost: 32 } },
    { what: 'activities, straight path', unit: 'activities', value: activities, budget: { atMost: 3 } },
    { what: 'Temporal events of the empty workflow', unit: 'events', value: bare.events, budget: null },
  ];
}

async function cpuNotes(world: World, workflows: number): Promise<string[]> {
  const { ours, empty, simulator, context, buyers } = world;
  const common = { bench: process.pid, ...context.servers.pids };
  const real = await cpuSecondsOf({ worker: ours.process.pid, simulator: simulator.pid, ...common }, async () => {
    await runMany(ours, buyers, workflows);
  });
  const bare = await cpuSecondsOf({ worker: empty.process.pid, ...common }, async () => {
    await runMany(empty, buyers, workflows);
  });
  return [
    `ms of CPU an issuance: ${describeCpu(real, workflows)}`,
    `ms of CPU an empty workflow: ${describeCpu(bare, workflows)}`,
  ];
}
