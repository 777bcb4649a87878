import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { freePort } from '../../src/local/ports.js';
import type { LoadOrder, LoadReport } from '../load.js';
import type { BenchContext, Benchmark, BenchResult } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { type BenchProcess, startProcess } from '../support/processes.js';
import { compare, type Round } from '../support/rounds.js';
import type { BenchDatabase } from '../support/servers.js';
import { PERT, settingsFor } from '../support/settings.js';
import { shortNumber, spreadOf } from '../support/statistics.js';
import { checkpoint } from '../support/wal.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';

const CONNECTIONS = 64;
const SIZES = { small: 1_000, full: 10_000 } as const;
const ADDRESSES = 1_000;
const LOOK_MS = 20;
const APPLIED_WITHIN_MS = 120_000;

export const liveBenchmark: Benchmark = {
  name: 'live',
  about:
    'webhooks of balances through relay, inbox, drain and mirror, against the same relay whose inbox nobody drains',
  async run(context) {
    const { servers } = context;
    const [ours, floor] = [await openSide(context, 'live'), await openSide(context, 'live-undrained')];
    const load = await startProcess(servers, { file: 'bench/load.ts', name: 'load-live' });
    const journal = await startProcess(servers, { file: 'bench/pert-pages.ts', name: 'pert-pages-live' });
    let worker: WorkerProcess | undefined;
    try {
      const { url: pertUrl } = (await journal.ask({ items: 0, addresses: ADDRESSES })) as { url: string };
      const { database, namespace, taskQueue } = ours;
      const of = { database, namespace, taskQueue, custodyUrl: 'http://127.0.0.1:9', pertUrl };
      worker = await startWorkerProcess(servers, { file: 'src/worker.ts', ...of });
      return await measure({ context, ours, floor, load, worker, sent: 0, lags: [] });
    } finally {
      await worker?.stop();
      await Promise.all([load.stop(), journal.stop()]);
      for (const side of [ours, floor]) await side.close();
    }
  },
};

interface Side {
  readonly database: BenchDatabase;
  readonly owner: pg.Pool;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly relay: BenchProcess;
  readonly url: string;
  close(): Promise<void>;
}

/** A relay with a database and a queue of its own. */
async function openSide({ servers }: BenchContext, taskQueue: string): Promise<Side> {
  const database = await servers.openDatabase(taskQueue.replace('-', '_'));
  const owner = createPool(database.url, { max: 2, applicationName: 'bench' });
  const namespace = await servers.openNamespace(taskQueue);
  const port = await freePort();
  const at = { database, namespace, taskQueue, custodyUrl: 'http://127.0.0.1:9', pertUrl: 'http://127.0.0.1:9' };
  const relay = await startProcess(servers, {
    name: `relay-${taskQueue}`,
    file: 'src/relay.ts',
    env: {
      ...settingsFor(servers, { ...at, role: 'relay' }),
      SVERKA_RELAY_PORT: String(port),
      // Never reached: what is measured is the server, not its limiter.
      SVERKA_RELAY_RATE_LIMIT: '1000000',
      SVERKA_LOG_FILE: join(servers.folder, `relay-${taskQueue}.jsonl`),
    },
  });
  const url = `http://127.0.0.1:${port}/hooks/pert/${PERT.account}`;
  const close = async () => {
    await relay.stop();
    await owner.end();
    await database.drop();
  };
  return { database, owner, namespace, taskQueue, relay, url, close };
}

interface World {
  readonly context: BenchContext;
  readonly ours: Side;
  readonly floor: Side;
  readonly load: BenchProcess;
  readonly worker: WorkerProcess;
  /** Of all rounds so far: versions go on where the last one ended. */
  sent: number;
  /** Milliseconds from received to applied, the 99th of a hundred in each round. */
  readonly lags: { p50: number; p99: number }[];
}

async function measure(world: World): Promise<BenchResult> {
  const { context, ours, load, worker, lags } = world;
  const requests = SIZES[context.size];
  const comparison = await compare(context, {
    what: `live, ${CONNECTIONS} connections`,
    unit: 'items/s',
    floorIs: 'the same webhooks accepted by the same relay, drained by nobody',
    target: null,
    before: () => checkpoint(ours.owner),
    ours: () => oursRound(world, requests),
    floor: () => floorRound(world, requests),
  });
  const counted = lags.slice(1);
  const watched = { relay: ours.relay.pid, worker: worker.process.pid, load: load.pid, ...context.servers.pids };
  const cpu = await cpuSecondsOf(watched, async () => void (await oursRound(world, requests)));
  return {
    comparisons: [comparison],
    costs: [],
    readings: (['p50', 'p99'] as const).map((name) => ({
      what: `from received to applied, ${name}`,
      unit: 'ms',
      spread: spreadOf(counted.map((lag) => lag[name])),
      target: null,
    })),
    notes: [
      `${shortNumber(ADDRESSES)} addresses; the load is all that the relay takes, so the lag is that of a backlog`,
      `ms of CPU per 1 000 items: ${describeCpu(cpu, requests / 1_000)}`,
    ],
  };
}

/** From the first webhook sent to the last one applied. */
async function oursRound(world: World, requests: number): Promise<Round> {
  const { ours, lags } = world;
  const since = await clock(ours.owner);
  const began = performance.now();
  const report = await send(world, ours, requests);
  await untilApplied(ours.owner);
  const seconds = (performance.now() - began) / 1_000;
  const { rows } = await ours.owner.query<{ p50: number; p99: number }>(
    `select percentile_cont(0.5) within group (order by ms) as p50,
       percentile_cont(0.99) within group (order by ms) as p99
     from (select extract(epoch from done_at - received_at)::float8 * 1000 as ms from sverka.inbox
       where received_at >= $1) x`,
    [since],
  );
  lags.push({ p50: rows[0]?.p50 ?? Number.NaN, p99: rows[0]?.p99 ?? Number.NaN });
  return { value: requests / seconds, wrong: await wrongOf(world, report, requests) };
}

async function floorRound(world: World, requests: number): Promise<Round> {
  const report = await send(world, world.floor, requests);
  const wrong = report.accepted === requests ? null : `${report.accepted} of ${requests} (${report.refused})`;
  return { value: requests / report.seconds, wrong };
}

async function send(world: World, side: Side, requests: number): Promise<LoadReport> {
  const balances = { addresses: ADDRESSES, after: world.sent };
  world.sent += requests;
  const order: LoadOrder = { url: side.url, secret: PERT.secret, connections: CONNECTIONS, requests, balances };
  return (await world.load.ask(order)) as LoadReport;
}

async function untilApplied(owner: pg.Pool): Promise<void> {
  for (const end = Date.now() + APPLIED_WITHIN_MS; Date.now() < end; await pause(LOOK_MS)) {
    const { rows } = await owner.query<{ left: number }>(
      `select count(*)::int as left from sverka.inbox where status <> 'done'`,
    );
    if (rows[0]?.left === 0) return;
  }
  throw new Error('Webhooks were not applied in time.');
}

/** Every transaction is stored, and every address has the balance of the highest version that was told of it. */
async function wrongOf({ ours }: World, report: LoadReport, requests: number): Promise<string | null> {
  if (report.accepted !== requests) return `${report.accepted} of ${requests} were accepted (${report.refused})`;
  const { rows } = await ours.owner.query<{ missing: number; wrong: number }>(
    `select (select count(*)::int from sverka.inbox) - (select count(*)::int from sverka.balance_transaction) as missing,
       (select count(*)::int from (select distinct on (to_address) to_address, version, to_balance
           from sverka.balance_transaction order by to_address, version desc) t
         full join sverka.balance_address a on a.address = t.to_address
         where (a.balance, a.version) is distinct from (t.to_balance, t.version)) as wrong`,
  );
  const { missing = -1, wrong = -1 } = rows[0] ?? {};
  return missing === 0 && wrong === 0 ? null : `${missing} transactions are missing, ${wrong} addresses are wrong`;
}

async function clock(owner: pg.Pool): Promise<Date> {
  const { rows } = await owner.query<{ now: Date }>('select clock_timestamp() as now');
  return rows[0]?.now ?? new Date();
}
