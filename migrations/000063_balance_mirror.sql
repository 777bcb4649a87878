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
  -- How often webhooks told an address a version older than the known one: ignored. Many mean that they come in disorder.
  stale_told bigint not null default 0,
  -- Why it is to be compared before its time.
  asked text check (asked in ('webhook_gap', 'operator')),
  -- When it was last compared with a snapshot, and when it is next.
  checked_at timestamptz,
  next_check_at timestamptz not null default clock_timestamp(),
  -- The provider said when to ask again: nobody asks him sooner, whatever the reason. Null: he did not.
  not_before timestamptz,
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

-- No key to the source here and of transactions: it would be looked at for each row, and who writes has locked it.
create table sverka.balance_address (
  source_id integer not null,
  address text not null,
  currency text not null,
  balance numeric not null check (balance >= 0 and balance <> 'NaN'),
  version numeric(78, 0) not null,
  -- The reset since which it was seen.
  resets integer not null,
  read_at timestamptz not null,
  -- Of the base that what follows is about; another one's counts for nothing.
  base_number integer not null,
  -- In the journal since: before the lowest version there, and at the highest. Where the first is null, the last is what
  -- the journal told before that base.
  first_version numeric(78, 0),
  first_before numeric,
  last_version numeric(78, 0),
  last_after numeric,
  -- Before the lowest version that anything told since.
  seen_version numeric(78, 0) not null,
  seen_before numeric not null,
  primary key (source_id, address, currency)
-- Room beside each row, so that a new balance touches no index.
) with (fillfactor = 60);
create index balance_address_base on sverka.balance_address (source_id, base_number);
create index balance_address_place on sverka.balance_address (address);

create table sverka.balance_transaction (
  source_id integer not null,
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

-- What webhooks have told and nobody has applied yet, oldest first.
create index inbox_told on sverka.inbox (provider, endpoint, received_at, id)
  where status = 'pending' and subject_type = 'transaction';

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

-- A column of values as one text, each on a line of its own, nothing as an empty one: an array takes five times as long to
-- write and to read. What is plain text has no line break.
create function sverka.lines(column_text text) returns text[] immutable parallel safe
language sql return string_to_array(column_text, e'\n', '');

-- Stores transactions by id, each once among these: made, or replaced by one of a version as high or higher. Answers how
-- many were new. Known ones are not even locked: MERGE locks only what it changes, and whoever writes holds the source.
create function sverka.store_transactions(of_source integer, ids text, versions text, statuses text, currencies text,
  from_addresses text, from_amounts text, from_balances text, to_addresses text, to_amounts text, to_balances text,
  created text) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set enable_memoize = off as $$
declare stored integer;
begin
  merge into sverka.balance_transaction t
    using (select unnest(sverka.lines(ids)) as id, unnest(sverka.lines(versions))::numeric as version,
          unnest(sverka.lines(statuses)) as status, unnest(sverka.lines(currencies)) as currency,
          unnest(sverka.lines(from_addresses)) as from_address, unnest(sverka.lines(from_amounts))::numeric as from_amount,
          unnest(sverka.lines(from_balances))::numeric as from_balance, unnest(sverka.lines(to_addresses)) as to_address,
          unnest(sverka.lines(to_amounts))::numeric as to_amount, unnest(sverka.lines(to_balances))::numeric as to_balance,
          unnest(sverka.lines(store_transactions.created)) as created) n
    on t.source_id = of_source and t.id = n.id
    when not matched then insert values (of_source, n.id, n.version, n.status, n.currency, n.from_address,
      n.from_amount, n.from_balance, n.to_address, n.to_amount, n.to_balance, n.created)
    when matched and (n.version > t.version or n.version = t.version
        and (n.status, n.currency, n.from_address, n.from_amount, n.from_balance, n.to_address, n.to_amount,
          n.to_balance) is distinct from (t.status, t.currency, t.from_address, t.from_amount, t.from_balance,
          t.to_address, t.to_amount, t.to_balance))
      then update set version = n.version, status = n.status, currency = n.currency, from_address = n.from_address,
        from_amount = n.from_amount, from_balance = n.from_balance, to_address = n.to_address,
        to_amount = n.to_amount, to_balance = n.to_balance, created = n.created;
  get diagnostics stored = row_count;
  return stored;
end $$;

-- Moves addresses, each once among these, absolutely and by version: what the lowest and the highest version told of it
-- here. `from_journal`: what our sums count; what only a webhook has told is shown. Answers what was new: addresses, those of
-- an older version, conflicts (R1), addresses of which something between is missing.
create function sverka.move_balances(of_source integer, from_journal boolean, addresses text, currencies text,
  lowest text, lowest_balances text, lowest_out text, lowest_in text, highest text, highest_balances text,
  out moved integer, out stale integer, out conflicts integer, out gaps integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
set enable_material = off set enable_memoize = off as $$
begin
  with told as (
    select t.address, t.currency, t.lowest, t.lowest_balance + t.lowest_out - t.lowest_in as before, t.highest, t.after,
        s.id, s.base_number as base, s.resets
      from (select unnest(sverka.lines(addresses)) as address, unnest(sverka.lines(currencies)) as currency,
              unnest(sverka.lines(move_balances.lowest))::numeric as lowest,
              unnest(sverka.lines(lowest_balances))::numeric as lowest_balance,
              unnest(sverka.lines(lowest_out))::numeric as lowest_out,
              unnest(sverka.lines(lowest_in))::numeric as lowest_in,
              unnest(sverka.lines(move_balances.highest))::numeric as highest,
              unnest(sverka.lines(highest_balances))::numeric as after) t
        join sverka.balance_source s on s.id = of_source),
  kept as (
    merge into sverka.balance_address k using told t
      on k.source_id = of_source and k.address = t.address and k.currency = t.currency
    when not matched then insert (source_id, address, currency, balance, version, resets, read_at, base_number,
        first_version, first_before, last_version, last_after, seen_version, seen_before)
      values (t.id, t.address, t.currency, t.after, t.highest, t.resets, clock_timestamp(), t.base,
        case when from_journal then t.lowest end, case when from_journal then t.before end,
        case when from_journal then t.highest end, case when from_journal then t.after end, t.lowest, t.before)
    -- Of an older base all begins anew, but for what the journal told then: that is in the base, so a journal that tells
    -- it again moves nothing, and what is behind it counts from there (0: nothing can be lower). A webhook that comes
    -- again says nothing of what was missed since a reset.
    when matched and k.base_number <> t.base and (from_journal or t.highest >= k.version) then update set
      balance = case when t.highest >= k.version then t.after else k.balance end,
      version = greatest(t.highest, k.version),
      resets = case when t.highest > k.version or from_journal and t.highest = k.version then t.resets
        else k.resets end,
      read_at = clock_timestamp(), base_number = t.base,
      first_version = case when not from_journal then null when t.lowest <= k.last_version then 0 else t.lowest end,
      first_before = case when not from_journal then null when t.lowest <= k.last_version then k.last_after
        else t.before end,
      last_version = case when from_journal then greatest(k.last_version, t.highest) else k.last_version end,
      last_after = case when from_journal and (k.last_version > t.highest) is not true then t.after
        else k.last_after end,
      seen_version = case when t.lowest <= k.last_version then 0 else t.lowest end,
      seen_before = case when t.lowest <= k.last_version then k.last_after else t.before end
    when matched and from_journal and (t.highest > k.version
        or t.highest = k.version and (t.after <> k.balance or t.resets <> k.resets) or t.lowest < k.seen_version
        or k.first_version is null or t.lowest < k.first_version or t.highest > k.last_version
        or t.highest = k.last_version and t.after <> k.last_after) then update set
      balance = case when t.highest >= k.version then t.after else k.balance end,
      version = greatest(t.highest, k.version),
      resets = case when t.highest >= k.version then t.resets else k.resets end,
      read_at = clock_timestamp(),
      first_version = case when k.first_version is null and t.lowest <= k.last_version then 0
        else least(k.first_version, t.lowest) end,
      first_before = case when k.first_version <= t.lowest then k.first_before
        when k.first_version is null and t.lowest <= k.last_version then k.last_after else t.before end,
      last_version = greatest(k.last_version, t.highest),
      last_after = case when k.last_version > t.highest then k.last_after else t.after end,
      seen_version = least(k.seen_version, t.lowest),
      seen_before = case when k.seen_version <= t.lowest then k.seen_before else t.before end
    -- A webhook of an older version tells nothing, not even where the sum began.
    when matched and not from_journal and (t.highest > k.version or t.highest = k.version
        and (t.after <> k.balance or t.lowest < k.seen_version)) then update set
      balance = t.after, version = t.highest, read_at = clock_timestamp(),
      resets = case when t.highest > k.version then t.resets else k.resets end,
      seen_version = least(k.seen_version, t.lowest),
      seen_before = case when k.seen_version <= t.lowest then k.seen_before else t.before end
    returning t.currency,
      t.highest >= coalesce(old.version, t.highest) as is_news,
      coalesce(t.highest = old.version and t.after <> old.balance, false) as is_conflict,
      coalesce(t.lowest > old.version and t.before <> old.balance, false) as is_gap,
      t.address, old.version, old.balance as known, t.after,
      coalesce(new.last_after - new.first_before, 0)
        - case when old.base_number = t.base then coalesce(old.last_after - old.first_before, 0) else 0 end as moved,
      new.balance - new.seen_before
        - case when old.base_number = t.base then old.balance - old.seen_before else 0 end as seen),
  conflicting as (
    insert into sverka.balance_conflict (source_id, address, currency, version, known, told)
      select of_source, k.address, k.currency, k.version, k.known, k.after from kept k where k.is_conflict),
  booked as (
    insert into sverka.balance_currency as b
        (source_id, currency, confirmed, frozen, held, available, base, moved, seen, last_read_at)
      select of_source, s.currency, 0, 0, 0, 0, 0, s.moved, s.seen, clock_timestamp()
        from (select k.currency, sum(k.moved) as moved, sum(k.seen) as seen from kept k group by k.currency) s
        where s.moved <> 0 or s.seen <> 0 order by s.currency
    on conflict (source_id, currency) do update set moved = b.moved + excluded.moved, seen = b.seen + excluded.seen)
  select count(*), count(*) filter (where not k.is_news), count(*) filter (where k.is_conflict),
      count(*) filter (where k.is_gap) into moved, stale, conflicts, gaps from kept k;
  if moved < cardinality(sverka.lines(addresses)) then
    -- Each is looked for by itself (lateral, offset 0) and by its address (+ 0): of a table that was never counted the
    -- planner believes that a source has a handful, and goes through all of them for each.
    select count(*) into stale
      from (select unnest(sverka.lines(addresses)) as address, unnest(sverka.lines(currencies)) as currency,
              unnest(sverka.lines(move_balances.highest))::numeric as highest) t
        cross join lateral (select x.version from sverka.balance_address x where x.source_id + 0 = of_source
          and x.address = t.address and x.currency = t.currency offset 0) k
      where t.highest < k.version;
  end if;
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
        seen_before = case when a.first_version is null then a.seen_before else a.last_after end,
        seen_version = case when a.first_version is null then a.seen_version else a.last_version end
      where a.source_id = of_source and a.base_number = was
        and a.balance <> case when a.first_version is null then a.seen_before else a.last_after end
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
      where n.nspname = 'sverka' and p.proname in ('lock_balance_source', 'lines', 'store_transactions', 'move_balances',
        'state_balances',
        'move_balance_base', 'assign_balance_source', 'ask_balance_check', 'keep_finished_check') loop
    execute format('revoke all on function %s from public', f);
  end loop;
end $$;
grant execute on function sverka.lock_balance_source, sverka.store_transactions, sverka.move_balances,
  sverka.state_balances, sverka.move_balance_base to sverka_worker;
grant execute on function sverka.assign_balance_source, sverka.ask_balance_check to sverka_console;
grant execute on function sverka.ask_balance_check to sverka_worker;
grant select on sverka.balance_source, sverka.balance_currency, sverka.balance_address, sverka.balance_transaction,
  sverka.balance_conflict, sverka.balance_bad_item, sverka.balance_check to sverka_worker, sverka_console;
grant select on sverka.balance_source, sverka.balance_currency, sverka.balance_address, sverka.balance_check
  to sverka_gateway;
grant insert, update on sverka.balance_check, sverka.balance_bad_item to sverka_worker;
grant update (differences, last_action, stale_told, asked, checked_at, next_check_at, not_before) on sverka.balance_source
  to sverka_worker;
grant update (differs_since) on sverka.balance_currency to sverka_worker;

reset role;
