import type pg from 'pg';
import { createLoginLink } from '../../src/db/login-links.js';
import { newId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { openLink, type PageReader } from '../../src/demo/page-reader.js';
import { loginLink } from '../../src/local/login-file.js';
import { freePort } from '../../src/local/ports.js';
import type { BenchContext, Benchmark } from '../support/benchmark.js';
import { fillPurse, openPurses } from '../support/ledger.js';
import { OPEN_ITEMS, writeSubjects } from '../support/open-items.js';
import { type BenchProcess, startProcess } from '../support/processes.js';
import { compare, type Round } from '../support/rounds.js';
import { settingsFor } from '../support/settings.js';
import { quantileOf, shortNumber } from '../support/statistics.js';

const SIZES = { small: { movements: 100_000, reads: 60 }, full: { movements: 1_000_000, reads: 200 } };
const FLOOR_MOVEMENTS = 10_000;
const HOME = { atMost: 2 };
const STATEMENT = { atMost: 1.5 };
/** Of the statement's length: the oldest lines but a page or so. */
const DEPTH = 0.99;

export const pagesBenchmark: Benchmark = {
  name: 'pages',
  about: 'the console’s home with ten thousand open items, and the statement at any depth, over a large journal',
  async run(context) {
    const { movements, reads } = SIZES[context.size];
    const [large, little] = [await openPages(context, movements), await openPages(context, FLOOR_MOVEMENTS)];
    try {
      const comparisons = [
        await compare(context, {
          what: `console home, ${shortNumber(movements)} movements, ${shortNumber(OPEN_ITEMS)} open items, p95`,
          unit: 'ms a page',
          floorIs: `the same at ${shortNumber(FLOOR_MOVEMENTS)} movements`,
          target: HOME,
          ours: () => timed(large.operator, { path: '/operator', reads, holds: 'withdrawals' }),
          floor: () => timed(little.operator, { path: '/operator', reads, holds: 'withdrawals' }),
        }),
        await compare(context, {
          what: `statement, ${shortNumber(movements)} movements, at ${DEPTH * 100} % of its depth, p95`,
          unit: 'ms a page',
          floorIs: 'its first page',
          target: STATEMENT,
          ours: () => timed(large.requester, { path: large.deepPage, reads, holds: 'movements/mov_' }),
          floor: () => timed(large.requester, { path: large.firstPage, reads, holds: 'movements/mov_' }),
        }),
      ];
      return { comparisons, costs: [], readings: [], notes: [] };
    } finally {
      await large.close();
      await little.close();
    }
  },
};

interface Pages {
  readonly operator: PageReader;
  readonly requester: PageReader;
  readonly firstPage: string;
  readonly deepPage: string;
  close(): Promise<void>;
}

/** A database with so many movements of one merchant, and both processes of pages over it. */
async function openPages(context: BenchContext, movements: number): Promise<Pages> {
  const { servers } = context;
  const database = await servers.openDatabase('pages');
  const owner = createPool(database.url, { max: 1, applicationName: 'bench' });
  context.say(`pages: writing ${shortNumber(movements)} movements and as many deposits`);
  const [purse] = await openPurses(owner, 1);
  if (!purse) throw new Error('The accounts were not opened.');
  await owner.query('select sverka.create_merchant($1, $2)', [purse.merchantId, 'A merchant']);
  await fillPurse(owner, { purse, entries: movements });
  await writeSubjects(owner, movements);
  const namespace = await servers.openNamespace('pages');
  const settings = (role: 'console' | 'cabinet') => ({
    ...settingsFor(servers, { database, role, namespace, taskQueue: 'bench', custodyUrl: 'http://127.0.0.1:9' }),
    SVERKA_LOCAL_LINKS: 'on',
  });
  const console_ = await startPages(context, 'console', settings('console'));
  const cabinet = await startPages(context, 'cabinet', settings('cabinet'));
  const operator = await signIn(owner, console_, { login: 'bench-operator', merchantId: null });
  const requester = await signIn(owner, cabinet, { login: 'bench-reader', merchantId: purse.merchantId });
  const firstPage = '/cabinet/statement?asset=EUR';
  return {
    ...{ operator, requester, firstPage },
    // A page begins behind the place of its `after` in the account.
    deepPage: `${firstPage}&after=${Math.round(movements * (1 - DEPTH))}`,
    async close() {
      await console_.process.stop();
      await cabinet.process.stop();
      await owner.end();
      await database.drop();
    },
  };
}

interface Served {
  readonly process: BenchProcess;
  readonly origin: string;
  readonly at: '/operator' | '/cabinet';
}

async function startPages(
  { servers }: BenchContext,
  name: 'console' | 'cabinet',
  settings: Readonly<Record<string, string>>,
): Promise<Served> {
  const [port, opsPort] = [String(await freePort()), String(await freePort())];
  const origin = `http://127.0.0.1:${port}`;
  const upper = name.toUpperCase();
  const own = { [`SVERKA_${upper}_PORT`]: port, [`SVERKA_${upper}_URL`]: origin, SVERKA_OPS_PORT: opsPort };
  const process = await startProcess(servers, { file: `src/${name}.ts`, name, env: { ...settings, ...own } });
  return { process, origin, at: name === 'console' ? '/operator' : '/cabinet' };
}

async function signIn(
  owner: pg.Pool,
  { origin, at }: Served,
  { login, merchantId }: { login: string; merchantId: string | null },
): Promise<PageReader> {
  const roles = merchantId === null ? ['operator'] : ['requester'];
  await owner.query('select sverka.create_user($1, $2, $3, $4)', [newId('user'), login, merchantId, roles]);
  const token = (await createLoginLink(queriesOf(owner), login)) ?? '';
  return openLink(loginLink(origin + at, token), login);
}

/** The 95th percentile of one reader's pages; void where a page is not the one that was asked for. */
async function timed(
  reader: PageReader,
  { path, reads, holds }: { path: string; reads: number; holds: string },
): Promise<Round> {
  const times: number[] = [];
  let wrong: string | null = null;
  for (let n = 0; n < reads; n += 1) {
    const began = performance.now();
    const { status, text } = await reader.get(path);
    times.push(performance.now() - began);
    if (status !== 200 || !text.includes(holds)) wrong = `${path} was answered ${status}`;
  }
  return { value: quantileOf(times, 0.95), wrong };
}
