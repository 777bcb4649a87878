import { Hono } from 'hono';
import { bearerOf, type SimulatedAccount } from '../simulator-kit/account.js';
import { readLimit } from '../simulator-kit/changes.js';
import { createControl } from '../simulator-kit/control.js';
import { createSimulatorKit } from '../simulator-kit/kit.js';
import type { OpenTransactionProbe } from '../simulator-kit/open-transactions.js';
import { badRequest, membersOf, readJson, SimulatorRefusal } from '../simulator-kit/requests.js';
import { type RunningSimulator, serveSimulator } from '../simulator-kit/serve.js';
import { createStateFile } from '../simulator-kit/state-file.js';
import { referencesOfCall, type SimulatedWire } from '../simulator-kit/wire.js';
import { changeTimes, type IssuerTimes, shownTimes } from './simulator-times.js';
import { createIssuerTruth, type IssuerTruth } from './simulator-truth.js';

export interface IssuerSimulatorOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Loopback unless named. */
  readonly host?: string | undefined;
  readonly accounts: readonly SimulatedAccount[];
  /** Counts the product's open transactions; left out, the truth measures none. */
  readonly countOpenTransactions?: OpenTransactionProbe | undefined;
  /** Waits between the attempts of a webhook; left out, those of a real issuer. */
  readonly webhookRetryDelaysMs?: readonly number[] | undefined;
  /** Where its world is kept over a restart; left out, it forgets. */
  readonly stateFile?: string | undefined;
}

/** Well below the 3 s that are declared, so that a story does not take long; `POST /_sim/times` changes them. */
const TIMES: IssuerTimes = { lagMs: 200, asyncMs: 2_000 };

/**
 * Starts the simulated issuer on loopback: the wire of WIRE.md "issuer" with its own truth, card numbers and codes in
 * its answers, webhooks signed and sent again until they are taken, and `/_sim/…` to drive it.
 */
export async function startIssuerSimulator(options: IssuerSimulatorOptions): Promise<RunningSimulator> {
  const { host, port, accounts } = options;
  const kit = createSimulatorKit(options);
  const times = { ...TIMES };
  const truth = createIssuerTruth(accounts, { kit, times });
  const state = options.stateFile === undefined ? null : createStateFile(options.stateFile, () => truth.snapshot());
  const kept = state?.read();
  if (kept) truth.restore(membersOf(kept, 'the state file'));
  const control = createControl(kit, {
    objects: () => truth.objects(),
    reset() {
      truth.reset();
      Object.assign(times, TIMES);
    },
  });
  addIssuerControl(control, { truth, times });
  const changed = () => state?.save();
  const running = await serveSimulator({ host, port, kit, wire: createIssuerWire(truth), control, changed });
  return {
    url: running.url,
    async close() {
      state?.close();
      truth.reset();
      await running.close();
    },
  };
}

function createIssuerWire(truth: IssuerTruth): SimulatedWire {
  const app = new Hono<{ Variables: { account: SimulatedAccount } }>();
  app.use('/v1/*', async (c, next) => {
    const account = truth.accountOfKey(bearerOf(c.req.header('authorization')));
    if (!account) throw new SimulatorRefusal(401, 'unauthorized', 'no account has this key');
    c.set('account', account);
    await next();
  });
  app.post('/v1/cards', async (c) => {
    const card = truth.make(c.get('account'), membersOf(readJson(await c.req.text()), 'the body'));
    return c.json(card, card.status === 'pending' ? 202 : 201);
  });
  app.get('/v1/cards', (c) => {
    const reference = c.req.query('reference');
    if (!reference) throw badRequest('name the reference');
    return c.json({ items: truth.cardsOf(c.get('account'), reference) });
  });
  app.get('/v1/cards/:id', (c) => c.json(truth.cardOf(c.get('account'), c.req.param('id'))));
  app.post('/v1/cards/:id/loads', async (c) => {
    const body = membersOf(readJson(await c.req.text()), 'the body');
    return c.json(truth.load(c.get('account'), c.req.param('id'), body));
  });
  for (const change of ['freeze', 'unfreeze', 'close'] as const) {
    app.post(`/v1/cards/:id/${change}`, (c) => c.json(truth.apply(c.get('account'), c.req.param('id'), change)));
  }
  app.get('/v1/events', (c) => {
    const limit = readLimit(c.req.query('limit'), { fallback: 100, max: 500 });
    return c.json(truth.events.page(c.get('account'), { after: c.req.query('after') || undefined, limit }));
  });
  app.get('/v1/balances', (c) => c.json({ items: truth.balancesOf(c.get('account')) }));
  return {
    app: new Hono().route('/', app),
    failure: ({ status, code, message }) => ({ status, body: { error: code, message } }),
    // `/v1/cards/{id}/freeze`: the card is what one wants to match, too.
    references: (call) => [...referencesOfCall(call), ...call.path.split('/').slice(3, 4)],
    absence({ method, path, query }) {
      if (path === '/v1/events') {
        return { status: 200, body: { items: [], next_cursor: query.after ?? null, has_more: false } };
      }
      if (method === 'GET' && query.reference !== undefined) return { status: 200, body: { items: [] } };
      return { status: 404, body: { error: 'not_found', message: 'nothing is found' } };
    },
  };
}

function addIssuerControl(control: Hono, { truth, times }: { truth: IssuerTruth; times: IssuerTimes }): void {
  control.patch('/_sim/cards/:id', async (c) =>
    c.json(truth.state(c.req.param('id'), membersOf(readJson(await c.req.text()), 'a card'))),
  );
  control.post('/_sim/cards/:id/spend', async (c) =>
    c.json(truth.spend(c.req.param('id'), membersOf(readJson(await c.req.text()), 'a spend')), 201),
  );
  control.post('/_sim/times', async (c) => {
    changeTimes(times, membersOf(readJson(await c.req.text()), 'times'));
    return c.json(shownTimes(times));
  });
}
