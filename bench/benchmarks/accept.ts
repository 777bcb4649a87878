import { join } from 'node:path';
import type pg from 'pg';
import { createPool } from '../../src/db/pool.js';
import { freePort } from '../../src/local/ports.js';
import type { LoadOrder, LoadReport } from '../load.js';
import type { BenchContext, Benchmark, BenchResult, Cost } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { type BenchProcess, startProcess } from '../support/processes.js';
import { countRoundTrips, type RoundTripCounter } from '../support/round-trips.js';
import { compare, type Round } from '../support/rounds.js';
import type { BenchDatabase } from '../support/servers.js';
import { CUSTODY, settingsFor } from '../support/settings.js';
import { shortNumber, spreadOf } from '../support/statistics.js';
import { checkpoint, walBytesOf } from '../support/wal.js';

const CONNECTIONS = 64;
const SIZES = { small: { ours: 1_000, floor: 2_000 }, full: { ours: 10_000, floor: 20_000 } };
/** Nudges are coalesced per deposit, so few deposits mean few calls to Temporal; both sides make the same. */
const DEPOSITS = Array.from({ length: 4 }, (_, at) => `cdp_bench${at}`);
/** Never reached: what is measured is the server, not its limiter. */
const RATE_LIMIT = '1000000';

interface Relay {
  readonly process: BenchProcess;
  readonly url: string;
}

export const acceptBenchmark: Benchmark = {
  name: 'accept',
  about: 'a webhook verified, stored and answered, against the same server that stores nothing',
  async run(context) {
    const { servers } = context;
    const database = await servers.openDatabase('accept');
    const owner = createPool(database.url, { max: 2, applicationName: 'bench' });
    const namespace = await servers.openNamespace('accept');
    const counter = await countRoundTrips(database.urlFor('relay'));
    const start = (name: string, file: string, url?: string) =>
      startRelay(context, { name, file, database, namespace, databaseUrl: url ?? database.urlFor('relay') });
    const started: BenchProcess[] = [];
    const keep = (relay: Relay) => {
      started.push(relay.process);
      return relay;
    };
    try {
      const load = await startProcess(servers, { file: 'bench/load.ts', name: 'load' });
      started.push(load);
      const ours = keep(await start('relay', 'src/relay.ts'));
      const floor = keep(await start('relay-without-database', 'bench/relay-without-database.ts'));
      const counted = keep(await start('relay-counted', 'src/relay.ts', counter.url));
      return await measure(context, { owner, load, ours, floor, counted, counter });
    } finally {
      await Promise.all(started.map((each) => each.stop()));
      await counter.close();
      await owner.end();
      await database.drop();
    }
  },
};

interface Parts {
  readonly owner: pg.Pool;
  readonly load: BenchProcess;
  readonly ours: Relay;
  readonly floor: Relay;
  readonly counted: Relay;
  readonly counter: RoundTripCounter;
}

async function measure(context: BenchContext, parts: Parts): Promise<BenchResult> {
  const { owner, load, ours, floor } = parts;
  const sizes = SIZES[context.size];
  const reports: { ours: LoadReport[]; floor: LoadReport[] } = { ours: [], floor: [] };
  const timed = async (side: 'ours' | 'floor', relay: Relay): Promise<Round> => {
    const before = await countRows(owner);
    const report = await loadOf(load, { relay, requests: sizes[side] });
    reports[side].push(report);
    const stored = (await countRows(owner)) - before;
    return { value: report.accepted / report.seconds, wrong: wrongOf(report, { sent: sizes[side], stored, side }) };
  };
  const costs = await costsOf(parts, sizes.ours);
  const comparison = await compare(context, {
    what: `accept, ${CONNECTIONS} connections`,
    unit: 'requests/s',
    floorIs: 'the same server without the database',
    target: { atLeast: 0.5 },
    before: () => checkpoint(owner),
    ours: () => timed('ours', ours),
    floor: () => timed('floor', floor),
  });
  const cpu = await cpuOf(context, parts, sizes);
  return {
    comparisons: [comparison],
    costs,
    readings: [...timesOf('accept', reports.ours.slice(1)), ...timesOf('without the database', reports.floor.slice(1))],
    notes: [
      ...cpu,
      `load generator: ${shortNumber(spreadOf(reports.floor.map(({ cores }) => cores)).max)} cores at most`,
    ],
  };
}

function wrongOf(report: LoadReport, of: { sent: number; stored: number; side: 'ours' | 'floor' }): string | null {
  if (report.accepted !== of.sent) return `${report.accepted} of ${of.sent} were accepted (${report.refused})`;
  const wanted = of.side === 'ours' ? of.sent : 0;
  return of.stored === wanted ? null : `${of.stored} rows for ${wanted} notifications`;
}

function timesOf(what: string, reports: readonly LoadReport[]) {
  return (['p50', 'p99'] as const).map((name) => ({
    what: `${what}, ${name}`,
    unit: 'ms',
    spread: spreadOf(reports.map((report) => report[name])),
    target: null,
  }));
}

async function cpuOf(
  context: BenchContext,
  { load, ours, floor }: Parts,
  sizes: Readonly<Record<'ours' | 'floor', number>>,
): Promise<string[]> {
  const { pids } = context.servers;
  const of = async (side: 'ours' | 'floor', relay: Relay) => {
    const watched = { relay: relay.process.pid, load: load.pid, ...pids };
    const used = await cpuSecondsOf(watched, async () => void (await loadOf(load, { relay, requests: sizes[side] })));
    return describeCpu(used, sizes[side]);
  };
  return [
    `ms of CPU a request: ${await of('ours', ours)}`,
    `ms of CPU a request without the database: ${await of('floor', floor)}`,
  ];
}

async function costsOf({ owner, load, counted, counter }: Parts, requests: number): Promise<Cost[]> {
  await loadOf(load, { relay: counted, requests });
  counter.take();
  const bytes = await walBytesOf(owner, async () => void (await loadOf(load, { relay: counted, requests })));
  const trips = counter.take();
  return [
    { what: 'WAL a webhook', unit: 'bytes', value: bytes / requests, budget: { atMost: 1_200 } },
    { what: 'round trips a webhook', unit: 'round trips', value: trips / requests, budget: { atMost: 0.2 } },
  ];
}

async function loadOf(
  load: BenchProcess,
  { relay, requests }: { relay: Relay; requests: number },
): Promise<LoadReport> {
  const { url } = relay;
  const order: LoadOrder = { url, requests, secret: CUSTODY.secret, connections: CONNECTIONS, deposits: DEPOSITS };
  return (await load.ask(order)) as LoadReport;
}

async function countRows(owner: pg.Pool): Promise<number> {
  const { rows } = await owner.query<{ count: string }>('select count(*)::text as count from sverka.inbox');
  return Number(rows[0]?.count ?? 0);
}

async function startRelay(
  { servers }: BenchContext,
  of: { name: string; file: string; database: BenchDatabase; namespace: string; databaseUrl: string },
): Promise<Relay> {
  const port = await freePort();
  const { database, namespace, name, file } = of;
  const env = {
    ...settingsFor(servers, {
      database,
      namespace,
      role: 'relay',
      taskQueue: 'bench',
      custodyUrl: 'http://127.0.0.1:9',
    }),
    DATABASE_URL: of.databaseUrl,
    SVERKA_RELAY_PORT: String(port),
    SVERKA_RELAY_RATE_LIMIT: RATE_LIMIT,
    SVERKA_LOG_FILE: join(servers.folder, `${name}.jsonl`),
  };
  const started = await startProcess(servers, { name, file, env });
  return { process: started, url: `http://127.0.0.1:${port}/hooks/custody/${CUSTODY.account}` };
}
