import { readBalances } from '../../src/db/accounts.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf, type Tx } from '../../src/db/transaction.js';
import { readWallet } from '../../src/db/wallets.js';
import type { BenchContext, Benchmark, Cost } from '../support/benchmark.js';
import { fillPurse, openPurses, type Purse } from '../support/ledger.js';
import { countRoundTrips } from '../support/round-trips.js';
import { compare, type Round } from '../support/rounds.js';
import type { BenchDatabase } from '../support/servers.js';
import { quantileOf, shortNumber } from '../support/statistics.js';

const SIZES = { small: { entries: 100_000, reads: 300 }, full: { entries: 1_000_000, reads: 2_000 } };
const FLOOR_ENTRIES = 10_000;
const TARGET = { atMost: 1.5 };

export const balanceBenchmark: Benchmark = {
  name: 'balance',
  about: 'reading a balance of an account with a million entries, against one with ten thousand',
  async run(context) {
    const { entries, reads } = SIZES[context.size];
    const [large, little] = [await openJournal(context, entries), await openJournal(context, FLOOR_ENTRIES)];
    try {
      const contest = {
        unit: 'ms a read',
        floorIs: `the same at ${shortNumber(FLOOR_ENTRIES)} entries`,
        target: TARGET,
      };
      const comparisons = [
        await compare(context, {
          ...contest,
          what: `balance of an account, ${shortNumber(entries)} entries`,
          ours: () => timed(large, reads, readOne),
          floor: () => timed(little, reads, readOne),
        }),
        await compare(context, {
          ...contest,
          what: `wallet as the API shows it, ${shortNumber(entries)} entries`,
          ours: () => timed(large, reads, readShown),
          floor: () => timed(little, reads, readShown),
        }),
        await compare(context, {
          what: `balance of an account, ${shortNumber(entries)} entries`,
          unit: 'ms a read',
          floorIs: 'an empty round trip',
          target: null,
          ours: () => timed(large, reads, readOne),
          floor: () => timed(large, reads, readNothing),
        }),
      ];
      return { comparisons, costs: await costsOf(large), readings: [], notes: [] };
    } finally {
      await Promise.all([large.close(), little.close()]);
    }
  },
};

/** A database with one busy wallet: its clearing account has as many entries again. */
interface Journal {
  readonly database: BenchDatabase;
  readonly tx: Tx;
  readonly purse: Purse;
  readonly entries: number;
  close(): Promise<void>;
}

async function openJournal(context: BenchContext, entries: number): Promise<Journal> {
  const database = await context.servers.openDatabase('balance');
  const owner = createPool(database.url, { max: 1, applicationName: 'bench' });
  const worker = createPool(database.urlFor('worker'), { max: 1, applicationName: 'bench-worker' });
  const [purse] = await openPurses(worker, 1);
  if (!purse) throw new Error('The accounts were not opened.');
  context.say(`balance: writing ${shortNumber(entries)} movements`);
  await fillPurse(owner, { purse, entries });
  await owner.end();
  return {
    database,
    purse,
    entries,
    tx: queriesOf(worker),
    async close() {
      await worker.end();
      await database.drop();
    },
  };
}

/** A read that answers what stands there; null when it does not look. */
type Read = (journal: Journal) => Promise<bigint | null>;

const readOne: Read = async ({ tx, purse }) =>
  (await readBalances(tx, [purse.wallet])).get(purse.wallet)?.balance ?? 0n;

const readShown: Read = async ({ tx, purse }) => {
  const { balances } = await readWallet(tx, { book: 'live', merchantId: purse.merchantId, customerId: null });
  return balances[0]?.available ?? 0n;
};

const readNothing: Read = async ({ tx }) => {
  await tx.query('select 1');
  return null;
};

async function timed(journal: Journal, reads: number, read: Read): Promise<Round> {
  const times: number[] = [];
  let wrong: string | null = null;
  for (let n = 0; n < reads; n += 1) {
    const began = performance.now();
    const shown = await read(journal);
    times.push(performance.now() - began);
    if (shown !== null && shown !== BigInt(journal.entries)) wrong = `a balance of ${shown}, not ${journal.entries}`;
  }
  return { value: quantileOf(times, 0.5), wrong };
}

async function costsOf({ database, purse, entries }: Journal): Promise<Cost[]> {
  const counter = await countRoundTrips(database.urlFor('worker'));
  const pool = createPool(counter.url, { max: 1, applicationName: 'bench-counted' });
  try {
    await pool.query('select 1');
    counter.take();
    await readBalances(queriesOf(pool), [purse.wallet]);
    const trips = counter.take();
    return [
      { what: 'round trips a balance', unit: 'round trips', value: trips, budget: { atMost: 1 } },
      {
        what: `pages read for a balance of ${shortNumber(entries)} entries`,
        unit: 'pages',
        value: await pagesRead(database, purse),
        budget: { atMost: 20 },
      },
    ];
  } finally {
    await pool.end();
    await counter.close();
  }
}

/** What the plan touches, hit or read: the same on every machine. */
async function pagesRead(database: BenchDatabase, purse: Purse): Promise<number> {
  const pool = createPool(database.urlFor('worker'), { max: 1, applicationName: 'bench-explain' });
  try {
    const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(
      'explain (analyze, buffers, format json) select balance from ledger.account_balance where account_id = any ($1)',
      [[purse.wallet]],
    );
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan;
    return (plan?.['Shared Hit Blocks'] ?? 0) + (plan?.['Shared Read Blocks'] ?? 0);
  } finally {
    await pool.end();
  }
}
