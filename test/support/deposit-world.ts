import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import type pg from 'pg';
import { createDepositAddressActivities } from '../../src/activities/deposit-addresses.js';
import { createDepositActivities } from '../../src/activities/deposits.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { createInboxActivities } from '../../src/activities/inbox.js';
import { loadConfig } from '../../src/config.js';
import type { DepositAddressInput, DepositInput, DepositPages, DepositSeen } from '../../src/contracts/messages.js';
import { toWallet } from '../../src/contracts/wallet.js';
import { createMerchant } from '../../src/db/merchants.js';
import { hashParts, requestId } from '../../src/db/new-id.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { readWallet } from '../../src/db/wallets.js';
import { decimalsOf } from '../../src/domain/assets.js';
import { formatAmount } from '../../src/domain/money.js';
import { createProviders } from '../../src/providers/create-providers.js';
import type { CustodyClient } from '../../src/providers/custody/client.js';
import { startCustodySimulator } from '../../src/providers/custody/simulator.js';
import { silentLog } from '../../src/telemetry/log.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { sumOfEntries } from './money-invariants.js';
import { type DrivenAnswer, TEST_SECRET, type Truth } from './simulated-custody.js';
import { openTestDatabase, type TestDatabase } from './test-database.js';
import { testKeyring } from './test-keyring.js';

export const SOURCE = { book: 'live', provider: 'custody', account: 'main-live' } as const;
/** Stands in every free text that a test sends where only ids belong; it must turn up nowhere. */
export const CANARY_CARD = '4111111111111111';

export interface MadeAddress {
  readonly id: string;
  readonly address: string;
  readonly customerId: string | null;
}
export interface AddressWish {
  readonly merchantId?: string;
  readonly customerRef?: string | null;
  readonly network?: string;
  readonly asset?: string;
  readonly settleIn?: string | null;
  readonly key?: string;
}

/** The activities of the worker on a database of the test's own and the real simulated custodian. */
export interface DepositWorld {
  readonly database: TestDatabase;
  /** The database's owner, a superuser: looks at everything and plants faults. */
  readonly owner: pg.Pool;
  /** The worker's role. */
  readonly pool: pg.Pool;
  readonly deps: ActivityDeps;
  readonly merchantId: string;
  /** What would have been sent to Temporal. */
  readonly nudges: { ref: string; start: boolean }[];
  readonly restarted: DepositAddressInput[];
  drive(method: string, path: string, body?: unknown): Promise<DrivenAnswer>;
  truth(): Promise<Truth>;
  /** The input of an address's workflow. */
  wish(wish?: AddressWish): DepositAddressInput;
  /** An active address. */
  address(wish?: AddressWish): Promise<MadeAddress>;
  /** A transfer arrives at the custodian; answers its id there. */
  arrive(at: MadeAddress | string, body: Record<string, unknown>): Promise<string>;
  change(ref: string, body: Record<string, unknown>): Promise<unknown>;
  /** What the workflow of a deposit does at each look. */
  read(ref: string, options?: { absentMs?: number }): Promise<DepositSeen>;
  /** What reconciliation does. */
  page(): Promise<DepositPages>;
  sweep(): Promise<unknown>;
  close(): Promise<void>;
}

export interface DepositWorldOptions {
  /** Where the custodian's webhooks go; left out, nobody is there. */
  readonly hookUrl?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly connections?: number;
  /** Another database than a clone of the run's template; the world closes it. */
  readonly database?: TestDatabase;
  /** Stands between the activities and the real client. */
  readonly client?: (real: CustodyClient) => CustodyClient;
}

export async function openDepositWorld(options: DepositWorldOptions = {}): Promise<DepositWorld> {
  const database = options.database ?? (await openTestDatabase());
  const owner = createPool(database.url, { max: 4, applicationName: 'test' });
  const max = options.connections ?? 12;
  const pool = createPool(database.urlFor('worker'), { max, applicationName: 'sverka-worker' });
  const simulators = createPool(database.urlFor('simulators'), { max: 1, applicationName: 'sverka-simulators' });
  const simulator = await startCustodySimulator({
    port: 0,
    accounts: [accountOf(options)],
    webhookRetryDelaysMs: options.hookUrl === undefined ? [] : [20, 20, 20, 20],
    countOpenTransactions: (olderThanMs) => countOpen(simulators, olderThanMs),
  });
  const { deps, nudges, restarted, providers } = makeDeps(pool, { options, database, simulatorUrl: simulator.url });
  const merchantId = await createMerchant(queriesOf(owner), 'Nordwind');
  const drive = driver(simulator.url);
  return {
    database,
    owner,
    pool,
    deps,
    merchantId,
    nudges,
    restarted,
    drive,
    truth: async () => JSON.parse(JSON.stringify(await drive('GET', '/_sim/truth'))),
    wish: (wish = {}) => wishOf(merchantId, wish),
    address: (wish = {}) => makeAddress(deps, wishOf(merchantId, wish)),
    async arrive(at, body) {
      const address = typeof at === 'string' ? at : at.address;
      return (await drive('POST', '/_sim/deposits', { address, ...body })).id;
    },
    change: (ref, body) => drive('PATCH', `/_sim/deposits/${ref}`, body),
    read: (ref, { absentMs = 0 } = {}) =>
      createDepositActivities(deps).providerReadDeposit({ ...inputOf(ref), absentMs }),
    page: () => quietly().run(createDepositActivities(deps).pageDepositChanges, { ...SOURCE }),
    sweep: () => sweep(deps),
    async close() {
      await providers.close();
      await simulator.close();
      await Promise.all([owner.end(), pool.end(), simulators.end()]);
      await database.close();
    },
  };
}

/** One turn of the sweep, part after part; what a part throws is thrown. */
async function sweep(deps: ActivityDeps): Promise<{ claimed: number; closed: DepositInput[] }> {
  const activities = createInboxActivities(deps);
  const parts = [
    await activities.databaseSeal(),
    await activities.databaseSweepDeadLetters(),
    await activities.databaseNudgeOverdue(),
    await activities.databaseRestartStranded(),
    await activities.databaseApplyLedgerImport(),
  ];
  await activities.databaseEndSweep({ beganAt: Date.now(), failed: [], full: false, traceId: newTraceId() });
  const claimed = parts.reduce((sum, part) => sum + part.claimed, 0);
  return { claimed, closed: parts.flatMap(({ closed }) => closed) };
}

/** The context that a heartbeat needs; a failure is the test's to judge, not the log's. */
function quietly(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
}

function accountOf({ hookUrl = 'http://127.0.0.1:9/none' }: DepositWorldOptions) {
  return { book: 'live', apiKey: 'live-key', hookUrl, webhookSecret: TEST_SECRET };
}

function makeDeps(
  pool: pg.Pool,
  world: { options: DepositWorldOptions; database: TestDatabase; simulatorUrl: string },
) {
  const config = loadConfig({
    DATABASE_URL: world.database.urlFor('worker'),
    SVERKA_LIVE_CUSTODY_URL: world.simulatorUrl,
    SVERKA_LIVE_CUSTODY_API_KEY: 'live-key',
    SVERKA_LIVE_CUSTODY_WEBHOOK_SECRETS: TEST_SECRET,
    SVERKA_PROVIDER_TIMEOUT: '2s',
    ...world.options.env,
  });
  const providers = createProviders(config);
  const real = providers.custody(SOURCE);
  const client = world.options.client?.(real) ?? real;
  const nudges: DepositWorld['nudges'] = [];
  const restarted: DepositAddressInput[] = [];
  const deps: ActivityDeps = {
    pool,
    config,
    log: silentLog,
    custody: (of) => (of.account === SOURCE.account ? client : providers.custody(of)),
    issuer: providers.issuer,
    pert: providers.pert,
    keys: testKeyring().keys,
    nudgeDeposit: async ({ ref }, { start }) => {
      nudges.push({ ref, start });
      return 'nudged';
    },
    startDepositAddress: async (input) => void restarted.push(input),
    nudgeIssuance: async () => 'nudged',
    startIssuance: async () => 'started',
    startCardLoad: async () => undefined,
    nudgeWithdrawal: async () => undefined,
    nudgeBalances: async () => undefined,
    startCardChange: async () => undefined,
  };
  return { deps, nudges, restarted, providers };
}

export function inputOf(ref: string): DepositInput {
  return { ...SOURCE, ref, traceId: newTraceId() };
}

async function countOpen(simulators: pg.Pool, olderThanMs: number): Promise<number> {
  const { rows } = await simulators.query<{ open: number }>(
    `select count(*)::int as open from pg_stat_activity where application_name like 'sverka-worker%'
       and datname = current_database()
       and xact_start < clock_timestamp() - make_interval(secs => $1::double precision / 1000)`,
    [olderThanMs],
  );
  return rows[0]?.open ?? 0;
}

function driver(url: string): DepositWorld['drive'] {
  return async (method, path, body) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, ...sent });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
}

let keys = 0;

function wishOf(merchantId: string, wish: AddressWish): DepositAddressInput {
  const { network = 'tron', asset = 'USDT-TRC20', settleIn = null, customerRef = null } = wish;
  const of = { book: SOURCE.book, merchantId: wish.merchantId ?? merchantId };
  const key = wish.key ?? `key-${(keys += 1)}`;
  const body = { network, asset, settleIn, customerRef };
  return {
    ...SOURCE,
    merchantId: of.merchantId,
    request: {
      id: requestId({ ...of, key }),
      key,
      method: 'POST',
      path: '/v1/deposit-addresses',
      fingerprint: hashParts([JSON.stringify(body)]).toString('hex'),
    },
    customerRef,
    network,
    asset,
    settlementMode: settleIn === null ? 'as_token' : 'settled',
    settlementAsset: settleIn,
    traceId: newTraceId(),
  };
}

async function makeAddress(deps: ActivityDeps, input: DepositAddressInput): Promise<MadeAddress> {
  const activities = createDepositAddressActivities(deps);
  const accepted = await activities.databaseReserveDepositAddress(input);
  const id = accepted.resource?.id ?? '';
  const made = await activities.providerCreateDepositAddress({ id, traceId: input.traceId });
  if (made.outcome !== 'active') throw new Error(`The address is ${made.outcome}.`);
  const { rows } = await deps.pool.query<MadeAddress>(
    'select id, address, customer_id as "customerId" from sverka.deposit_address where id = $1',
    [id],
  );
  if (!rows[0]) throw new Error(`No address ${id}.`);
  return rows[0];
}

/** What stands on a wallet by its entries, after the API's own figure was held against it. */
export async function walletOf(
  world: Pick<DepositWorld, 'pool' | 'merchantId'>,
  of: { asset?: string; customerId?: string | null; merchantId?: string } = {},
): Promise<string> {
  const { asset = 'USDT-TRC20', customerId = null, merchantId = world.merchantId } = of;
  const owner = { book: SOURCE.book, merchantId, customerId };
  const sum = await sumOfEntries(world.pool, { ...owner, kind: 'wallet', asset });
  const { balances, asOf } = await readWallet(queriesOf(world.pool), owner);
  const shown = toWallet({ id: 'wal_test', owner: { type: 'merchant', id: merchantId, ref: null }, balances, asOf });
  const text = formatAmount(sum, decimalsOf(asset));
  expect(
    shown.balances.find((row) => row.asset === asset)?.available.amount ?? formatAmount(0n, decimalsOf(asset)),
  ).toBe(text);
  return text;
}
