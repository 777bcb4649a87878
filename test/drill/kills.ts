import { setTimeout as pause } from 'node:timers/promises';
import { createDepositActivities } from '../../src/activities/deposits.js';
import { depositInput } from '../support/worker-rows.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';
import { addressesAtProvider, addressesInRows } from './address-truth.js';
import { allAtIssuer, allOfOurs, readCardsAgain } from './card-truth.js';
import { emptyTally, type Tally } from './cells.js';
import { depositsAtProvider, depositsInJournal } from './deposit-truth.js';
import type { Flow } from './flow.js';
import { differences, findRepeats, findViolations } from './invariants.js';
import { decideUnknown } from './issuance-truth.js';
import { type Load, startLoad } from './load.js';
import { NOT_UNWELL } from './lost-answers.js';
import { type ProductWorker, startProductWorker } from './product-worker.js';
import { createRandom, shuffled } from './random.js';
import type { DrillServers } from './servers.js';

const KINDS = ['worker', 'PostgreSQL', 'Temporal', 'Temporal and its store'] as const;
type Kind = (typeof KINDS)[number];

const SETTINGS = {
  SVERKA_SWEEP_INTERVAL: '200ms',
  SVERKA_SWEEP_GRACE: '500ms',
  SVERKA_STRANDED_AGE: '2s',
  SVERKA_SWEEP_LEASE: '5s',
  SVERKA_STANDING_INTERVAL: '2s',
  SVERKA_RECONCILE_INTERVAL: '5s',
  SVERKA_DEPOSIT_POLL_INTERVAL: '5s',
  SVERKA_ISSUANCE_POLL_INTERVAL: '3s',
  SVERKA_DATABASE_POOL: '20',
  ...NOT_UNWELL,
};
/** How long a kill waits for a moment at which it meets something: a killed Temporal may take its time. */
const MOMENT_MS = 90_000;
const QUIET_MS = 2_000;
/** What every load must hold some of, however short. */
const ASKED_FOR = ['deposit', 'card', 'load'] as const;
const SETTLED_WITHIN_MS = 120_000;

/** A slow issuer takes so long, and every new card is missing from reads for a while. */
const ISSUER_TIMES = { lag_ms: 200, async_ms: 1_500 };

/** Deposits, addresses and cards with all that is done to them. */
const ALL: Pick<Flow, 'truth' | 'ours'> = {
  truth: async (world) => [
    ...(await depositsAtProvider(world)),
    ...(await addressesAtProvider(world)),
    ...(await allAtIssuer(world)),
  ],
  ours: async (world) => [
    ...(await depositsInJournal(world)),
    ...(await addressesInRows(world)),
    ...(await allOfOurs(world)),
  ],
};

export interface KillOptions {
  readonly servers: DrillServers;
  readonly bundlePath: string;
  readonly seed: number;
  readonly minutes: number;
  readonly say: (line: string) => void;
}

/** Kills the product's worker, PostgreSQL and Temporal at random under load; then all must come to its end. */
export async function runKills(options: KillOptions): Promise<Tally> {
  const tally = emptyTally();
  const repeat = `npm run drill -- --flow load --seed ${options.seed} --minutes ${options.minutes}`;
  const world = await openWorkerWorld({ settings: SETTINGS });
  await widenCommits(world);
  await world.issuer.drive('POST', '/_sim/times', ISSUER_TIMES);
  const worker = await startProductWorker(world, options.bundlePath);
  const random = createRandom(options.seed);
  const load = await startLoad(world, random);
  try {
    const kill = createKill({ world, worker, servers: options.servers, tally });
    for (const end = Date.now() + options.minutes * 60_000; tally.cells === 0 || Date.now() < end; ) {
      for (const kind of shuffled(KINDS, random)) {
        await pause(QUIET_MS * (0.5 + random()));
        const missed = await kill(kind);
        options.say(`  killed: ${kind}${missed === null ? '' : ` (${missed})`}`);
        if (missed !== null) tally.voids.push({ what: `kill of ${kind}: ${missed}`, repeat });
      }
    }
    await load.stop();
    const counts = load.counts();
    tally.operations = Object.values(counts).reduce((sum, count) => sum + count, 0);
    options.say(`  asked for: ${JSON.stringify(counts)}`);
    tally.ambiguous += worker.failures()['CommitUnknown'] ?? 0;
    options.say(
      `  the worker failed by ${JSON.stringify(worker.failures())} and ended by itself ${worker.ended()} times`,
    );
    for (const what of ASKED_FOR) if (counts[what] === undefined) tally.voids.push({ what: `no ${what} came`, repeat });
    if (tally.ambiguous === 0) tally.voids.push({ what: 'no commit was in doubt', repeat });
    await settle(world, load);
    await worker.stop();
    const found = [...(await findViolations(world, ALL)), ...(await findRepeats(world, ALL, readAll(world)))];
    tally.violations.push(...found.map((what) => ({ what, repeat })));
  } catch (error) {
    tally.violations.push({ what: error instanceof Error ? error.message : String(error), repeat });
  } finally {
    await load.stop();
    await worker.stop();
    await world.close();
  }
  return tally;
}

/** A commit takes as long as on a slow disk, so that a kill meets some on their way. */
async function widenCommits({ owner, database }: WorkerWorld): Promise<void> {
  const role = new URL(database.urlFor('worker')).username;
  await owner.query(`alter role ${role} set commit_delay = 100000`);
  await owner.query(`alter role ${role} set commit_siblings = 0`);
}

interface Killing {
  readonly world: WorkerWorld;
  readonly worker: ProductWorker;
  readonly servers: DrillServers;
  readonly tally: Tally;
}

/** Answers null when the kill met something, else what it lacked. */
function createKill({ world, worker, servers, tally }: Killing): (kind: Kind) => Promise<string | null> {
  const kill = { worker: () => worker.kill(), PostgreSQL: servers.killPostgres } as const;
  return async (kind) => {
    tally.cells += 1;
    const moment = kind === 'worker' || kind === 'PostgreSQL' ? inCommit : inWork;
    const met = await untilMet(() => moment(world));
    if (kind === 'worker' || kind === 'PostgreSQL') await kill[kind]();
    else await servers.killTemporal(kind === 'Temporal' ? 'kept' : 'lost');
    tally.faults += 1;
    if (!met) return 'nothing was under way';
    tally.hit += 1;
    // A dead worker cannot say that it does not know.
    if (kind === 'worker') tally.ambiguous += 1;
    return null;
  };
}

/** The worker has sent a COMMIT that is not answered. */
async function inCommit({ owner }: WorkerWorld): Promise<boolean> {
  const { rowCount } = await owner.query(
    `select 1 from pg_stat_activity where datname = current_database() and application_name = 'sverka-worker'
       and state = 'active' and query = 'COMMIT'`,
  );
  return rowCount !== 0;
}

/** Something waits for a workflow. */
async function inWork({ owner }: WorkerWorld): Promise<boolean> {
  const { rowCount } = await owner.query(
    `select 1 from sverka.inbox where status = 'pending'
     union all select 1 from sverka.deposit where state in ('noticed', 'confirming')
     union all select 1 from sverka.card_change where outcome is null
     union all select 1 from sverka.card_load where state not in ('completed', 'failed')
     union all select 1 from sverka.issuance where state in ('reserved', 'submitted', 'pending', 'unknown') limit 1`,
  );
  return rowCount !== 0;
}

async function untilMet(ask: () => Promise<boolean>): Promise<boolean> {
  for (const end = Date.now() + MOMENT_MS; Date.now() < end; await pause(1)) {
    if (await ask().catch(() => false)) return true;
  }
  return false;
}

/**
 * Until the providers and we say the same; a merchant asks again for what he has not got, a person decides. On a busy
 * machine it takes as long as it takes: it is given up when nothing has moved for so long.
 */
async function settle(world: WorkerWorld, load: Load): Promise<void> {
  let left: string[] = [];
  for (let end = Date.now() + SETTLED_WITHIN_MS; Date.now() < end; await pause(500)) {
    await load.askAgain();
    await decideUnknown(world);
    const before = left.join();
    left = differences(await ALL.truth(world), await ALL.ours(world));
    if (left.length === 0 && (await world.owner.query(OPEN)).rowCount === 0) return;
    if (left.join() !== before) end = Date.now() + SETTLED_WITHIN_MS;
  }
  throw new Error(`For ${SETTLED_WITHIN_MS / 1_000} s nothing has moved: ${left.slice(0, 5).join('; ')}`);
}

/** What has no end yet and stands in no provider's truth. */
const OPEN = `select 1 from sverka.deposit_address where state not in ('active', 'failed')
  union all select 1 from sverka.issuance where state in ('reserved', 'submitted', 'pending', 'unknown')
  union all select 1 from sverka.card_load where state not in ('completed', 'failed')
  union all select 1 from sverka.card_change where outcome is null`;

function readAll(world: WorkerWorld) {
  const { providerReadDeposit } = createDepositActivities(world.deps);
  return {
    async again() {
      const { rows } = await world.owner.query<{ ref: string }>('select provider_ref as ref from sverka.deposit');
      for (const { ref } of rows) await providerReadDeposit({ ...depositInput(ref), absentMs: 0 });
      await readCardsAgain(world);
    },
  };
}
