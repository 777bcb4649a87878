import { setTimeout as pause } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import type pg from 'pg';
import { createDepositActivities } from '../../src/activities/deposits.js';
import { loadConfig } from '../../src/config.js';
import type { DepositPages } from '../../src/contracts/messages.js';
import { createPool } from '../../src/db/pool.js';
import { createProviders } from '../../src/providers/create-providers.js';
import { createCustodyClient } from '../../src/providers/custody/client.js';
import { silentLog } from '../../src/telemetry/log.js';
import type { depositReconcile } from '../../src/workflows/index.js';
import type { PagesOrder } from '../custody-pages.js';
import { openAddresses } from '../support/addresses.js';
import type { BenchContext, Benchmark, BenchResult, Cost, Reading } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu, residentBytes } from '../support/cpu.js';
import { countEvents } from '../support/history.js';
import { startProcess } from '../support/processes.js';
import { countRoundTrips } from '../support/round-trips.js';
import { compare, type Round } from '../support/rounds.js';
import type { BenchDatabase } from '../support/servers.js';
import { CUSTODY, settingsFor } from '../support/settings.js';
import { shortNumber, spreadOf } from '../support/statistics.js';
import { checkpoint, walBytesOf } from '../support/wal.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';

const SIZES = { small: 5_000, full: 100_000 };
const ADDRESSES = 100;
const PAGE_LIMIT = 200;
const SAMPLE_MS = 100;
const MEGABYTE = 1_024 * 1_024;
const SOURCE = { book: CUSTODY.book, provider: CUSTODY.provider, account: CUSTODY.account };

export const reconcileBenchmark: Benchmark = {
  name: 'reconcile',
  about: 'the reconciliation workflow over records that are all known, against reading the same pages alone',
  async run(context) {
    const { servers } = context;
    const items = SIZES[context.size];
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
      return await measure({ context, items, database, owner, namespace, url, worker, watched, passes: [] });
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
  readonly events: number;
  /** Bytes of the worker: at the beginning, and the most that was seen. */
  readonly memory: { readonly before: number; readonly most: number } | null;
}

interface World {
  readonly context: BenchContext;
  readonly items: number;
  readonly database: BenchDatabase;
  readonly owner: pg.Pool;
  readonly namespace: string;
  readonly url: string;
  readonly worker: WorkerProcess;
  readonly watched: Readonly<Record<string, number>>;
  readonly passes: Pass[];
}

async function measure(world: World): Promise<BenchResult> {
  const { context, items, owner, passes } = world;
  const first = await runPass(world, items);
  context.say(`reconcile: ${shortNumber(items)} new records in ${shortNumber(first.seconds)} s`);
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
  const events = Math.max(...counted.map((pass) => pass.events)) / Math.ceil(items / 10_000);
  return {
    comparisons: [comparison],
    costs: [
      { what: 'Temporal events per 10 000 items', unit: 'events', value: events, budget: { atMost: 20 } },
      ...(await databaseCosts(world)),
    ],
    readings: memoryOf(counted),
    notes: [
      `new records: ${shortNumber(items / first.seconds)} items/s (one pass, ${first.events} events)`,
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
  const events = await countEvents(worker.temporal, handle.workflowId, handle.firstExecutionRunId);
  return { seconds, events, memory: memory.stop() };
}

function watchMemory(pid: number): { stop(): Pass['memory'] } {
  const before = residentBytes(pid);
  let most = before ?? 0;
  const stopped = new AbortController();
  const watching = (async () => {
    while (!stopped.signal.aborted) {
      most = Math.max(most, residentBytes(pid) ?? 0);
      await pause(SAMPLE_MS, undefined, { signal: stopped.signal }).catch(() => undefined);
    }
  })();
  return {
    stop() {
      stopped.abort();
      watching.catch(() => undefined);
      return before === null ? null : { before, most };
    },
  };
}

function memoryOf(passes: readonly Pass[]): Reading[] {
  const seen = passes.flatMap(({ memory }) => (memory === null ? [] : [memory]));
  const [first] = seen;
  if (first === undefined) return [];
  const growth = seen.map(({ before, most }) => (most - before) / MEGABYTE);
  const all = (Math.max(...seen.map(({ most }) => most)) - first.before) / MEGABYTE;
  return [
    { what: 'memory growth of the worker in a pass', unit: 'MB', spread: spreadOf(growth), target: { atMost: 30 } },
    { what: `memory growth over all ${seen.length} passes`, unit: 'MB', spread: spreadOf([all]), target: null },
    {
      what: 'memory of the worker',
      unit: 'MB',
      spread: spreadOf(seen.map(({ most }) => most / MEGABYTE)),
      target: null,
    },
  ];
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

/** One turn of the activity itself, in this process, through a counter. */
async function databaseCosts({ context, database, namespace, url, owner }: World): Promise<Cost[]> {
  const of = { database, namespace, role: 'worker' as const, taskQueue: 'bench-costs', custodyUrl: url };
  const config = loadConfig(settingsFor(context.servers, of));
  const counter = await countRoundTrips(config.DATABASE_URL);
  const pool = createPool(counter.url, { max: 1, applicationName: 'bench-counted' });
  const providers = createProviders(config);
  try {
    const { pageDepositChanges } = createDepositActivities({
      pool,
      config,
      log: silentLog,
      custody: providers.custody,
      nudgeDeposit: async () => 'closed',
      startDepositAddress: async () => undefined,
    });
    const turn = async (): Promise<number> => {
      await owner.query('update sverka.source set cursor = null');
      const total: DepositPages = await new MockActivityEnvironment().run(pageDepositChanges, { ...SOURCE });
      return total.items;
    };
    // Once for nothing: the first change of a page after a checkpoint logs it whole.
    await turn();
    counter.take();
    let read = 0;
    const bytes = await walBytesOf(owner, async () => void (read = await turn()));
    const trips = counter.take();
    return [
      { what: 'WAL a known item', unit: 'bytes', value: bytes / read, budget: { atMost: 1_600 } },
      { what: 'round trips an item', unit: 'round trips', value: trips / read, budget: { atMost: 0.1 } },
    ];
  } finally {
    await Promise.all([providers.close(), pool.end()]);
    await counter.close();
  }
}
