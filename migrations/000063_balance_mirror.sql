-- The balance mirror: what a provider says of accounts that he keeps, beside our books and never in them (R19).
set role sverka_owner;

-- An account at a provider whose balances are mirrored. It belongs to one merchant; to nobody yet where null.
create table sverka.balance_source (
  id integer generated always as identity primary key,
  book text not null check (book in ('live', 'test')),
  provider text not null,
  account text not null,
  merchant_id text references sverka.merchant,
  -- The snapshot that our sums rest on: its cursor, and how many there were. Null before the first load.
  base_cursor text,
  base_number integer not null default 0,
  -- How often the journal could not tell what was missed. An address that was seen before the last of them is stale.
  resets integer not null default 0,
  -- Checks in a row that found a difference which stayed.
  differences integer not null default 0,
  last_action text,
  -- Why it is to be compared before its time.
  asked text check (asked in ('webhook_gap', 'operator')),
  -- When it was last compared with a snapshot, and when it is next.
  checked_at timestamptz,
  next_check_at timestamptz not null default clock_timestamp(),
  created_at timestamptz not null default clock_timestamp(),
  unique (book, provider, account)
);

create table sverka.balance_currency (
  source_id integer not null references sverka.balance_source,
  currency text not null check (currency ~ '^[!-~]{1,32}$'),
  -- As the provider states them in the last snapshot; nothing is derived from them.
  confirmed numeric not null,
  frozen numeric not null,
  held numeric not null,
  available numeric not null,
  -- Our sum is the base's total and what the journal has moved since. `seen`: the same with what webhooks alone told.
  base numeric not null,
  moved numeric not null default 0,
  seen numeric not null default 0,
  differs_since timestamptz,
  last_read_at timestamptz not null,
  primary key (source_id, currency)
);

create table sverka.balance_address (
  source_id integer not null references sverka.balance_source,
  address text not null,
  currency text not null,
  balance numeric not null check (balance >= 0 and balance <> 'NaN'),
  version numeric(78, 0) not null,
  -- The reset since which it was seen.
  resets integer not null,
  read_at timestamptz not null,
  -- Of the base that what follows is about; another one's counts for nothing.
  base_number integer not null,
  -- In the journal since: before the lowest version there, and at the highest.
  first_version numeric(78, 0),
  first_before numeric,
  last_version numeric(78, 0),
  last_after numeric,
  -- Before the lowest version that anything told since.
  seen_version numeric(78, 0) not null,
  seen_before numeric not null,
  primary key (source_id, address, currency)
);
create index balance_address_base on sverka.balance_address (source_id, base_number);
create index balance_address_place on sverka.balance_address (address);

create table sverka.balance_transaction (
  source_id integer not null references sverka.balance_source,
  id text not null,
  version numeric(78, 0) not null,
  status text not null,
  currency text not null,
  from_address text,
  from_amount numeric,
  from_balance numeric,
  to_address text,
  to_amount numeric,
  to_balance numeric,
  -- As the provider wrote it.
  created text not null,
  primary key (source_id, id)
);

-- Two balances of one address under one version (R1): the later is applied, the next snapshot decides.
create table sverka.balance_conflict (
  id bigint generated always as identity primary key,
  source_id integer not null references sverka.balance_source,
  address text not null,
  currency text not null,
  version numeric(78, 0) not null,
  known numeric not null,
  told numeric not null,
  recorded_at timestamptz not null default clock_timestamp()
);

-- Items of the journal that could not be read: kept as they came, so that the position may pass them.
create table sverka.balance_bad_item (
  id bigint generated always as identity primary key,
  source_id integer not null references sverka.balance_source,
  -- The page that it stood in, to read it again.
  since_cursor text not null,
  page_limit integer not null,
  item_id text,
  raw text not null,
  reason text not null,
  base_number integer not null,
  found_at timestamptz not null default clock_timestamp(),
  applied_at timestamptz,
  unique nulls not distinct (source_id, since_cursor, item_id, raw)
);

create table sverka.balance_check (
  id text primary key check (id ~ '^bchk_[0-9a-z]{26}$'),
  source_id integer not null references sverka.balance_source,
  trigger text not null check (trigger in ('timer', 'webhook_gap', 'operator', 'first_load')),
  result text check (result in ('equal', 'healed', 'differs', 'rebased', 'failed')),
  actions text[] not null default '{}',
  -- The snapshot that it compares with.
  cursor text,
  min_cursor text,
  theirs jsonb,
  -- What differed: first by what webhooks had told, at its end by what the journal says.
  currencies jsonb not null default '[]',
  changes_read integer not null default 0,
  consecutive_differences integer not null default 0,
  trace_id text,
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  check ((result is null) = (finished_at is null))
);
create unique index balance_check_open on sverka.balance_check (source_id) where finished_at is null;
create index balance_check_of on sverka.balance_check (source_id, started_at desc, id desc);

create function sverka.keep_finished_check() returns trigger language plpgsql as $$
begin
  raise exception 'a finished check stays as it is' using errcode = 'insufficient_privilege';
end $$;
create trigger keep_finished before update on sverka.balance_check for each row when (old.finished_at is not null)
  execute function sverka.keep_finished_check();
create trigger keep_rows before delete or truncate on sverka.balance_check
  for each statement execute function sverka.refuse_delete();
create trigger append_only before update or delete or truncate on sverka.balance_conflict
  for each statement execute function sverka.refuse_change();

-- Makes the source where it is not there, and locks it: everything below is written by who holds this lock.
create function sverka.lock_balance_source(of_book text, of_provider text, of_account text)
returns sverka.balance_source language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' as $$
declare source sverka.balance_source;
begin
  insert into sverka.balance_source (book, provider, account) values (of_book, of_provider, of_account)
    on conflict (book, provider, account) do nothing;
  select * into source from sverka.balance_source s
    where s.book = of_book and s.provider = of_provider and s.account = of_account for no key update;
  return source;
end $$;

-- Applies transactions in the order in which they came, absolutely and by version. `from_journal`: what our sums count;
-- what only a webhook has told is shown. Answers what was
-- new: transactions, addresses, sides of older versions, conflicts, addresses of which something between is missing.
create function sverka.mirror_transactions(of_source integer, from_journal boolean, ids text[], statuses text[],
  currencies text[], versions numeric[], from_addresses text[], from_amounts numeric[], from_balances numeric[],
  to_addresses text[], to_amounts numeric[], to_balances numeric[], created text[],
  out stored integer, out moved integer, out stale integer, out conflicts integer, out gaps integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  with told as (
    select distinct on (i.id) i.* from unnest(ids, versions, statuses, currencies, from_addresses, from_amounts,
        from_balances, to_addresses, to_amounts, to_balances, mirror_transactions.created) with ordinality
        as i(id, version, status, currency, from_address, from_amount, from_balance, to_address, to_amount, to_balance,
          made, place)
      order by i.id, i.version desc, i.place desc),
  news as (
    select n.* from told n left join sverka.balance_transaction t on t.source_id = of_source and t.id = n.id
      where t.id is null or n.version > t.version or n.version = t.version
        and (n.status, n.currency, n.from_address, n.from_amount, n.from_balance, n.to_address, n.to_amount, n.to_balance)
          is distinct from (t.status, t.currency, t.from_address, t.from_amount, t.from_balance, t.to_address,
            t.to_amount, t.to_balance)
      order by n.id),
  kept as (
    insert into sverka.balance_transaction as t
      select of_source, n.id, n.version, n.status, n.currency, n.from_address, n.from_amount, n.from_balance,
          n.to_address, n.to_amount, n.to_balance, n.made from news n
    on conflict (source_id, id) do update set version = excluded.version, status = excluded.status,
      currency = excluded.currency, from_address = excluded.from_address, from_amount = excluded.from_amount,
      from_balance = excluded.from_balance, to_address = excluded.to_address, to_amount = excluded.to_amount,
      to_balance = excluded.to_balance, created = excluded.created
    returning 1)
  select count(*) into stored from kept;

  with sides as (
    -- Of one address with itself, the account's balance is what stands after both.
    select i.place, i.from_address as address, i.currency, i.version,
        case when i.from_address = i.to_address then i.to_balance else i.from_balance end as after,
        case when i.from_address = i.to_address then i.to_balance + i.from_amount - i.to_amount
          else i.from_balance + i.from_amount end as before
      from unnest(currencies, versions, from_addresses, from_amounts, from_balances, to_addresses, to_amounts,
          to_balances) with ordinality
        as i(currency, version, from_address, from_amount, from_balance, to_address, to_amount, to_balance, place)
      where i.from_address is not null
    union all
    select i.place, i.to_address, i.currency, i.version, i.to_balance, i.to_balance - i.to_amount
      from unnest(currencies, versions, from_addresses, to_addresses, to_amounts, to_balances) with ordinality
        as i(currency, version, from_address, to_address, to_amount, to_balance, place)
      where i.to_address is not null and i.to_address is distinct from i.from_address),
  told as (
    select s.address, s.currency, max(s.version) as highest, min(s.version) as lowest,
        (array_agg(s.after order by s.version desc, s.place desc))[1] as after,
        (array_agg(s.before order by s.version, s.place))[1] as before
      from sides s group by s.address, s.currency),
  weighed as (
    select t.*, a.balance as known, a.version, a.resets, a.read_at, a.first_version, a.first_before, a.last_version,
        a.last_after, a.seen_version, a.seen_before, s.resets as now_resets, s.base_number as now_base,
        a.address is null or t.highest >= a.version as is_news,
        a.base_number is not distinct from s.base_number as is_same
      from told t join sverka.balance_source s on s.id = of_source
        left join sverka.balance_address a
          on a.source_id = of_source and a.address = t.address and a.currency = t.currency),
  conflicting as (
    insert into sverka.balance_conflict (source_id, address, currency, version, known, told)
      select of_source, w.address, w.currency, w.version, w.known, w.after from weighed w
        where w.highest = w.version and w.known <> w.after
      returning 1),
  after as (
    select w.address, w.currency,
        case when w.is_news then w.after else w.known end as balance,
        greatest(w.highest, w.version) as version,
        case when w.is_news then w.now_resets else w.resets end as resets,
        w.now_base as base_number,
        case when not from_journal then case when w.is_same then w.first_version end
          when w.is_same and w.first_version <= w.lowest then w.first_version else w.lowest end as first_version,
        case when not from_journal then case when w.is_same then w.first_before end
          when w.is_same and w.first_version <= w.lowest then w.first_before else w.before end as first_before,
        case when not from_journal then case when w.is_same then w.last_version end
          when w.is_same and w.last_version > w.highest then w.last_version else w.highest end as last_version,
        case when not from_journal then case when w.is_same then w.last_after end
          when w.is_same and w.last_version > w.highest then w.last_after else w.after end as last_after,
        case when w.is_same and w.seen_version <= w.lowest then w.seen_version else w.lowest end as seen_version,
        case when w.is_same and w.seen_version <= w.lowest then w.seen_before else w.before end as seen_before,
        w.is_news,
        case when w.is_same then coalesce(w.last_after - w.first_before, 0) else 0 end as had_moved,
        case when w.is_same then w.known - w.seen_before else 0 end as had_seen
      from weighed w
      -- A webhook of an older version tells nothing, not even where the sum began.
      where from_journal or w.is_news),
  changed as (
    select a.* from after a left join sverka.balance_address k
        on k.source_id = of_source and k.address = a.address and k.currency = a.currency
      where k.address is null
        or (a.balance, a.version, a.resets, a.first_version, a.first_before, a.last_version, a.last_after,
              a.seen_version, a.seen_before)
          is distinct from (k.balance, k.version, k.resets, k.first_version, k.first_before, k.last_version,
              k.last_after, k.seen_version, k.seen_before)
        or a.base_number <> k.base_number
      order by a.address, a.currency),
  kept as (
    insert into sverka.balance_address as k (source_id, address, currency, balance, version, resets, read_at,
        base_number, first_version, first_before, last_version, last_after, seen_version, seen_before)
      select of_source, c.address, c.currency, c.balance, c.version, c.resets, clock_timestamp(), c.base_number,
          c.first_version, c.first_before, c.last_version, c.last_after, c.seen_version, c.seen_before
        from changed c
    on conflict (source_id, address, currency) do update set balance = excluded.balance, version = excluded.version,
      resets = excluded.resets, read_at = excluded.read_at, base_number = excluded.base_number,
      first_version = excluded.first_version, first_before = excluded.first_before,
      last_version = excluded.last_version, last_after = excluded.last_after, seen_version = excluded.seen_version,
      seen_before = excluded.seen_before
    returning 1),
  summed as (
    select c.currency, sum(coalesce(c.last_after - c.first_before, 0) - c.had_moved) as moved,
        sum(c.balance - c.seen_before - c.had_seen) as seen
      from changed c group by c.currency),
  booked as (
    insert into sverka.balance_currency as b
        (source_id, currency, confirmed, frozen, held, available, base, moved, seen, last_read_at)
      select of_source, s.currency, 0, 0, 0, 0, 0, s.moved, s.seen, clock_timestamp() from summed s
        where s.moved <> 0 or s.seen <> 0 order by s.currency
    on conflict (source_id, currency) do update set moved = b.moved + excluded.moved, seen = b.seen + excluded.seen
    returning 1)
  select (select count(*) from kept), (select count(*) from weighed w where not w.is_news),
      (select count(*) from conflicting),
      (select count(*) from weighed w where w.lowest > w.version and w.before <> w.known)
    into moved, stale, conflicts, gaps;
end $$;

-- What the provider states, as the last snapshot had it; a currency that it does not name counts as nothing.
create function sverka.state_balances(of_source integer, currencies text[], balances numeric[], frozen numeric[],
  held numeric[], available numeric[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.balance_currency as c
      (source_id, currency, confirmed, frozen, held, available, base, last_read_at)
    select of_source, coalesce(x.currency, k.currency), coalesce(x.balance, 0), coalesce(x.frozen, 0),
        coalesce(x.held, 0), coalesce(x.available, 0), 0, clock_timestamp()
      from unnest(currencies, balances, state_balances.frozen, state_balances.held, state_balances.available)
          x(currency, balance, frozen, held, available)
        full join (select y.currency from sverka.balance_currency y where y.source_id = of_source) k
          on k.currency = x.currency
      order by 2
  on conflict (source_id, currency) do update set confirmed = excluded.confirmed, frozen = excluded.frozen,
    held = excluded.held, available = excluded.available, last_read_at = excluded.last_read_at;
$$;

-- What was stated becomes what our sums rest on. `is_reset`: nobody knows what was missed, so every address is stale
-- until it is seen again; else the journal was read up to there, and what webhooks told beyond it goes on being shown.
create function sverka.move_balance_base(of_source integer, at_cursor text, is_reset boolean) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare was integer;
begin
  select s.base_number into was from sverka.balance_source s where s.id = of_source;
  update sverka.balance_source s set base_cursor = at_cursor, base_number = was + 1,
    resets = s.resets + is_reset::integer where s.id = of_source;
  update sverka.balance_currency c set base = c.confirmed, moved = 0, seen = 0, differs_since = null
    where c.source_id = of_source;
  if is_reset then return; end if;
  with ahead as (
    update sverka.balance_address a set base_number = was + 1, first_version = null, first_before = null,
        last_version = null, last_after = null, seen_before = coalesce(a.last_after, a.seen_before),
        seen_version = coalesce(a.last_version, a.seen_version)
      where a.source_id = of_source and a.base_number = was
        and a.balance <> coalesce(a.last_after, a.seen_before)
      returning a.currency, a.balance - a.seen_before as seen)
  update sverka.balance_currency c set seen = x.seen
    from (select ahead.currency, sum(ahead.seen) as seen from ahead group by 1) x
    where c.source_id = of_source and c.currency = x.currency;
end $$;

-- A source belongs to one merchant: an admin says to whom.
create function sverka.assign_balance_source(of_book text, of_provider text, of_account text, to_merchant text,
  by_whom text default null, trace text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare before sverka.balance_source;
begin
  before := sverka.lock_balance_source(of_book, of_provider, of_account);
  if before.merchant_id is not distinct from to_merchant then return; end if;
  update sverka.balance_source s set merchant_id = to_merchant where s.id = before.id;
  perform sverka.note_act('balance_source', of_account, to_merchant, before.merchant_id, coalesce(to_merchant, 'nobody'),
    'source_assigned', by_whom, trace, of_book);
end $$;

-- It is compared before its time: at once for a person, a while after a webhook that shows that another is missing.
create function sverka.ask_balance_check(of_source integer, why text, within interval) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.balance_source s set asked = why, next_check_at = least(s.next_check_at, clock_timestamp() + within)
    where s.id = of_source and (s.asked is distinct from 'operator' or why = 'operator');
$$;

do $$ declare f regprocedure; begin
  for f in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'sverka' and p.proname in ('lock_balance_source', 'mirror_transactions', 'state_balances',
        'move_balance_base', 'assign_balance_source', 'ask_balance_check', 'keep_finished_check') loop
    execute format('revoke all on function %s from public', f);
  end loop;
end $$;
grant execute on function sverka.lock_balance_source, sverka.mirror_transactions, sverka.state_balances,
  sverka.move_balance_base to sverka_worker;
grant execute on function sverka.assign_balance_source, sverka.ask_balance_check to sverka_console;
grant execute on function sverka.ask_balance_check to sverka_worker;
grant select on sverka.balance_source, sverka.balance_currency, sverka.balance_address, sverka.balance_transaction,
  sverka.balance_conflict, sverka.balance_bad_item, sverka.balance_check to sverka_worker, sverka_console;
grant select on sverka.balance_source, sverka.balance_currency, sverka.balance_address, sverka.balance_check
  to sverka_gateway;
grant insert, update on sverka.balance_check, sverka.balance_bad_item to sverka_worker;
grant update (differences, last_action, asked, checked_at, next_check_at) on sverka.balance_source to sverka_worker;
grant update (differs_since) on sverka.balance_currency to sverka_worker;

reset role;
