import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { nudgeBalances } from '../../src/client/balances.js';
import { balanceSyncWorkflowId } from '../../src/contracts/ids.js';
import { createPool } from '../../src/db/pool.js';
import type { BenchContext, Benchmark, BenchResult, Cost } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { cursorAt } from '../support/cursor-at.js';
import { countEvents } from '../support/history.js';
import { memoryReadings, watchMemory } from '../support/memory.js';
import { type BenchProcess, startProcess } from '../support/processes.js';
import { compare, type Round } from '../support/rounds.js';
import { BALANCES } from '../support/settings.js';
import { shortNumber, spreadOf } from '../support/statistics.js';
import { checkpoint } from '../support/wal.js';
import { startWorkerProcess, type WorkerProcess } from '../support/worker-process.js';
import { changesCosts } from './changes-costs.js';

const SIZES = { small: [5_000, 20_000], full: [100_000, 1_000_000] } as const;
const ADDRESSES = 5_000;
/** At least five of each size: a round of the large one takes a minute. */
const ROUNDS_MAX = 5;
const LOOK_MS = 20;
const ENDED_WITHIN_MS = 600_000;

export const changesBenchmark: Benchmark = {
  name: 'changes',
  about: 'a journal of changes paged into the mirror by its workflow, against one INSERT ... SELECT of the same rows',
  async run(context) {
    const { servers } = context;
    const costs = await changesCosts(context);
    const database = await servers.openDatabase('changes');
    const owner = createPool(database.url, { max: 2, applicationName: 'bench' });
    const namespace = await servers.openNamespace('changes');
    const journal = await startProcess(servers, { file: 'bench/pert-pages.ts', name: 'pert-pages' });
    let worker: WorkerProcess | undefined;
    try {
      const order = { items: SIZES[context.size][1], addresses: ADDRESSES };
      const { url: pertUrl } = (await journal.ask(order)) as { url: string };
      const of = { database, namespace, taskQueue: 'bench-changes', custodyUrl: 'http://127.0.0.1:9', pertUrl };
      worker = await startWorkerProcess(servers, { file: 'src/worker.ts', ...of });
      return await measure({ context, owner, journal, worker, passes: [] }, costs);
    } finally {
      await worker?.stop();
      await journal.stop();
      await owner.end();
      await database.drop();
    }
  },
};

interface Pass {
  readonly items: number;
  readonly seconds: number;
  readonly events: number;
  readonly memory: readonly number[];
}

interface World {
  readonly context: BenchContext;
  readonly owner: pg.Pool;
  readonly journal: BenchProcess;
  readonly worker: WorkerProcess;
  readonly passes: Pass[];
}

async function measure(world: World, costs: readonly Cost[]): Promise<BenchResult> {
  const { context, owner, journal, passes } = world;
  await journal.ask({ head: 0 });
  await runCheck(world, 'rebased');
  const [some, many] = SIZES[context.size];
  await stage(world, many);
  const of = (items: number) =>
    compare(
      { ...context, rounds: Math.min(context.rounds, ROUNDS_MAX) },
      {
        what: `changes, ${shortNumber(items)} new items`,
        unit: 'items/s',
        floorIs: 'one INSERT ... SELECT of the same rows inside the server',
        target: { atLeast: 0.35 },
        before: () => checkpoint(owner),
        ours: () => oursRound(world, items),
        floor: () => floorRound(owner, items),
      },
    );
  const comparisons = [await of(some), await of(many)];
  const each = (items: number) => passes.filter((pass) => pass.items === items).slice(1);
  const [cheap, dear] = [each(some), each(many)].map((list) => spreadOf(list.map((p) => p.seconds / p.items)));
  const growth = (dear?.median ?? Number.NaN) / (cheap?.median ?? Number.NaN);
  const watched = { worker: world.worker.process.pid, provider: journal.pid, ...context.servers.pids };
  const cpu = await cpuSecondsOf(watched, async () => void (await oursRound(world, some)));
  const per10k = each(many).map(({ events, items }) => events / (items / 10_000));
  return {
    comparisons,
    costs,
    readings: [
      {
        what: `an item of ${shortNumber(many)} to one of ${shortNumber(some)}`,
        unit: 'times the time',
        spread: spreadOf([growth]),
        target: { atMost: 1.1 },
      },
      { what: 'Temporal events per 10 000 items', unit: 'events', spread: spreadOf(per10k), target: { atMost: 20 } },
      ...memoryReadings(each(many).map(({ memory }) => memory)),
    ],
    notes: [
      `${shortNumber(ADDRESSES)} addresses: each item moves one of them, every other one a treasury too`,
      `ms of CPU per 1 000 items: ${describeCpu(cpu, some / 1_000)}`,
    ],
  };
}

/** From an empty mirror at the beginning of the journal to a check that found the sums equal at its end. */
async function oursRound(world: World, items: number): Promise<Round> {
  const { owner, journal, worker, passes } = world;
  await journal.ask({ head: items });
  await rewind(owner);
  const id = balanceSyncWorkflowId(BALANCES);
  const before = await countEvents(worker.temporal, id, await firstRun(world));
  const memory = watchMemory(worker.process.pid);
  const began = performance.now();
  const read = await runCheck(world, 'healed');
  const seconds = (performance.now() - began) / 1_000;
  const after = await countEvents(worker.temporal, id, await firstRun(world));
  passes.push({ items, seconds, events: after.events - before.events, memory: memory.stop() });
  const stored = await count(owner, 'sverka.balance_transaction');
  const right = read === items && stored === items;
  return { value: items / seconds, wrong: right ? null : `${items} items: ${read} were read, ${stored} are stored` };
}

/** The mirror as it was after the first snapshot. */
async function rewind(owner: pg.Pool): Promise<void> {
  await owner.query(`begin;
    set local session_replication_role = replica;
    truncate sverka.balance_transaction, sverka.balance_address;
    update sverka.balance_source set base_cursor = '${cursorAt(0)}', base_number = base_number + 1;
    update sverka.balance_currency set moved = 0, seen = 0, base =
      (select (theirs->0->>'balance')::numeric from sverka.balance_check where result = 'rebased');
    update sverka.source set cursor = '${cursorAt(0)}' where feed = 'changes';
    commit`);
}

/** Asks for a check and waits for its end; answers how many changes it read. */
async function runCheck({ owner, worker }: World, wanted: string): Promise<number> {
  const ended = 'sverka.balance_check where finished_at is not null';
  const checks = await count(owner, ended);
  await owner.query(`update sverka.balance_source set asked = 'operator', next_check_at = clock_timestamp()`);
  await nudgeBalances(worker.temporal, BALANCES);
  for (const end = Date.now() + ENDED_WITHIN_MS; Date.now() < end; await pause(LOOK_MS)) {
    const { rows } = await owner.query<{ result: string; read: number; all: number }>(
      `select result, changes_read as read, (select count(*)::int from ${ended}) as all
       from ${ended} order by finished_at desc limit 1`,
    );
    const last = rows[0];
    if (last === undefined || last.all <= checks) continue;
    if (last.result !== wanted) throw new Error(`A check ended ${last.result}, not ${wanted}.`);
    return last.read;
  }
  throw new Error('A check did not end.');
}

let first: string | undefined;

async function firstRun({ worker }: World): Promise<string | undefined> {
  first ??= (await worker.temporal.client.workflow.getHandle(balanceSyncWorkflowId(BALANCES)).describe()).runId;
  return first;
}

/** The rows of the floor: the same that the mirror stores, in the order in which it stores them. */
async function stage(world: World, items: number): Promise<void> {
  const { owner } = world;
  await oursRound(world, items);
  await owner.query('create table staged as select * from sverka.balance_transaction order by version');
  await owner.query('create table copied (like sverka.balance_transaction including all)');
  world.passes.length = 0;
}

async function floorRound(owner: pg.Pool, items: number): Promise<Round> {
  await owner.query('truncate copied');
  const began = performance.now();
  await owner.query('insert into copied select * from staged limit $1', [items]);
  const seconds = (performance.now() - began) / 1_000;
  const stored = await count(owner, 'copied');
  return { value: items / seconds, wrong: stored === items ? null : `${stored} of ${items} rows were copied` };
}

async function count(owner: pg.Pool, table: string): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(`select count(*)::int as count from ${table}`);
  return rows[0]?.count ?? 0;
}
