import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import type { DepositPages } from '../../src/contracts/messages.js';
import { createPool } from '../../src/db/pool.js';
import { createCustodyClient } from '../../src/providers/custody/client.js';
import type { depositReconcile } from '../../src/workflows/index.js';
import type { PagesOrder } from '../custody-pages.js';
import { openAddresses } from '../support/addresses.js';
import type { BenchContext, Benchmark, BenchResult, Cost } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { countEvents, type Left } from '../support/history.js';
import { memoryReadings, watchMemory } from '../support/memory.js';
import { startProcess } from '../support/processes.js';
import { compare, type Round } from '../support/rounds.js';
import { CUSTODY, SOURCE } from '../support/settings.js';
import { shortNumber, spreadOf } from '../support/statistics.js';
import { checkpoint } from '../support/wal.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';
import { reconcileCosts } from './reconcile-costs.js';

const SIZES = { small: 5_000, full: 100_000 };
const ADDRESSES = 100;
const PAGE_LIMIT = 200;
const NUMBERED_POLL_MS = 1_000;
const NUMBERED_WITHIN_MS = 1_800_000;

export const reconcileBenchmark: Benchmark = {
  name: 'reconcile',
  about: 'the reconciliation workflow over records that are all known, against reading the same pages alone',
  async run(context) {
    const { servers } = context;
    const items = SIZES[context.size];
    const costs = await reconcileCosts(context);
    const database = await servers.openDatabase('reconcile');
    const owner = createPool(database.url, { max: 2, applicationName: 'bench' });
    const namespace = await servers.openNamespace('reconcile');
    const pages = await startProcess(servers, { file: 'bench/custody-pages.ts', name: 'custody-pages' });
    let worker: WorkerProcess | undefined;
    try {
      const addresses = (await openAddresses(owner, ADDRESSES)).map(({ address }) => address);
      const order: PagesOrder = { items, addresses };
      const { url } = (await pages.ask(order)) as { url: string };
      const of = { database, namespace, taskQueue: 'bench-reconcile', custodyUrl: url };
      worker = await startWorkerProcess(servers, { file: 'src/worker.ts', ...of });
      const watched = { worker: worker.process.pid, custodian: pages.pid, ...servers.pids };
      return await measure({ context, items, owner, url, worker, watched, passes: [] }, costs);
    } finally {
      await worker?.stop();
      await pages.stop();
      await owner.end();
      await database.drop();
    }
  },
};

/** One run of the workflow over the whole feed. */
interface Pass {
  readonly seconds: number;
  readonly left: Left;
  /** Bytes of the worker, sampled all along; empty where there is no /proc. */
  readonly memory: readonly number[];
}

interface World {
  readonly context: BenchContext;
  readonly items: number;
  readonly owner: pg.Pool;
  readonly url: string;
  readonly worker: WorkerProcess;
  readonly watched: Readonly<Record<string, number>>;
  readonly passes: Pass[];
}

async function measure(world: World, costed: readonly Cost[]): Promise<BenchResult> {
  const { context, items, owner, passes } = world;
  const first = await runPass(world, items);
  context.say(`reconcile: ${shortNumber(items)} new records in ${shortNumber(first.seconds)} s`);
  const numbered = await untilNumbered(owner);
  context.say(`reconcile: numbered ${shortNumber(numbered)} s later`);
  const comparison = await compare(context, {
    what: `reconcile, ${shortNumber(items)} known records`,
    unit: 'items/s',
    floorIs: 'the same pages read and parsed, nothing else',
    target: null,
    before: () => checkpoint(owner),
    ours: () => knownRound(world),
    floor: () => readRound(world),
  });
  const counted = passes.slice(1);
  const cpu = await cpuSecondsOf(world.watched, async () => void (await runPass(world, 0)));
  // Start and end of a pass are five events; how many turns it takes, or workflow tasks that time out, is a matter of
  // speed.
  const aTurn = Math.min(...counted.map(({ left }) => (left.events - 5) / left.activities));
  const per10k = counted.map(({ left }) => left.events / Math.ceil(items / 10_000));
  return {
    comparisons: [comparison],
    costs: [{ what: 'Temporal events a turn', unit: 'events', value: aTurn, budget: { atMost: 6 } }, ...costed],
    readings: [
      {
        what: 'Temporal events per 10 000 items',
        unit: 'events',
        spread: spreadOf(per10k),
        target: { atMost: 20 },
      },
      ...memoryReadings(counted.map(({ memory }) => memory)),
    ],
    notes: [
      `new records: ${shortNumber(items / first.seconds)} items/s (one pass, ${first.left.events} events)`,
      `the sweep had numbered all they left behind ${shortNumber(numbered)} s after that pass`,
      `ms of CPU per 1 000 known items: ${describeCpu(cpu, items / 1_000)}`,
    ],
  };
}

async function knownRound(world: World): Promise<Round> {
  const { items, owner, passes } = world;
  const before = await countAll(owner);
  const pass = await runPass(world, 0);
  passes.push(pass);
  const after = await countAll(owner);
  return { value: items / pass.seconds, wrong: before === after ? null : `rows before ${before}, after ${after}` };
}

/** From the beginning of the feed; throws when the counts are not `items` read and `changed` of them changed. */
async function runPass({ items, owner, worker }: World, changed: number): Promise<Pass> {
  await owner.query('update sverka.source set cursor = null');
  const { client, taskQueue } = worker.temporal;
  const memory = watchMemory(worker.process.pid);
  const began = performance.now();
  const handle = await client.workflow.start<typeof depositReconcile>('depositReconcile', {
    workflowId: `bench-reconcile-${began}`,
    taskQueue,
    args: [SOURCE],
  });
  const total: DepositPages = await handle.result();
  const seconds = (performance.now() - began) / 1_000;
  if (total.items !== items || total.changed !== changed || total.unmatched + total.unreadable > 0) {
    throw new Error(`A pass over ${items} items, ${changed} of them new, came to ${JSON.stringify(total)}.`);
  }
  const left = await countEvents(worker.temporal, handle.workflowId, handle.firstExecutionRunId);
  return { seconds, left, memory: memory.stop() };
}

/** What is left of a pass without the database and without Temporal. */
async function readRound({ items, url }: World): Promise<Round> {
  const client = createCustodyClient({ url, apiKey: CUSTODY.apiKey, timeoutMs: 10_000 });
  try {
    const began = performance.now();
    let read = 0;
    let after: string | null = null;
    for (let more = true; more; ) {
      const page = await client.readDepositChanges({ after, limit: PAGE_LIMIT });
      read += page.items.filter((item) => item.ok).length;
      after = page.nextCursor;
      more = page.hasMore;
    }
    const seconds = (performance.now() - began) / 1_000;
    return { value: items / seconds, wrong: read === items ? null : `${read} of ${items} items were read` };
  } finally {
    await client.close();
  }
}

async function countAll(owner: pg.Pool): Promise<string> {
  const { rows } = await owner.query<{ counts: string }>(
    `select (select count(*) from sverka.deposit where state = 'final') || ' deposits, '
       || (select count(*) from ledger.movement) || ' movements, ' || (select count(*) from sverka.event) || ' events, '
       || (select count(*) from sverka.audit) || ' audit rows, sum '
       || (select coalesce(sum(amount), 0) from ledger.entry) as counts`,
  );
  return rows[0]?.counts ?? '';
}

/** The sweep numbers in the background what a pass wrote; until it is done, it takes its share of every round. */
async function untilNumbered(owner: pg.Pool): Promise<number> {
  const began = performance.now();
  for (;;) {
    const { rows } = await owner.query<{ done: boolean }>(
      `select (select count(*) from ledger.movement) = (select count(*) from sverka.movement_seal)
         and (select count(*) from sverka.event) = (select count(*) from sverka.event_seal)
         and (select count(*) from sverka.audit) = (select count(*) from sverka.audit_seal) as done`,
    );
    const ms = performance.now() - began;
    if (rows[0]?.done) return ms / 1_000;
    if (ms > NUMBERED_WITHIN_MS) throw new Error('The sweep did not number what the first pass wrote.');
    await pause(NUMBERED_POLL_MS);
  }
}
