import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { createBalanceActivities } from '../../src/activities/balances.js';
import { nudgeBalances } from '../../src/client/balances.js';
import { balanceSyncWorkflowId } from '../../src/contracts/ids.js';
import {
  assignBalanceSource,
  type BalanceSourceKey,
  lockBalanceSource,
  moveBalanceBase,
  stateBalances,
} from '../../src/db/balance-mirror.js';
import { moveCursor, readCursor } from '../../src/db/sources.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { BalanceSnapshot } from '../../src/domain/balance.js';
import { heardWebhooks, storeWebhooks, type ToldWebhook } from '../support/pert-webhooks.js';
import type { SimulatedPert } from '../support/simulated-pert.js';
import { makeMerchantRow } from '../support/worker-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { oneAccount } from './with-worker.js';

/** What happens at the provider while nobody looks, and what our accounts know of it. */
export interface Scene {
  /** Transactions that nobody is told of; more than two pages of 500. */
  readonly silent: number;
  /** Transactions that webhooks tell of. */
  readonly told: number;
  /** Whether these still wait when the worker comes, or were drained before. */
  readonly waiting: boolean;
  /** How much of its journal the provider keeps; null: all. */
  readonly keep: number | null;
  /** Whether a check is due: else the sums stay at the first snapshot. */
  readonly due: boolean;
}

interface Place {
  readonly scene: Scene;
  readonly first: BalanceSnapshot;
  readonly told: readonly ToldWebhook[];
  /** Id and version of each transaction that we are to have, in the order of ids. */
  readonly transactions: readonly string[];
  readonly accounts: string[];
}

const places = new WeakMap<WorkerWorld, Place>();
const ADDRESSES = Array.from({ length: 12 }, (_, n) => `address-${String(n).padStart(2, '0')}`);
const BY = { actor: 'cli:drill', traceId: null };
const FINISH_WITHIN_MS = 80_000;

/** Accounts of ours that all mirror the same one at the provider, each into rows of its own. */
export async function mirrorMany(world: WorkerWorld, count: number, scene: Scene): Promise<BalanceSourceKey[]> {
  const place = places.get(world) ?? (await makePlace(world, scene));
  places.set(world, place);
  const keys = Array.from({ length: count }, () => keyOf(`account-${randomBytes(4).toString('hex')}`));
  for (const key of keys) await seed(world, key, place);
  place.accounts.push(...keys.map(({ account }) => account));
  return keys;
}

function keyOf(account: string): BalanceSourceKey {
  return { book: 'live', provider: 'pert', account };
}

/** The simulator of a world that has one. */
export function pertOf({ pert }: WorkerWorld): SimulatedPert {
  if (pert === null) throw new Error('This world has no provider of balances: its flow says `pert: true`.');
  return pert;
}

async function makePlace(world: WorkerWorld, scene: Scene): Promise<Place> {
  const pert = pertOf(world);
  const move = (body: object) => pert.drive('POST', '/_sim/transactions', { webhooks: false, ...body });
  for (const currency of ['USDT', 'BTC']) {
    await move({ from: null, to: ADDRESSES, currency, amount: '1000', count: ADDRESSES.length });
  }
  const first = await pert.live.readCurrencies();
  const [usdt, btc] = [
    { currency: 'USDT', amount: '0.25' },
    { currency: 'BTC', amount: '0.00000001' },
  ];
  const ring = { from: ADDRESSES, to: [...ADDRESSES.slice(5), ...ADDRESSES.slice(0, 5)] };
  if (scene.silent > 0) {
    await move({ ...usdt, ...ring, count: scene.silent - 200 });
    await move({ ...btc, from: null, to: ADDRESSES, count: 100 });
    await move({ ...usdt, from: ADDRESSES, to: null, count: 100 });
  }
  for (const how of [usdt, btc]) await move({ ...how, ...ring, count: scene.told / 2, webhooks: true });
  const told = await heardWebhooks(pert);
  const all = await readJournal(pert, first.cursor);
  const ends = told.map(({ body }) => /"id":"([^"]+)"/.exec(body.toString('utf8'))?.[1]);
  const isKnown = scene.due && scene.keep === null ? () => true : (id: string) => ends.includes(id);
  const transactions = [...all].filter(([id]) => isKnown(id)).map(([id, version]) => `${id} ${version}`);
  if (scene.keep !== null) await pert.drive('POST', '/_sim/retention', { keep: scene.keep });
  return { scene, first, told, transactions: transactions.toSorted(), accounts: [] };
}

async function readJournal(pert: SimulatedPert, from: string): Promise<ReadonlyMap<string, bigint>> {
  const found = new Map<string, bigint>();
  for (let cursor: string | null = from; cursor !== null; ) {
    const page = await pert.live.readChanges({ sinceCursor: cursor, limit: 1_000 });
    if (page.tooOld) throw new Error('The journal is to be read before it forgets.');
    for (const item of page.items) if (item.ok) found.set(item.transaction.id, item.transaction.balanceVersion);
    cursor = page.hasMore ? page.nextCursor : null;
  }
  return found;
}

/** It stands where the first snapshot was, by the product's own doors, and belongs to a merchant of its own. */
async function seed(world: WorkerWorld, key: BalanceSourceKey, { first, told, scene }: Place): Promise<void> {
  const { tx, owner } = world;
  const { id: sourceId } = await lockBalanceSource(tx, key);
  await stateBalances(tx, sourceId, first.currencies);
  await moveBalanceBase(tx, { sourceId, cursor: first.cursor, isReset: true });
  const journal = { ...key, feed: 'changes' };
  await readCursor(tx, journal);
  await moveCursor(tx, journal, first.cursor);
  await assignBalanceSource(tx, { ...key, merchantId: await makeMerchantRow(world) }, BY);
  await storeWebhooks(queriesOf(owner), told, key);
  if (!scene.waiting) await createBalanceActivities(oneAccount(world.deps)).databaseDrainBalances(key);
  await makeDue(world, key, scene.due);
}

async function makeDue({ owner }: WorkerWorld, { account }: BalanceSourceKey, isDue: boolean): Promise<void> {
  await owner.query(
    `update sverka.balance_source set next_check_at = clock_timestamp() + $2::int * interval '1 day'
      where account = $1`,
    [account, isDue ? 0 : 1],
  );
}

/** Temporal may have no time to answer; to say it twice does no harm. */
export async function nudgeAll({ temporal }: WorkerWorld, keys: readonly BalanceSourceKey[]): Promise<void> {
  for (const key of keys) {
    await nudgeBalances(temporal, key).catch(() => nudgeBalances(temporal, key));
  }
}

/** Nothing waits any more, the check that was due has come to an end, and nobody works on it. */
export async function untilMirrored(
  world: WorkerWorld,
  keys: readonly BalanceSourceKey[],
  checks = placeOf(world).scene.due ? 1 : 0,
): Promise<void> {
  for (const end = Date.now() + FINISH_WITHIN_MS; !(await areMirrored(world, keys, checks)); await pause(100)) {
    if (Date.now() > end) throw new Error('The mirrors did not come to their end.');
  }
  for (const key of keys) {
    await world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(key)).terminate('it is over');
  }
}

async function areMirrored(world: WorkerWorld, keys: readonly BalanceSourceKey[], checks: number): Promise<boolean> {
  const { rows } = await world.owner.query<{ ended: number; waiting: number }>(
    `select (select count(*) from sverka.balance_check c where c.source_id = s.id and c.result <> 'failed')::int as ended,
        (select count(*) from sverka.inbox i where i.endpoint = s.account and i.status <> 'done')::int as waiting
       from sverka.balance_source s where s.account = any ($1)`,
    [keys.map(({ account }) => account)],
  );
  if (rows.some(({ ended, waiting }) => ended < checks || waiting > 0)) return false;
  for (const key of keys) {
    const { raw } = await world.temporal.client.workflow.getHandle(balanceSyncWorkflowId(key)).describe();
    if ((raw.pendingActivities ?? []).length > 0) return false;
  }
  return true;
}

/** Every webhook once more, as if nobody had done it, and another check where one was. */
export async function mirrorAgain(world: WorkerWorld, keys: readonly BalanceSourceKey[]): Promise<void> {
  const { due } = placeOf(world).scene;
  const accounts = keys.map(({ account }) => account);
  await world.owner.query(`update sverka.inbox set status = 'pending' where endpoint = any ($1)`, [accounts]);
  for (const key of keys) await makeDue(world, key, due);
  await nudgeAll(world, keys);
}

function placeOf(world: WorkerWorld): Place {
  const place = places.get(world);
  if (!place) throw new Error('Nothing has happened at the provider of this world.');
  return place;
}

/** What the provider has, as each account is to mirror it. */
export async function balancesAtProvider(world: WorkerWorld): Promise<string[]> {
  const { accounts, first, transactions, scene } = placeOf(world);
  const pert = pertOf(world);
  const now = scene.due ? await pert.live.readCurrencies() : first;
  const { objects } = await pert.truth();
  const addresses = (objects['addresses'] ?? []) as unknown as TrueAddress[];
  const digest = createHash('md5').update(transactions.join('\n')).digest('hex');
  const told = scene.keep === null ? 0 : accounts.length;
  return [
    ...accounts.flatMap((account) => [
      ...now.currencies.map(({ currency, balance }) => `${account} ${currency}: ${plain(balance)}`),
      ...addresses.map(
        (each) => `${account} ${each.address} ${each.currency}: ${plain(each.balance)} at ${each.balance_version}`,
      ),
      `${account}: ${transactions.length} transactions, ${digest}`,
      `${account}: stands at ${now.cursor}, its sums at ${now.cursor}`,
      `${account}: stale ${scene.keep === null ? 0 : addresses.length}`,
    ]),
    ...Array.from({ length: told }, (_, n) => `told ${n + 1}`),
  ];
}

interface TrueAddress {
  readonly address: string;
  readonly currency: string;
  readonly balance: string;
  readonly balance_version: string;
}

/** What we have of it; a check that found a difference, a conflict, a movement and a second open check beside it. */
export async function balancesOfOurs({ owner }: WorkerWorld): Promise<string[]> {
  const { rows } = await owner.query<{ line: string }>(`
    select s.account || ' ' || c.currency || ': ' || trim_scale(c.base + c.moved) as line
      from sverka.balance_currency c join sverka.balance_source s on s.id = c.source_id
    union all
    select s.account || ' ' || a.address || ' ' || a.currency || ': ' || trim_scale(a.balance) || ' at ' || a.version
      from sverka.balance_address a join sverka.balance_source s on s.id = a.source_id
    union all
    select s.account || ': ' || count(t.id) || ' transactions, '
        || md5(coalesce(string_agg(t.id || ' ' || t.version, chr(10) order by t.id collate "C"), ''))
      from sverka.balance_source s left join sverka.balance_transaction t on t.source_id = s.id group by s.account
    union all
    select s.account || ': stands at ' || p.cursor || ', its sums at ' || s.base_cursor
      from sverka.balance_source s join sverka.source p on p.account = s.account and p.feed = 'changes'
    union all
    select s.account || ': stale ' || (select count(*) from sverka.balance_address a
        where a.source_id = s.id and a.resets < s.resets)
      from sverka.balance_source s
    union all
    select 'told ' || row_number() over () from sverka.event where type = 'balance.rebased'
    union all
    select 'a check of ' || source_id || ' found ' || result from sverka.balance_check where result = 'differs'
    union all
    select 'a conflict of ' || source_id from sverka.balance_conflict
    union all
    select 'a bad item of ' || source_id from sverka.balance_bad_item
    union all
    select source_id || ' has ' || count(*) || ' open checks' from sverka.balance_check where finished_at is null
      group by source_id having count(*) > 1
    union all
    select 'a movement ' || id from ledger.movement`);
  return rows.map(({ line }) => line);
}

/** As `trim_scale` writes it. */
function plain(decimal: string): string {
  return decimal.includes('.') ? decimal.replace(/0+$/, '').replace(/\.$/, '') : decimal;
}
