import type pg from 'pg';
import { takeBalanceStep } from '../../src/activities/balance-checks.js';
import { createBalanceActivities } from '../../src/activities/balances.js';
import type { ActivityDeps } from '../../src/activities/deps.js';
import { loadConfig } from '../../src/config.js';
import type { BalanceSourceKey } from '../../src/db/balance-mirror.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf, type Tx } from '../../src/db/transaction.js';
import { createProviders } from '../../src/providers/create-providers.js';
import { silentLog } from '../../src/telemetry/log.js';
import { heardWebhooks, storeWebhooks, type ToldWebhook } from './pert-webhooks.js';
import { TEST_SECRET } from './simulated-custody.js';
import { type SimulatedPert, startSimulatedPert } from './simulated-pert.js';
import { openTestDatabase, type TestDatabase } from './test-database.js';
import { testKeyring } from './test-keyring.js';

export const SOURCE: BalanceSourceKey = { book: 'live', provider: 'pert', account: 'pert-main' };

/** The mirror's activities over a database and a simulated Pert of its own; a test decides what happens when. */
export interface BalanceWorld {
  readonly database: TestDatabase;
  readonly owner: pg.Pool;
  readonly tx: Tx;
  readonly pert: SimulatedPert;
  readonly deps: ActivityDeps;
  /** Money moves there; answers nothing, for what the webhooks say comes when `webhooks` is called. */
  move(body: object): Promise<void>;
  /** What Pert has notified since the last call, once all of it is there; not delivered yet. */
  webhooks(): Promise<ToldWebhook[]>;
  /** Stored by the relay's door. */
  deliver(told: readonly ToldWebhook[]): Promise<void>;
  drain(): Promise<void>;
  /** A check from its snapshot to its end; answers its result. */
  check(): Promise<string>;
  /** Our sums, and what is known of each address. */
  sums(): Promise<Record<string, string>>;
  addresses(): Promise<Record<string, string>>;
  /** The same as the provider has it. */
  theirSums(): Promise<Record<string, string>>;
  theirAddresses(): Promise<Record<string, string>>;
  close(): Promise<void>;
}

export async function openBalanceWorld(
  settings: Readonly<Record<string, string>> = {},
  provider: Parameters<typeof startSimulatedPert>[0] = {},
): Promise<BalanceWorld> {
  const [database, pert] = await Promise.all([openTestDatabase(), startSimulatedPert(provider)]);
  const config = loadConfig({
    DATABASE_URL: database.urlFor('worker'),
    SVERKA_LIVE_PERT_URL: pert.url,
    SVERKA_LIVE_PERT_API_KEY: 'live-key',
    SVERKA_LIVE_PERT_WEBHOOK_SECRETS: TEST_SECRET,
    ...settings,
  });
  const owner = createPool(database.url, { max: 2, applicationName: 'test' });
  const pool = createPool(config.DATABASE_URL, { max: 4, applicationName: 'test-worker' });
  const providers = createProviders(config);
  const nobody = async () => undefined;
  const deps = {
    ...{ pool, config, log: silentLog, ...providers, keys: testKeyring().keys },
    ...{ nudgeBalances: nobody, nudgeWithdrawal: nobody },
  } as unknown as ActivityDeps;
  const tx = queriesOf(owner);
  const activities = createBalanceActivities(deps);
  let heard = 0;
  const table = async (sql: string) => {
    const rows = await tx.query<{ name: string; value: string }>(sql);
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  };
  return {
    ...{ database, owner, tx, pert, deps },
    async move(body) {
      await pert.drive('POST', '/_sim/transactions', body);
    },
    async webhooks() {
      const all = await heardWebhooks(pert);
      const told = all.slice(heard);
      heard = all.length;
      return told;
    },
    deliver: (told) => storeWebhooks(tx, told),
    async drain() {
      await activities.databaseDrainBalances(SOURCE);
    },
    async check() {
      await owner.query('update sverka.balance_source set next_check_at = clock_timestamp()');
      for (const turn = {}; ; ) {
        const step = await takeBalanceStep(deps, SOURCE, turn);
        if (step === null) return 'not due';
        if (step.kind === 'ended') return step.result;
      }
    },
    sums: () =>
      table(
        `select currency as name, trim_scale(base + moved)::text as value from sverka.balance_currency
          where base + moved <> 0`,
      ),
    addresses: () =>
      table(
        `select address || ' ' || currency as name, trim_scale(balance)::text as value from sverka.balance_address
          where balance <> 0`,
      ),
    theirSums: () => theirSums(pert),
    theirAddresses: () => theirAddresses(pert),
    async close() {
      await providers.close();
      await Promise.all([owner.end(), pool.end()]);
      await pert.close();
      await database.close();
    },
  };
}

async function theirSums({ live }: SimulatedPert): Promise<Record<string, string>> {
  const { currencies } = await live.readCurrencies();
  return Object.fromEntries(
    currencies.flatMap(({ currency, balance }) => (Number(balance) === 0 ? [] : [[currency, plain(balance)]])),
  );
}

async function theirAddresses(pert: SimulatedPert): Promise<Record<string, string>> {
  const { objects } = await pert.truth();
  const addresses = (objects['addresses'] ?? []) as unknown as TrueAddress[];
  return Object.fromEntries(
    addresses
      .filter(({ book, balance }) => book === 'live' && Number(balance) !== 0)
      .map(({ address, currency, balance }) => [`${address} ${currency}`, plain(balance)]),
  );
}

interface TrueAddress {
  readonly book: string;
  readonly address: string;
  readonly currency: string;
  readonly balance: string;
}

/** As `trim_scale` writes it. */
function plain(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/0+$/, '').replace(/\.$/, '') : decimal;
}
