import type { BalanceCheckRecord, BalanceRecord } from '../contracts/balance.js';
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

const CURRENCIES = `select s.account || ' ' || b.currency as position, s.account as source, b.currency, null as address,
    trim_scale(b.base + b.moved)::text as balance, null as version, false as stale,
    trim_scale(b.confirmed)::text as confirmed, trim_scale(b.frozen)::text as frozen, trim_scale(b.held)::text as held,
    trim_scale(b.available)::text as available, trim_scale(b.base + b.moved - b.confirmed)::text as difference,
    b.differs_since as "differsSince", s.last_action as "lastAction", b.last_read_at as "lastReadAt"
  from sverka.balance_currency b join sverka.balance_source s on s.id = b.source_id`;

const ADDRESSES = `select s.account || ' ' || b.address || ' ' || b.currency as position, s.account as source,
    b.currency, b.address, trim_scale(b.balance)::text as balance, b.version::text as version,
    b.resets < s.resets as stale, null as confirmed, null as frozen, null as held, null as available,
    null as difference, null as "differsSince", s.last_action as "lastAction", b.read_at as "lastReadAt"
  from sverka.balance_address b join sverka.balance_source s on s.id = b.source_id`;

/** Balances of the mirror, in the order of source, address and currency; one more than `limit` when there is more. */
export async function listBalances(db: Tx, asked: BalancesAsked): Promise<BalanceRecord[]> {
  const { by, stale, after } = asked;
  const where = createWhere();
  where.add(() => 'true');
  narrowTo(where, 's.book', asked.book ?? undefined);
  narrowTo(where, 's.merchant_id', asked.merchantId ?? undefined);
  narrowToEach(where, asked.filters);
  const order = by === 'address' ? ['s.account', 'b.address', 'b.currency'] : ['s.account', 'b.currency'];
  // What the provider states of a currency is never stale: it was read as a whole.
  const isStale = by === 'address' ? 'b.resets < s.resets' : 'false';
  if (stale !== undefined) where.add((p) => `(${isStale}) = ${p(stale)}`);
  if (after !== null) {
    where.add(
      (p) =>
        `(${order.join(', ')}) > (${after
          .split(' ')
          .map((part) => p(part))
          .join(', ')})`,
    );
  }
  return db.query<BalanceRecord>(
    `${by === 'address' ? ADDRESSES : CURRENCIES} where ${where.sql()} order by ${order.join(', ')}
      limit ${where.parameter(asked.limit + 1)}`,
    where.params,
  );
}

const CHECKS = `select c.id, s.account as source, c.trigger, c.result, c.actions, c.currencies,
    c.changes_read as "changesRead", c.consecutive_differences as "consecutiveDifferences",
    c.started_at as "startedAt", c.finished_at as "finishedAt"
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
): Promise<{ readonly id: number; readonly book: Scope['book']; readonly account: string }[]> {
  return db.query('select id, book, account from sverka.balance_source where account = $1 order by book', [account]);
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
