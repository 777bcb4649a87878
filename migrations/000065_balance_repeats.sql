-- A repeat of what was known before a reset leaves an address stale: it is no news of it.
set role sverka_owner;

-- Applies transactions in the order in which they came, absolutely and by version. `from_journal`: what our sums count;
-- what only a webhook has told is shown. Answers what was
-- new: transactions, addresses, sides of older versions, conflicts, addresses of which something between is missing.
create or replace function sverka.mirror_transactions(of_source integer, from_journal boolean, ids text[],
  statuses text[], currencies text[], versions numeric[], from_addresses text[], from_amounts numeric[],
  from_balances numeric[], to_addresses text[], to_amounts numeric[], to_balances numeric[], created text[],
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
        -- A webhook that comes again says nothing of what was missed since: only news of it shows an address afresh.
        case when w.is_news and (from_journal or w.version is null or w.highest > w.version) then w.now_resets
          else w.resets end as resets,
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

reset role;
