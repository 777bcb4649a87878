import type pg from 'pg';
import type { CardResource } from '../../src/contracts/card.js';
import { issuanceReconcileScheduleId } from '../../src/contracts/ids.js';
import type { IssuancePages } from '../../src/contracts/messages.js';
import { acceptDeliveries, type Delivery } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type Listener, listen } from '../../src/http/listen.js';
import { createRelayApp } from '../../src/http/relay/app.js';
import { createBatcher } from '../../src/http/relay/batcher.js';
import { createEndpoints } from '../../src/http/relay/endpoints.js';
import { createRelayNudge } from '../../src/http/relay/nudge.js';
import { startIssuerSimulator } from '../../src/providers/issuer/simulator.js';
import { silentLog } from '../../src/telemetry/log.js';
import { makeMerchant, type TestMerchant } from './gateway.js';
import { setFees } from './issuance-rows.js';
import { balanceOf, fund, openPurse, type Purse } from './journal-fixtures.js';
import { type DrivenAnswer, TEST_SECRET, type Truth } from './simulated-custody.js';
import { type GatewayAnswer, openWorldGateway, type WorldGateway } from './worker-gateway.js';
import { openWorkerWorld, type WorkerWorld } from './worker-world.js';

/** Everything a card needs: issuer, gateway, relay in front of the issuer's webhooks, a merchant with money. */
export interface IssuanceWorld {
  readonly world: WorkerWorld;
  readonly issuer: {
    drive(method: string, path: string, body?: unknown): Promise<DrivenAnswer>;
    truth(): Promise<Truth>;
  };
  readonly gateway: WorldGateway;
  readonly relay: Listener;
  readonly merchant: TestMerchant;
  readonly purse: Purse;
  /** Makes a cardholder by the API; answers the id. */
  cardholder(merchant?: TestMerchant): Promise<string>;
  /** The same with other members of the identity. */
  cardholderWith(identity: object, merchant?: TestMerchant): Promise<string>;
  /** Open alerts of that kind. */
  alerts(kind: string): Promise<number>;
  /** `POST /v1/cards`: instant, 25 USD, unless said otherwise. */
  issue(key: string, options?: IssueOptions): Promise<GatewayAnswer>;
  /** The card as the API shows it. */
  card(id: string): Promise<CardResource>;
  /** What stands in the merchant's wallet, in cents. */
  available(): Promise<bigint>;
  /** Runs the reconciliation of the live account to its end. */
  reconcile(): Promise<Omit<IssuancePages, 'after'>>;
  close(): Promise<void>;
}

export interface IssueOptions {
  readonly cardholder?: string;
  readonly product?: 'instant' | 'async';
  readonly amount?: string;
  readonly prefer?: string;
  readonly merchant?: TestMerchant;
}

/** `SVERKA_…` settings shorten waits; the merchant has `cents`, 1 000.00 USD unless said otherwise. */
export async function openIssuanceWorld(
  options: { settings?: Readonly<Record<string, string>>; cents?: bigint } = {},
): Promise<IssuanceWorld> {
  const front = await openFront();
  let database: pg.Pool | null = null;
  const simulator = await startIssuerSimulator({
    port: 0,
    countOpenTransactions: async (olderThanMs) => (database ? countOpen(database, olderThanMs) : 0),
    accounts: [
      { book: 'live', apiKey: 'live-key', hookUrl: `${front.url}/hooks/issuer/main-live`, webhookSecret: TEST_SECRET },
      { book: 'test', apiKey: 'test-key', hookUrl: `${front.url}/hooks/issuer/main-test`, webhookSecret: TEST_SECRET },
    ],
    webhookRetryDelaysMs: [50, 100, 200],
  });
  const world = await openWorkerWorld({ settings: { ...issuerSettings(simulator.url), ...options.settings } });
  database = world.owner;
  const relay = await openRelay(world);
  front.to(relay.listener.url);
  const gateway = await openWorldGateway(world);
  const merchant = await makeMerchant(world.tx);
  await setFees(world);
  const purse = await openPurse(world.owner, { asset: 'USD', merchantId: merchant.id });
  await fund(world.owner, purse, { wallet: options.cents ?? 100_000n });
  const drive = driver(simulator.url);
  const holders = new Map<string, string>();
  let people = 0;
  let reconciled = 0;
  const it: IssuanceWorld = {
    world,
    issuer: { drive, truth: async () => (await drive('GET', '/_sim/truth')) as unknown as Truth },
    gateway,
    relay: relay.listener,
    merchant,
    purse,
    cardholder: (of = merchant) => it.cardholderWith({}, of),
    async cardholderWith(identity, of = merchant) {
      const plain = { first_name: 'Ada', last_name: 'Koch', birth_date: '1990-02-28', country: 'DE', document: 'X1' };
      const body = { ...plain, ...identity };
      const answer = await gateway.post(of, '/v1/cardholders', { key: `holder-${(people += 1)}`, body });
      expect(answer.status).toBe(201);
      return answer.body.id;
    },
    async issue(key, { cardholder, product = 'instant', amount = '25.00', merchant: of = merchant, ...how } = {}) {
      // On a busy machine a quick issuer is not quick.
      const prefer = how.prefer ?? (product === 'instant' ? 'wait=10' : undefined);
      const holder = cardholder ?? holders.get(of.id) ?? (await it.cardholder(of));
      if (cardholder === undefined) holders.set(of.id, holder);
      const body = { cardholder_id: holder, product, load: { amount, asset: 'USD' } };
      return gateway.post(of, '/v1/cards', { key, body, ...(prefer === undefined ? {} : { prefer }) });
    },
    async alerts(kind) {
      const sql = `select 1 from sverka.alert where kind = $1 and state = 'open'`;
      return (await world.tx.query(sql, [kind])).length;
    },
    card: async (id) => (await gateway.get(merchant, `/v1/cards/${id}`)).body as unknown as CardResource,
    available: () => balanceOf(world.owner, purse.wallet),
    reconcile: () => reconcileLive(world, (reconciled += 1)),
    async close() {
      await gateway.close();
      await relay.close();
      await simulator.close();
      await front.close(0);
      await world.close();
    },
  };
  return it;
}

/** As `src/simulators.ts` counts them: what the worker had open before the issuer was called. */
async function countOpen(pool: pg.Pool, olderThanMs: number): Promise<number> {
  const { rows } = await pool.query<{ open: number }>(
    `select count(*)::int as open from pg_stat_activity where application_name = 'test-worker'
       and datname = current_database()
       and xact_start < clock_timestamp() - make_interval(secs => $1::double precision / 1000)`,
    [olderThanMs],
  );
  return rows[0]?.open ?? 0;
}

function reconcileLive({ temporal }: WorkerWorld, number: number): ReturnType<IssuanceWorld['reconcile']> {
  const input = { book: 'live', provider: 'issuer', account: 'main-live' } as const;
  return temporal.client.workflow.execute('issuanceReconcile', {
    workflowId: `${issuanceReconcileScheduleId(input)}:${number}`,
    taskQueue: temporal.taskQueue,
    args: [input],
  });
}

function issuerSettings(url: string): Record<string, string> {
  const of = (book: string) => ({
    [`SVERKA_${book}_ISSUER_URL`]: url,
    [`SVERKA_${book}_ISSUER_API_KEY`]: `${book.toLowerCase()}-key`,
    [`SVERKA_${book}_ISSUER_WEBHOOK_SECRETS`]: TEST_SECRET,
  });
  return { ...of('LIVE'), ...of('TEST'), SVERKA_ISSUANCE_POLL_INTERVAL: '1h' };
}

/** The simulator wants to know where to send before there is a database: this passes on to the relay. */
async function openFront(): Promise<Listener & { to(url: string): void }> {
  let target: string | null = null;
  const listener = await listen(
    async (request) => {
      if (target === null) return new Response(null, { status: 503 });
      const { pathname } = new URL(request.url);
      const { method, headers } = request;
      return fetch(target + pathname, { method, headers, body: await request.arrayBuffer() });
    },
    { host: '127.0.0.1', port: 0 },
  );
  return { ...listener, close: (ms) => listener.close(ms), to: (url) => void (target = url) };
}

/** Put together as `src/relay.ts` does, with the relay's role. */
async function openRelay(world: WorkerWorld) {
  const pool = createPool(world.database.urlFor('relay'), { max: 4, applicationName: 'test-relay' });
  const db = queriesOf(pool);
  const nudge = createRelayNudge({ temporal: world.temporal, db }, () => undefined);
  const app = createRelayApp({
    endpoints: createEndpoints(world.config.providers),
    log: silentLog,
    rateLimit: 10_000,
    accept: createBatcher((batch: readonly Delivery[]) => acceptDeliveries(db, batch), {
      isOutage: () => false,
      lanes: 2,
    }),
    nudge: nudge.nudge,
    count: () => undefined,
  });
  const listener = await listen(app, { host: '127.0.0.1', port: 0 });
  const close = async () => {
    await listener.close(1_000);
    await nudge.idle();
    await pool.end();
  };
  return { listener, close };
}

function driver(url: string): IssuanceWorld['issuer']['drive'] {
  return async (method, path, body) => {
    const answer = await fetch(url + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`The simulator refused ${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? { id: '' } : JSON.parse(text);
  };
}
