import type { BalanceCheckRecord, BalanceRecord } from '../contracts/balance.js';
import type { BalanceSourceKey } from './balance-mirror.js';
import { addPeriod, createWhere, type Filters, type Page, type Scope } from './lists.js';
import { narrowTo, narrowToEach } from './sorted-list.js';
import type { Tx } from './transaction.js';

/** What a reader asks for; `merchantId` null sees the sources of all. */
export interface BalancesAsked {
  /** Null is both. */
  readonly book: Scope['book'] | null;
  readonly merchantId: string | null;
  readonly by: 'currency' | 'address';
  /** By column; several values are OR. */
  readonly filters: Filters;
  readonly stale: boolean | undefined;
  /** `position` of the last row of the page before. */
  readonly after: string | null;
  readonly limit: number;
}

const CURRENCIES = `select s.account || ' ' || b.currency as position, s.key as "sourceKey", s.account as source,
    b.currency, null as address, trim_scale(b.base + b.moved)::text as balance, null as version, false as stale,
    trim_scale(b.confirmed)::text as confirmed, trim_scale(b.frozen)::text as frozen, trim_scale(b.held)::text as held,
    trim_scale(b.available)::text as available, trim_scale(b.base + b.moved - b.confirmed)::text as difference,
    b.differs_since as "differsSince", s.last_action as "lastAction", b.last_read_at as "lastReadAt"`;

const ADDRESSES = `select s.account || ' ' || b.address || ' ' || b.currency as position, s.key as "sourceKey",
    s.account as source, b.currency, b.address, trim_scale(b.balance)::text as balance, b.version::text as version,
    b.resets < s.resets as stale, null as confirmed, null as frozen, null as held, null as available,
    null as difference, null as "differsSince", s.last_action as "lastAction", b.read_at as "lastReadAt"`;

/** Balances of the mirror, in the order of source, address and currency; one more than `limit` when there is more. */
export async function listBalances(db: Tx, asked: BalancesAsked): Promise<BalanceRecord[]> {
  const where = createWhere();
  const p = where.parameter;
  const equal = (column: string, values: readonly string[]) =>
    values.length === 1 ? `${column} = ${p(values[0])}` : `${column} = any (${p(values)}::text[])`;
  const filters = Object.entries(asked.filters).flatMap(([column, values]) =>
    values?.length ? [equal(column, values)] : [],
  );
  const ofSource = ['true', ...filters.filter((condition) => condition.startsWith('s.'))];
  const ofBalance = filters.filter((condition) => condition.startsWith('b.'));
  if (asked.book !== null) ofSource.push(`s.book = ${p(asked.book)}`);
  if (asked.merchantId !== null) ofSource.push(`s.merchant_id = ${p(asked.merchantId)}`);
  const after = asked.after === null ? null : placeOf(asked.after, asked.by);
  if (after !== null) ofSource.push(`s.account >= ${p(after.source)}`);
  // Where a source comes behind that of the last row, all of it does.
  const behind = (text: string) => `case when s.account = ${p(after?.source)} then ${p(text)} else '' end`;
  const limit = p(asked.limit + 1);
  if (asked.by === 'currency') {
    // What the provider states of a currency is never stale: it was read as a whole.
    if (asked.stale) ofSource.push('false');
    if (after !== null) ofBalance.push(`b.currency > ${behind(after.currency)}`);
    return db.query<BalanceRecord>(
      `${CURRENCIES} from sverka.balance_source s join sverka.balance_currency b on b.source_id = s.id
        where ${[...ofSource, ...ofBalance].join(' and ')} order by s.account, b.currency limit ${limit}`,
      where.params,
    );
  }
  if (after !== null) ofBalance.push(`(b.address, b.currency) > (${behind(after.address)}, ${behind(after.currency)})`);
  // Of each source, and of each reset that is asked for, the first rows of an index: many addresses cost nothing.
  const ofResets = asked.stale === undefined ? 'true' : 'b.resets = r.resets';
  const resets = asked.stale === false ? 's.resets, s.resets' : '0, s.resets - 1';
  const eachReset = asked.stale === undefined ? '' : `cross join lateral generate_series(${resets}) r(resets)`;
  return db.query<BalanceRecord>(
    `${ADDRESSES} from sverka.balance_source s ${eachReset} cross join lateral (
         select b.* from sverka.balance_address b
          where ${['b.source_id = s.id', ofResets, ...ofBalance].join(' and ')}
          order by b.address, b.currency limit ${limit}) b
      where ${ofSource.join(' and ')} order by s.account, b.address, b.currency limit ${limit}`,
    where.params,
  );
}

/** The parts of a position: an address may hold spaces, the names around it do not. */
function placeOf(position: string, by: BalancesAsked['by']): { source: string; address: string; currency: string } {
  const [first, last] = [position.indexOf(' '), position.lastIndexOf(' ')];
  const address = by === 'address' ? position.slice(first + 1, Math.max(last, first + 1)) : '';
  return { source: position.slice(0, Math.max(first, 0)), address, currency: position.slice(last + 1) };
}

const CHECKS = `select c.id, s.account as source, c.trigger, c.result, c.actions, c.currencies,
    c.changes_read as "changesRead", c.consecutive_differences as "consecutiveDifferences",
    c.started_at as "startedAt", c.finished_at as "finishedAt", s.key as "sourceKey", s.book, c.trace_id as "traceId"
  from sverka.balance_check c join sverka.balance_source s on s.id = c.source_id`;

/** Checks, newest first; one more than `limit` when there is more. */
export async function listBalanceChecks(
  db: Tx,
  asked: {
    readonly book: Scope['book'] | null;
    readonly merchantId: string | null;
    readonly filters: Filters;
  } & Page,
): Promise<BalanceCheckRecord[]> {
  const where = createWhere();
  where.add(() => 'true');
  narrowTo(where, 's.book', asked.book ?? undefined);
  narrowTo(where, 's.merchant_id', asked.merchantId ?? undefined);
  narrowToEach(where, asked.filters);
  addPeriod(where, 'c.started_at', asked);
  const after = asked.after;
  if (after !== null) {
    where.add((p) => `(c.started_at, c.id) < (select started_at, id from sverka.balance_check where id = ${p(after)})`);
  }
  return db.query<BalanceCheckRecord>(
    `${CHECKS} where ${where.sql()} order by c.started_at desc, c.id desc limit ${where.parameter(asked.limit + 1)}`,
    where.params,
  );
}

/** The sources of that name, one in each book at most. */
export async function findBalanceSources(
  db: Tx,
  account: string,
): Promise<(BalanceSourceKey & { readonly id: number; readonly key: string })[]> {
  return db.query(
    'select id, key, book, provider, account from sverka.balance_source where account = $1 order by book',
    [account],
  );
}

/** The check of that id, whosever its source is; null where there is none. For people of ours. */
export async function findCheckForConsole(db: Tx, id: string): Promise<BalanceCheckRecord | null> {
  const [row] = await db.query<BalanceCheckRecord>(`${CHECKS} where c.id = $1`, [id]);
  return row ?? null;
}

/** The check of that id, of a source of that merchant; null where there is none. */
export async function findBalanceCheck(
  db: Tx,
  of: Scope & { readonly id: string },
): Promise<BalanceCheckRecord | null> {
  const [row] = await db.query<BalanceCheckRecord>(`${CHECKS} where c.id = $1 and s.book = $2 and s.merchant_id = $3`, [
    of.id,
    of.book,
    of.merchantId,
  ]);
  return row ?? null;
}
