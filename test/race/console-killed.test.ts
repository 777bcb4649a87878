import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type pg from 'pg';
import { createLoginLink } from '../../src/db/login-links.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { fieldOf, openLink, type PageReader } from '../../src/demo/page-reader.js';
import { loginLink } from '../../src/local/login-file.js';
import { freePort } from '../../src/local/ports.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { type ProductProcess, startProduct } from '../support/product-process.js';
import { eventually } from '../support/simulated-custody.js';
import { openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';
import { startSweep } from '../support/worker-inbox.js';
import { openWorkerWorld, type RunningWorker, type WorkerWorld } from '../support/worker-world.js';

const SETTINGS = { SVERKA_SWEEP_INTERVAL: '100ms', SVERKA_SWEEP_GRACE: '1ms', SVERKA_SWEEP_LEASE: '300ms' };
const PROOF = new File(['%PDF-1.7'], 'payout.pdf', { type: 'application/pdf' });
const COMPLETE = { choice: 'complete', reason: 'paid at the bank', file: PROOF };
const APPROVE = { choice: 'approve', route: 'manual', reason: 'known to us' };

let world: WorkerWorld;
let worker: RunningWorker;
let sweep: string;
let it: Withdrawing;
/** Takes connections and never answers, as a Temporal that has stopped: a page's nudge waits, and a kill meets it. */
let silent: Server;
beforeAll(async () => {
  world = await openWorkerWorld({ settings: SETTINGS });
  worker = await world.startWorker();
  sweep = await startSweep(world);
  it = await openWithdrawing(world.database);
  silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
  await world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
  silent.close();
  await world.close();
});

/** A console of its own, and one person in front of it. */
interface Console {
  readonly process: ProductProcess;
  readonly person: PageReader;
}

async function openConsole(userId: string, of: { deaf?: boolean } = {}): Promise<Console> {
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const address = silent.address();
  const temporal =
    of.deaf && address !== null && typeof address === 'object' ? { TEMPORAL_ADDRESS: `127.0.0.1:${address.port}` } : {};
  const process = await startProduct(
    'console',
    {
      ...world.env,
      DATABASE_URL: world.database.urlFor('console'),
      SVERKA_CONSOLE_URL: origin,
      SVERKA_LOCAL_LINKS: 'on',
      SVERKA_APPROVAL_PASSKEY: 'off',
      ...temporal,
    },
    { port },
  );
  const [row] = await world.tx.query<{ login: string }>('select login from sverka."user" where id = $1', [userId]);
  const login = row?.login ?? '';
  const token = (await createLoginLink(world.tx, login)) ?? '';
  return { process, person: await openLink(loginLink(`${origin}/operator`, token), login) };
}

interface Form {
  readonly choice: string;
  readonly reason: string;
  readonly route?: string;
  readonly file?: File;
}

const record = (id: string) => readWithdrawal(queriesOf(it.owner), id);
const stands = (id: string, state: string) => eventually(async () => (await record(id)).state === state);
const at = (id: string) => `/operator/withdrawals/${id}`;

async function decide(person: PageReader, id: string, { file, ...form }: Form) {
  const page = await person.get(at(id));
  const bound = { stage: fieldOf(page, 'stage'), seen: fieldOf(page, 'seen') };
  return person.post(`${at(id)}/decisions`, { ...bound, ...form }, file);
}

/** Decisions of that choice, moves to that state, and proofs. */
async function counts(id: string, choice: string, state: string): Promise<unknown> {
  const [row] = await world.tx.query(
    `select (select count(*)::int from sverka.decision where subject_id = $1 and choice = $2) as decisions,
       (select count(*)::int from sverka.audit where subject_id = $1 and to_state = $3 and from_state <> $3) as moves`,
    [id, choice, state],
  );
  return row;
}

/** Holds up what the console writes to that table; answers what to do once it has been killed. */
async function holdUp(
  table: string,
): Promise<{ waiting: () => Promise<boolean>; cut: () => Promise<void>; let: () => Promise<void> }> {
  const pool: pg.Pool = createPool(world.database.url, { max: 1, applicationName: 'holder' });
  const client = await pool.connect();
  await client.query(`begin; lock table ${table} in share mode`);
  const held = `application_name = 'sverka-console' and wait_event_type = 'Lock' and datname = current_database()`;
  return {
    waiting: async () => (await it.owner.query(`select from pg_stat_activity where ${held}`)).rowCount === 1,
    async cut() {
      await it.owner.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${held}`);
    },
    async let() {
      await client.query('rollback');
      client.release();
      await pool.end();
    },
  };
}

/** A withdrawal that stands at `submitted`, to be paid by hand. */
async function submitted(): Promise<string> {
  const id = await it.request({ amount: 3_000_000n });
  await it.decide(id, 'approve', { by: it.approver, argument: 'manual' });
  await stands(id, 'approved');
  await it.decide(id, 'pay', { by: it.operator });
  await stands(id, 'submitted');
  return id;
}

describe.each([
  ['before the proof is kept', 'sverka.withdrawal_proof', true],
  ['while the proof is being kept', 'sverka.withdrawal_proof', false],
  ['behind the proof and before the decision', 'sverka.decision', true],
  ['while the decision is being written', 'sverka.decision', false],
] as const)('the console, killed %s', (_, table, isCut) => {
  test('leaves nothing or all of it: the same person decides again, and it is completed once', async () => {
    const id = await submitted();
    const killed = await openConsole(it.operator);
    const held = await holdUp(table);
    const sent = decide(killed.person, id, COMPLETE).catch(() => 'cut off');
    await eventually(held.waiting);
    killed.process.signal('SIGKILL');
    expect(await sent).toBe('cut off');
    if (isCut) await held.cut();
    await held.let();
    await killed.process.stop();
    const again = await openConsole(it.operator);
    await decideUntil(again.person, id, 'completed');
    expect(await counts(id, 'complete', 'completed')).toEqual({ decisions: 1, moves: 1 });
    await again.process.stop();
  });
});

test('the console, killed behind the decision, before anybody is told, has decided: the sweep finds it', async () => {
  const id = await it.request({ amount: 3_000_000n });
  const { process, person } = await openConsole(it.approver, { deaf: true });
  const sent = decide(person, id, APPROVE).catch(() => 'cut off');
  await eventually(async () => {
    const [row] = await world.tx.query('select from sverka.decision where subject_id = $1', [id]);
    return row !== undefined;
  });
  process.signal('SIGKILL');
  expect(await sent).toBe('cut off');
  await process.stop();
  await stands(id, 'approved');
  expect(await counts(id, 'approve', 'approved')).toEqual({ decisions: 1, moves: 1 });
});

/** The person opens the page again and sends the form, where it still asks for that. */
async function decideUntil(person: PageReader, id: string, state: string): Promise<void> {
  await eventually(async () => {
    if ((await record(id)).state === state) return true;
    await decide(person, id, COMPLETE);
    return false;
  });
}
