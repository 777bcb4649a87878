import type pg from 'pg';
import { Retryable, Unavailable } from '../../src/db/errors.js';
import { type PostResult, post } from '../../src/db/journal.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { MovementInstruction } from '../../src/domain/journal.js';
import { createBatcher } from '../../src/http/relay/batcher.js';
import type { Benchmark, Cost } from '../support/benchmark.js';
import { countMovements, creditOf, openPurses, type Purse, whatIsWrong } from '../support/ledger.js';
import { compare, type Round, runCallers } from '../support/rounds.js';
import { checkpoint, walBytesOf } from '../support/wal.js';

const CALLERS = 128;
/** More connections only wait for the same account (JOURNAL.md). */
const CONNECTIONS = 16;
const SIZES = { small: { together: 6_000, alone: 800 }, full: { together: 40_000, alone: 4_000 } };

type Credit = (movement: MovementInstruction) => Promise<PostResult | undefined>;

export const hotBenchmark: Benchmark = {
  name: 'hot',
  about: 'credits of one wallet by 128 callers, posted together, against one by one',
  async run(context) {
    const database = await context.servers.openDatabase('hot');
    const owner = createPool(database.url, { max: 2, applicationName: 'bench' });
    const worker = createPool(database.urlFor('worker'), { max: CONNECTIONS, applicationName: 'bench-worker' });
    const tx = queriesOf(worker);
    const alone: Credit = async (movement) => (await post(tx, [movement], { traceId: null }))[0];
    let calls = 0;
    const together: Credit = createBatcher(
      (batch: readonly MovementInstruction[]) => {
        calls += 1;
        return post(tx, batch, { traceId: null });
      },
      { isOutage: (error) => error instanceof Unavailable || error instanceof Retryable, lanes: 1 },
    );
    try {
      const { together: many, alone: few } = SIZES[context.size];
      const [warm, cold] = await openPurses(worker, 2);
      if (!warm || !cold) throw new Error('The accounts were not opened.');
      const round = { purse: warm, operations: many, credit: together };
      await creditAll(round);
      calls = 0;
      const bytes = await walBytesOf(owner, async () => void (await creditAll(round)));
      const trips = calls / many;
      const comparison = await compare(context, {
        what: `one wallet, ${CALLERS} callers`,
        unit: 'credits/s',
        floorIs: 'the same credits one by one',
        target: { atLeast: 8 },
        before: () => checkpoint(owner),
        ours: () => timed(owner, round),
        floor: () => timed(owner, { purse: cold, operations: few, credit: alone }),
      });
      const costs: Cost[] = [
        { what: 'WAL a credit, together', unit: 'bytes', value: bytes / many, budget: { atMost: 1_500 } },
        { what: 'round trips a credit, together', unit: 'round trips', value: trips, budget: { atMost: 0.05 } },
      ];
      return { comparisons: [comparison], costs, readings: [], notes: [] };
    } finally {
      await Promise.all([owner.end(), worker.end()]);
      await database.drop();
    }
  },
};

interface HotRound {
  readonly purse: Purse;
  readonly operations: number;
  readonly credit: Credit;
}

async function timed(owner: pg.Pool, round: HotRound): Promise<Round> {
  const before = await countMovements(owner);
  const seconds = await creditAll(round);
  const wrong = await whatIsWrong(owner, { before, added: round.operations, purses: [round.purse] });
  return { value: round.operations / seconds, wrong };
}

function creditAll({ purse, operations, credit }: HotRound): Promise<number> {
  return runCallers({
    callers: CALLERS,
    operations,
    work: async () => {
      const result = await credit(creditOf(purse));
      if (result?.outcome !== 'posted') throw new Error(`A credit was ${result?.outcome}, not posted.`);
    },
  });
}
