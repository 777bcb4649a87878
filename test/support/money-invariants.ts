import type pg from 'pg';
import type { AccountName } from '../../src/domain/journal.js';

/** How many rows a money fact leaves behind: a duplicate may show here and in no balance. */
export interface MoneyCounts {
  readonly accounts: number;
  readonly movements: number;
  readonly entries: number;
  readonly requests: number;
  readonly events: number;
  readonly audit: number;
}

/**
 * What every money test asserts (DESIGN 13), with SQL that shares nothing with `post` or `ledger verify`: each movement
 * has two entries or more and sums to zero per asset, each balance is the sum of its account's entries, none is out of
 * bounds, nobody owes and has. Answers the counts, for the test to compare. Wants a pool of a superuser or the worker.
 */
export async function expectMoneyInvariants(
  pool: pg.Pool,
  /** `any`: the test posts credits without a `collect` behind them, so an owner may owe and have. */
  debts: 'collected' | 'any' = 'collected',
): Promise<MoneyCounts> {
  expect(await brokenMoney(pool, debts)).toEqual([]);
  return countMoneyRows(pool);
}

/** What of that does not hold, a line each: for those who count instead of failing. */
export async function brokenMoney(pool: pg.Pool, debts: 'collected' | 'any' = 'collected'): Promise<string[]> {
  const broken = await pool.query<{ what: string }>(debts === 'any' ? BROKEN : `${BROKEN} union all ${OWES_AND_HAS}`);
  return broken.rows.map((row) => row.what);
}

/** Runs `again` (the same input, the same recovery, once more) and expects that not one row came of it. */
export async function expectNothingChanges(pool: pg.Pool, again: () => Promise<unknown>): Promise<void> {
  const before = await expectMoneyInvariants(pool);
  await again();
  expect(await expectMoneyInvariants(pool)).toEqual(before);
}

/** What stands on an account, summed from its entries; 0n where there is no such account. Compare it with the API. */
export async function sumOfEntries(pool: pg.Pool, name: AccountName): Promise<bigint> {
  const { rows } = await pool.query<{ total: string }>(
    `select coalesce(sum(e.amount), 0)::text as total from ledger.entry e join ledger.account a on a.id = e.account_id
      where a.book = $1 and a.merchant_id = $2 and a.customer_id is not distinct from $3 and a.kind = $4
        and a.ref = $5 and a.asset = $6`,
    [name.book, name.merchantId, name.customerId, name.kind, name.ref ?? '', name.asset],
  );
  return BigInt(rows[0]?.total ?? 0);
}

/** Counts without asserting anything. */
export async function countMoneyRows(pool: pg.Pool): Promise<MoneyCounts> {
  const { rows } = await pool.query<Record<keyof MoneyCounts, string>>(
    `select (select count(*) from ledger.account)::text as accounts,
            (select count(*) from ledger.movement)::text as movements,
            (select count(*) from ledger.entry)::text as entries,
            (select count(*) from sverka.request)::text as requests,
            (select count(*) from sverka.event)::text as events,
            (select count(*) from sverka.audit)::text as audit`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The counts did not come.');
  return {
    accounts: Number(row.accounts),
    movements: Number(row.movements),
    entries: Number(row.entries),
    requests: Number(row.requests),
    events: Number(row.events),
    audit: Number(row.audit),
  };
}

const BROKEN = `
  select format('movement %s (%s) has %s entries', m.id, m.kind, count(e.seq)) as what
    from ledger.movement m left join ledger.entry e on e.movement_id = m.id
    group by m.id, m.kind having count(e.seq) < 2
  union all
  select format('movement %s: its %s sum to %s', e.movement_id, a.asset, sum(e.amount))
    from ledger.entry e join ledger.account a on a.id = e.account_id
    group by e.movement_id, a.asset having sum(e.amount) <> 0
  union all
  select format('movement %s has accounts of %s books and %s merchants', e.movement_id, count(distinct a.book),
                count(distinct a.merchant_id))
    from ledger.entry e join ledger.account a on a.id = e.account_id
    group by e.movement_id having count(distinct a.book) <> 1 or count(distinct a.merchant_id) <> 1
  union all
  select format('account %s (%s): %s entries up to seq %s, head %s, sum %s', a.id, a.kind, t.entries, t.last, t.head,
                t.total)
    from ledger.account a
    join (select account_id, count(*) as entries, max(seq) as last, sum(amount) as total,
                 (array_agg(balance order by seq desc))[1] as head
            from ledger.entry group by account_id) t on t.account_id = a.id
    where t.entries <> t.last or t.head <> t.total or t.head < a.floor or t.head > a.cap`;

const OWES_AND_HAS = `
  select format('%s owes %s %s and has %s', coalesce(r.customer_id, r.merchant_id), -r.total, r.asset, w.total)
    from (select a.*, (select sum(e.amount) from ledger.entry e where e.account_id = a.id) as total
            from ledger.account a where a.kind = 'receivable') r
    join (select a.*, (select sum(e.amount) from ledger.entry e where e.account_id = a.id) as total
            from ledger.account a where a.kind = 'wallet') w
      on w.book = r.book and w.merchant_id = r.merchant_id and w.customer_id is not distinct from r.customer_id
        and w.asset = r.asset
    where r.total < 0 and w.total > 0`;
