import type pg from 'pg';
import { hashOperationKey, post } from '../../src/db/journal.js';
import { hashParts } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf, type Tx } from '../../src/db/transaction.js';
import { bodyParts } from '../../src/domain/journal.js';
import type { BenchContext, Benchmark, BenchResult, Comparison, Cost } from '../support/benchmark.js';
import { cpuSecondsOf, describeCpu } from '../support/cpu.js';
import { countMovements, creditOf, openPurses, type Purse, whatIsWrong } from '../support/ledger.js';
import { countRoundTrips } from '../support/round-trips.js';
import { compare, type Round, runCallers } from '../support/rounds.js';
import type { BenchDatabase } from '../support/servers.js';
import { shortNumber } from '../support/statistics.js';
import { checkpoint, walBytesOf } from '../support/wal.js';

const CALLERS = 16;
const SIZES = {
  small: { one: 400, sixteen: 1_600, costs: 1_000 },
  full: { one: 3_000, sixteen: 16_000, costs: 4_000 },
};
/** Movements before the log is measured: a page's first change after a checkpoint logs the whole page. */
const WARMING = 2_000;
/** What a role of ours is bound by, for a floor that no role may run. */
const LIMITS = '-c statement_timeout=5s -c lock_timeout=2s';

export const postBenchmark: Benchmark = {
  name: 'post',
  about: 'one movement of two legs by ledger.post, against inserting the same three rows in one statement',
  async run(context) {
    const database = await context.servers.openDatabase('post');
    const owner = createPool(database.url, { max: CALLERS, applicationName: 'bench' });
    const floor = createPool(withOptions(database.url), { max: CALLERS, applicationName: 'bench-floor' });
    const worker = createPool(database.urlFor('worker'), { max: CALLERS, applicationName: 'bench-worker' });
    try {
      const side = { owner, floor, worker, database };
      return await measure(context, side);
    } finally {
      await Promise.all([owner.end(), floor.end(), worker.end()]);
      await database.drop();
    }
  },
};

interface Sides {
  readonly owner: pg.Pool;
  readonly floor: pg.Pool;
  readonly worker: pg.Pool;
  readonly database: BenchDatabase;
}

async function measure(context: BenchContext, sides: Sides): Promise<BenchResult> {
  const { one, sixteen, costs } = SIZES[context.size];
  // First, in an empty journal: what is logged later depends on how many pages a checkpoint lies behind.
  const costed = await costsOf(sides, costs);
  const notes: string[] = [];
  const comparisons = [
    await compareCallers(context, sides, { callers: CALLERS, operations: sixteen, notes }),
    await compareCallers(context, sides, { callers: 1, operations: one, notes }),
  ];
  return { comparisons, costs: costed, readings: [], notes };
}

/** Each caller has a merchant of his own on either side: nothing is hot, and the floor's caller knows his balances. */
async function compareCallers(
  context: BenchContext,
  { owner, floor, worker }: Sides,
  { callers, operations, notes }: { callers: number; operations: number; notes: string[] },
): Promise<Comparison> {
  const purses = await openPurses(worker, callers);
  const bare = (await openPurses(worker, callers)).map((purse) => ({ purse, seq: 0n }));
  const tx = queriesOf(worker);
  const bareTx = queriesOf(floor);
  const ours = () => timed(owner, { callers, operations, purses, work: (caller) => postOne(tx, purses[caller]) });
  const floorPurses = bare.map(({ purse }) => purse);
  const inserted = () =>
    timed(owner, { callers, operations, purses: floorPurses, work: (caller) => insertOne(bareTx, bare[caller]) });
  const what = `post, ${callers} caller${callers > 1 ? 's' : ''}`;
  const comparison = await compare(context, {
    what,
    unit: 'movements/s',
    floorIs: 'bare inserts of the same rows',
    target: { atLeast: 0.5 },
    before: () => checkpoint(owner),
    ours,
    floor: inserted,
  });
  const watched = { postgres: context.servers.pids.postgres, callers: process.pid };
  const cpuOf = async (work: () => Promise<unknown>) =>
    describeCpu(await cpuSecondsOf(watched, async () => void (await work())), operations);
  notes.push(`${what}, ms of CPU a movement: ${await cpuOf(ours)}; bare: ${await cpuOf(inserted)}`);
  return comparison;
}

async function timed(
  owner: pg.Pool,
  round: { callers: number; operations: number; purses: readonly Purse[]; work: (caller: number) => Promise<unknown> },
): Promise<Round> {
  const before = await countMovements(owner);
  const seconds = await runCallers(round);
  const wrong = await whatIsWrong(owner, { before, added: round.operations, purses: round.purses });
  return { value: round.operations / seconds, wrong };
}

async function postOne(tx: Tx, purse: Purse | undefined): Promise<void> {
  if (!purse) throw new Error('A caller has no accounts.');
  const [result] = await post(tx, [creditOf(purse)], { traceId: null });
  if (result?.outcome !== 'posted') throw new Error(`A movement was ${result?.outcome}, not posted.`);
}

/** The same rows, computed by the caller, with no lock, no look at a balance and no check of anything. */
async function insertOne(tx: Tx, of: { purse: Purse; seq: bigint } | undefined): Promise<void> {
  if (!of) throw new Error('A caller has no accounts.');
  const movement = creditOf(of.purse);
  of.seq += 1n;
  await tx.query(
    `with m as (
       insert into ledger.movement (key, body_hash, book, merchant_id, kind, subject_type, subject_id, generation)
       values ($1, $2, 'live', $3, $4, $5, $6, 0) returning id)
     insert into ledger.entry (account_id, seq, movement_id, amount, balance)
       select x.account_id, $7::bigint, m.id, x.amount, x.balance
         from m, (values ($8::bigint, -1, -$7::numeric), ($9::bigint, 1, $7::numeric)) x(account_id, amount, balance)`,
    [
      hashOperationKey(movement.key),
      hashParts(bodyParts(movement)),
      of.purse.merchantId,
      movement.kind,
      movement.subject.type,
      movement.subject.id,
      of.seq,
      of.purse.clearing,
      of.purse.wallet,
    ],
  );
}

async function costsOf({ owner, worker, database }: Sides, operations: number): Promise<Cost[]> {
  const [purse] = await openPurses(worker, 1);
  const counter = await countRoundTrips(database.urlFor('worker'));
  const counted = createPool(counter.url, { max: 1, applicationName: 'bench-counted' });
  try {
    const tx = queriesOf(counted);
    const postMany = async (count: number) => {
      for (let n = 0; n < count; n += 1) await postOne(tx, purse);
    };
    await postMany(WARMING);
    await checkpoint(owner);
    const fresh = await walBytesOf(owner, () => postMany(operations));
    await postMany(WARMING);
    counter.take();
    const steady = await walBytesOf(owner, () => postMany(operations));
    const trips = counter.take();
    return [
      { what: 'WAL a movement', unit: 'bytes', value: steady / operations, budget: { atMost: 1_600 } },
      {
        what: `WAL a movement, the first ${shortNumber(operations)} after a checkpoint`,
        unit: 'bytes',
        value: fresh / operations,
        budget: null,
      },
      { what: 'round trips a movement', unit: 'round trips', value: trips / operations, budget: { atMost: 1 } },
    ];
  } finally {
    await counted.end();
    await counter.close();
  }
}

function withOptions(url: string): string {
  const changed = new URL(url);
  changed.searchParams.set('options', LIMITS);
  return changed.href;
}
