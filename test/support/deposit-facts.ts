import type pg from 'pg';
import { CANARY_CARD, type DepositWorld } from './deposit-world.js';
import { expectMoneyInvariants, type MoneyCounts } from './money-invariants.js';

export interface DepositFacts {
  readonly id: string;
  readonly ref: string;
  readonly state: string;
  readonly reason: string | null;
  readonly flag: string | null;
  readonly generation: number;
  readonly version: number;
  readonly merchant: string;
  readonly customer: string | null;
  readonly status: string;
  readonly reported: string;
  readonly credited: string | null;
  readonly asset: string | null;
  readonly hash: string | null;
  readonly movements: string[];
}

/** The deposit of that custodian's id, as the database keeps it; throws when it is not there. */
export async function depositOf(pool: pg.Pool, ref: string): Promise<DepositFacts> {
  const { rows } = await pool.query<DepositFacts>(
    `select id, provider_ref as ref, state, reason, flag, generation, version, merchant_id as merchant,
       customer_id as customer, provider_status as status, reported_text as reported, credited_amount::text as credited,
       credited_asset as asset, tx_hash as hash, movement_ids as movements
     from sverka.deposit where provider_ref = $1`,
    [ref],
  );
  if (rows.length !== 1 || !rows[0]) throw new Error(`There are ${rows.length} deposits ${ref}.`);
  return rows[0];
}

/** States in the order of its audit rows. */
export async function pathOf(pool: pg.Pool, subjectId: string): Promise<string[]> {
  const { rows } = await pool.query<{ to: string }>(
    'select to_state as to from sverka.audit where subject_id = $1 order by version',
    [subjectId],
  );
  return rows.map((row) => row.to);
}

export interface InboxFacts {
  readonly delivery: string;
  readonly ref: string | null;
  readonly status: string;
  readonly reason: string | null;
  readonly waits: string | null;
}

export async function inboxOf(pool: pg.Pool, where = 'true'): Promise<InboxFacts[]> {
  const { rows } = await pool.query<InboxFacts>(
    `select delivery_id as delivery, subject_ref as ref, status, reason, waits_for as waits from sverka.inbox
      where ${where} order by delivery_id collate "C"`,
  );
  return rows;
}

/** Open alerts as `kind key`. */
export async function openAlerts(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ alert: string }>(
    `select kind || ' ' || key as alert from sverka.alert where state = 'open' order by key collate "C"`,
  );
  return rows.map((row) => row.alert);
}

/**
 * DESIGN 13 for deposits: the journal's invariants; per credit one movement, in the deposit's own words; per move one
 * audit row and, where a merchant is told, one event; no card number in any table that a stranger's text reaches.
 */
export async function expectDepositInvariants(pool: pg.Pool): Promise<MoneyCounts> {
  expect(await brokenDeposits(pool)).toEqual([]);
  return expectMoneyInvariants(pool);
}

/** What of deposits, their audit, their events and card numbers does not hold, a line each. */
export async function brokenDeposits(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(BROKEN);
  return rows.map((row) => row.what);
}

/** Runs `again` and expects that not one row came of it, nor a due nudge. */
export async function expectNothingComesOf(world: DepositWorld, again: () => Promise<unknown>): Promise<void> {
  const count = async () => ({
    ...(await expectDepositInvariants(world.owner)),
    inbox: (await inboxOf(world.owner)).length,
  });
  const before = await count();
  await again();
  expect(await count()).toEqual(before);
}

const BROKEN = `
  select format('deposit %s is %s and has %s credits of generation %s', d.id, d.state, count(m.id), d.generation) as what
    from sverka.deposit d left join ledger.movement m
      on m.subject_id = d.id and m.kind = 'deposit_credit' and m.generation = d.generation
    group by d.id having count(m.id) <> case when d.state in ('credited', 'final') then 1 else 0 end
      and d.state <> 'orphaned'
  union all
  select format('deposit %s says %s %s was credited, its wallet got %s', d.id, d.credited_amount, d.credited_asset, e.amount)
    from sverka.deposit d join ledger.movement m on m.subject_id = d.id and m.kind = 'deposit_credit'
        and m.generation = d.generation
      join ledger.entry e on e.movement_id = m.id join ledger.account a on a.id = e.account_id and a.kind = 'wallet'
    where (d.credited_amount, d.credited_asset, d.merchant_id) is distinct from (e.amount, a.asset, a.merchant_id)
      or d.customer_id is distinct from a.customer_id
  union all
  select format('output %s:%s is credited %s times', tx_hash, output_index, count(*))
    from sverka.deposit where state in ('credited', 'final')
    group by book, provider, provider_account, network, tx_hash, output_index having count(*) > 1
  union all
  select format('%s has version %s and %s audit rows up to %s', s.id, s.version, count(a.id), max(a.version))
    from (select id, version from sverka.deposit union all select id, version from sverka.deposit_address) s
      left join sverka.audit a on a.subject_id = s.id
    group by s.id, s.version having count(a.id) <> s.version or max(a.version) <> s.version
  union all
  select format('audit row %s (%s) has %s events', a.id, a.to_state, count(e.id))
    from sverka.audit a left join sverka.event e
      on e.subject_id = a.subject_id and e.version = a.version and e.type = 'deposit.' || a.to_state
    where a.subject_type = 'deposit'
    group by a.id having count(e.id) <> case when a.to_state in ('noticed', 'parked') then 0 else 1 end
  union all
  select format('event %s belongs to no audit row', e.id) from sverka.event e
    where e.subject_type not in ('receivable', 'request', 'balance_check')
      and not exists (select from sverka.audit a where a.subject_id = e.subject_id and a.version = e.version)
  union all
  select 'a card number is kept in ' || t.name
    from (select 'deposit' as name, d::text as text from sverka.deposit d union all
          select 'event', e::text from sverka.event e union all select 'alert', a::text from sverka.alert a union all
          select 'audit', a::text from sverka.audit a union all
          select 'movement', m::text from ledger.movement m) t
    where t.text like '%${CANARY_CARD}%'`;
