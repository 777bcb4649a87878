import { type Context, Hono } from 'hono';
import { bearerOf, type SimulatedAccount } from '../simulator-kit/account.js';
import { readLimit } from '../simulator-kit/changes.js';
import { createControl } from '../simulator-kit/control.js';
import { createSimulatorKit } from '../simulator-kit/kit.js';
import type { OpenTransactionProbe } from '../simulator-kit/open-transactions.js';
import { membersOf, readJson, SimulatorRefusal } from '../simulator-kit/requests.js';
import { type RunningSimulator, serveSimulator } from '../simulator-kit/serve.js';
import { createStateFile } from '../simulator-kit/state-file.js';
import type { SimulatedWire, WireEnvironment } from '../simulator-kit/wire.js';
import { CHANGES_PATH, PERT_FAULTS } from './simulator-pages.js';
import { createPertTruth, type PertTruth } from './simulator-truth.js';

export interface PertSimulatorOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Loopback unless named. */
  readonly host?: string | undefined;
  readonly accounts: readonly SimulatedAccount[];
  /** Counts the product's open transactions; left out, the truth measures none. */
  readonly countOpenTransactions?: OpenTransactionProbe | undefined;
  /** Waits between the attempts of a webhook; left out, those of the kit. */
  readonly webhookRetryDelaysMs?: readonly number[] | undefined;
  /** Where its world is kept over a restart; left out, it forgets. */
  readonly stateFile?: string | undefined;
  /** Where journals begin; left out, at the clock. A test begins where cursors become longer. */
  readonly firstPosition?: number | undefined;
}

const LIMIT = { fallback: 100, max: 1_000 };

/**
 * Starts the simulated Pert on loopback: the wire of WIRE.md "pert" with its own truth, webhooks signed and sent again
 * until they are taken, and `/_sim/…` to drive it.
 */
export async function startPertSimulator(options: PertSimulatorOptions): Promise<RunningSimulator> {
  const { host, port, accounts, firstPosition } = options;
  const kit = createSimulatorKit({ ...options, ownFaults: PERT_FAULTS });
  const truth = createPertTruth(accounts, { kit, firstPosition });
  const state = options.stateFile === undefined ? null : createStateFile(options.stateFile, () => truth.snapshot());
  const kept = state?.read();
  if (kept) truth.restore(membersOf(kept, 'the state file'));
  const control = createControl(kit, { objects: () => truth.objects(), reset: () => truth.reset() });
  addPertControl(control, truth);
  const wire = createPertWire(truth);
  const running = await serveSimulator({ host, port, kit, wire, control, changed: () => state?.save() });
  return {
    url: running.url,
    async close() {
      state?.close();
      await running.close();
    },
  };
}

function createPertWire(truth: PertTruth): SimulatedWire {
  const app = new Hono<{ Bindings: WireEnvironment; Variables: { account: SimulatedAccount } }>();
  app.use('*', async (c, next) => {
    const account = truth.accountOfKey(bearerOf(c.req.header('authorization')));
    if (!account) throw new SimulatorRefusal(401, 'unauthorized', 'no account has this key');
    c.set('account', account);
    await next();
  });
  app.get('/asset/balances/currencies', (c) => json(c, truth.snapshotOf(c.get('account'))));
  app.get(CHANGES_PATH, (c) => {
    const page = { since: c.req.query('since_cursor'), limit: readLimit(c.req.query('limit'), LIMIT) };
    return json(c, truth.changesOf(c.get('account'), page, c.env.fault));
  });
  return {
    app: new Hono().route('/', app),
    failure: ({ status, code, message }) => ({ status, body: { error: code, message } }),
    absence({ path, query }) {
      if (path !== CHANGES_PATH) return { status: 404, body: { error: 'not_found', message: 'nothing is found' } };
      return { status: 200, body: { items: [], next_cursor: query.since_cursor ?? null, has_more: false } };
    },
  };
}

function addPertControl(control: Hono, truth: PertTruth): void {
  const body = async (c: Context) => membersOf(readJson(await c.req.text()), 'the body');
  control.post('/_sim/transactions', async (c) => json(c, truth.move(await body(c)), 201));
  control.patch('/_sim/transactions/:id', async (c) => json(c, truth.settle(c.req.param('id'), await body(c))));
  control.patch('/_sim/balances', async (c) => c.json(truth.freeze(await body(c))));
  control.post('/_sim/retention', async (c) => c.json(truth.retain(await body(c))));
}

function json(c: Context, text: string, status: 200 | 201 = 200): Response {
  return c.body(text, status, { 'content-type': 'application/json' });
}
