import { Hono } from 'hono';
import { bearerOf } from '../simulator-kit/account.js';
import { readLimit } from '../simulator-kit/changes.js';
import { createControl } from '../simulator-kit/control.js';
import { createSimulatorKit } from '../simulator-kit/kit.js';
import type { OpenTransactionProbe } from '../simulator-kit/open-transactions.js';
import { badRequest, membersOf, readJson, SimulatorRefusal } from '../simulator-kit/requests.js';
import { type RunningSimulator, serveSimulator } from '../simulator-kit/serve.js';
import { createStateFile } from '../simulator-kit/state-file.js';
import type { SimulatedWire } from '../simulator-kit/wire.js';
import type { CustodyAccount } from './simulator-addresses.js';
import { type CustodyPayouts, createCustodyPayouts } from './simulator-payouts.js';
import { type CustodyTruth, createCustodyTruth } from './simulator-truth.js';

export interface CustodySimulatorOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Loopback unless named. */
  readonly host?: string | undefined;
  readonly accounts: readonly CustodyAccount[];
  /** Counts the product's open transactions; left out, the truth measures none. */
  readonly countOpenTransactions?: OpenTransactionProbe | undefined;
  /** Waits between the attempts of a webhook; left out, those of a real custodian. */
  readonly webhookRetryDelaysMs?: readonly number[] | undefined;
  /** Where its world is kept over a restart; left out, it forgets. */
  readonly stateFile?: string | undefined;
}

/**
 * Starts the simulated custodian on loopback: the wire of WIRE.md "custody" with its own truth, webhooks signed and
 * sent again until they are taken, and `/_sim/…` to drive it.
 */
export async function startCustodySimulator(options: CustodySimulatorOptions): Promise<RunningSimulator> {
  const { host, port, accounts } = options;
  const kit = createSimulatorKit(options);
  const truth = createCustodyTruth(accounts, kit);
  const payouts = createCustodyPayouts(truth, { kit, accounts });
  const snapshot = () => ({ ...truth.snapshot(), payouts: payouts.objects() });
  const state = options.stateFile === undefined ? null : createStateFile(options.stateFile, snapshot);
  const kept = state?.read();
  if (kept) {
    truth.restore(membersOf(kept, 'the state file'));
    payouts.restore(membersOf(kept, 'the state file').payouts);
  }
  const control = createControl(kit, {
    objects() {
      const { addresses, deposits } = truth.snapshot();
      return { addresses, deposits, payouts: payouts.objects() };
    },
    reset() {
      truth.reset();
      payouts.reset();
    },
  });
  addCustodyControl(control, { truth, payouts });
  const wire = createCustodyWire({ truth, payouts });
  const running = await serveSimulator({ host, port, kit, wire, control, changed: () => state?.save() });
  return {
    url: running.url,
    async close() {
      state?.close();
      payouts.reset();
      await running.close();
    },
  };
}

interface World {
  readonly truth: CustodyTruth;
  readonly payouts: CustodyPayouts;
}

function createCustodyWire({ truth, payouts }: World): SimulatedWire {
  const app = new Hono<{ Variables: { account: CustodyAccount } }>();
  app.use('/v1/*', async (c, next) => {
    const account = truth.accountOfKey(bearerOf(c.req.header('authorization')));
    if (!account) throw new SimulatorRefusal(401, 'unauthorized', 'no account has this key');
    c.set('account', account);
    await next();
  });
  app.post('/v1/addresses', async (c) => {
    const request = membersOf(readJson(await c.req.text()), 'the body');
    const { made, record } = truth.addresses.make(c.get('account'), request);
    return c.json(record, made ? 201 : 200);
  });
  app.get('/v1/addresses', (c) =>
    c.json({ items: truth.addresses.named(c.get('account'), referenceOf(c.req.query('reference'))) }),
  );
  app.get('/v1/deposits/changes', (c) => {
    const limit = readLimit(c.req.query('limit'), { fallback: 100, max: 200 });
    return c.json(truth.changesOf(c.get('account'), { after: c.req.query('after') || undefined, limit }));
  });
  app.get('/v1/deposits/:id', (c) => c.json(truth.depositOf(c.get('account'), c.req.param('id'))));
  app.post('/v1/payouts', async (c) => {
    const request = membersOf(readJson(await c.req.text()), 'the body');
    return c.json(payouts.pay(c.get('account'), request), 202);
  });
  app.get('/v1/payouts', (c) =>
    c.json({ items: payouts.payoutsOf(c.get('account'), referenceOf(c.req.query('reference'))) }),
  );
  app.get('/v1/payouts/:id', (c) => c.json(payouts.payoutOf(c.get('account'), c.req.param('id'))));
  app.get('/v1/transfers/:tx_hash', (c) => c.json(payouts.transferOf(c.get('account'), c.req.param('tx_hash'))));
  app.get('/v1/balances', (c) => c.json({ items: payouts.balancesOf(c.get('account')) }));
  return {
    app: new Hono().route('/', app),
    failure: ({ status, code, message }) => ({ status, body: { error: code, message } }),
    absence({ path, query }) {
      if (path === '/v1/deposits/changes') {
        return { status: 200, body: { items: [], next_cursor: query.after ?? null, has_more: false } };
      }
      if (query.reference !== undefined) return { status: 200, body: { items: [] } };
      return { status: 404, body: { error: 'not_found', message: 'nothing is found' } };
    },
  };
}

function addCustodyControl(control: Hono, { truth, payouts }: World): void {
  control.post('/_sim/deposits', async (c) =>
    c.json(truth.arrive(membersOf(readJson(await c.req.text()), 'a deposit')), 201),
  );
  control.patch('/_sim/deposits/:id', async (c) =>
    c.json(truth.change(c.req.param('id'), membersOf(readJson(await c.req.text()), 'a deposit'))),
  );
  control.patch('/_sim/payouts/:id', async (c) =>
    c.json(payouts.change(c.req.param('id'), membersOf(readJson(await c.req.text()), 'a payout'))),
  );
}

function referenceOf(text: string | undefined): string {
  if (!text) throw badRequest('name the reference');
  return text;
}
