-- A line of the journal: owner, kind, asset. An account never changes, so floor and cap may be read without a lock.
set role sverka_ledger_owner;

create table ledger.account (
  id bigint generated always as identity primary key,
  book text not null check (book in ('live', 'test')),
  merchant_id text not null check (merchant_id ~ '^mer_[0-9a-z]{26}$'),
  customer_id text check (customer_id ~ '^cus_[0-9a-z]{26}$'),    -- null: the merchant's own
  kind text not null check (kind in (
    'wallet', 'hold', 'opening', 'card', 'fees', 'receivable', 'clearing:custody', 'clearing:issuer',
    'clearing:lightning', 'clearing:sportsbook', 'clearing:payout')),
  ref text not null default '' check (length(ref) <= 128),    -- the hold's subject, or the card
  asset text not null,
  decimals smallint not null,
  -- What bounds the balance; null is no bound. An asset of at most 11 decimals has to fit BIGINT, both ways.
  floor numeric(38,0) check (floor <> 'NaN'),
  cap numeric(38,0) check (cap <> 'NaN'),
  foreign key (asset, decimals) references ledger.asset (code, decimals),
  constraint account_name unique nulls not distinct (book, merchant_id, customer_id, kind, ref, asset),
  constraint ref_where_there_are_many check ((ref <> '') = (kind in ('hold', 'card'))),
  constraint counterparts_are_the_merchants check (
    customer_id is null or kind <> 'fees' and kind not like 'clearing:%'),
  constraint never_below_zero check (kind not in ('wallet', 'hold', 'card') or floor is not null and floor = 0),
  constraint never_above_zero check (kind <> 'receivable' or cap is not null and cap = 0),
  constraint zero_is_within check (coalesce(floor, 0) <= 0 and coalesce(cap, 0) >= 0),
  constraint fits_bigint check (decimals > 11 or
    floor is not null and cap is not null and floor >= -9223372036854775808 and cap <= 9223372036854775807)
);

create trigger append_only before update or delete or truncate on ledger.account
  for each statement execute function ledger.refuse_change();
alter table ledger.account enable always trigger append_only;

-- Opens what is missing and answers the ids, in the order asked for. Call it before `post`, in the same transaction or
-- an earlier one. An owner's wallet and receivable of an asset come into being in one commit, whichever is asked for:
-- a guard on the receivable can then never look at an account that is still to be made.
create function ledger.open_accounts(
  books text[], merchants text[], customers text[], kinds text[], refs text[], asset_codes text[]) returns bigint[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  wanted constant int := cardinality(books);
  ids bigint[];
  stranger text;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'open_accounts needs read committed, to see accounts opened meanwhile' using errcode = '25001';
  end if;
  if not coalesce(wanted between 1 and 1000 and wanted = all (array[cardinality(merchants), cardinality(customers),
      cardinality(kinds), cardinality(refs), cardinality(asset_codes)]), false) then
    raise exception 'open_accounts: six arrays of one length, 1 to 1000' using errcode = '22023';
  end if;
  select code into stranger from unnest(asset_codes) code where code not in (select a.code from ledger.asset a) limit 1;
  if found then
    raise exception 'open_accounts: asset % is not listed; add it to src/domain/assets.ts and to ledger.asset first',
      stranger using errcode = '22023';
  end if;

  -- Twice at most: what somebody else opened while the insert waited is seen by the next statement only.
  for attempt in 1..2 loop
    select array_agg(a.id order by w.at) into ids
      from unnest(books, merchants, customers, kinds, refs, asset_codes) with ordinality
             w(book, merchant_id, customer_id, kind, ref, asset, at)
      left join lateral (    -- two branches, because an index is of no use to IS NOT DISTINCT FROM
        select v.id from ledger.account v where v.book = w.book and v.merchant_id = w.merchant_id
          and v.customer_id = w.customer_id and v.kind = w.kind and v.ref = w.ref and v.asset = w.asset
        union all
        select v.id from ledger.account v where w.customer_id is null and v.book = w.book
          and v.merchant_id = w.merchant_id and v.customer_id is null and v.kind = w.kind and v.ref = w.ref
          and v.asset = w.asset) a on true;
    exit when attempt = 2 or array_position(ids, null) is null;

    insert into ledger.account (book, merchant_id, customer_id, kind, ref, asset, decimals, floor, cap)
      select w.book, w.merchant_id, w.customer_id, k.kind, w.ref, s.code, s.decimals,
             case when k.kind in ('wallet', 'hold', 'card') then 0
                  when s.decimals <= 11 then -9223372036854775808 end,
             case when k.kind = 'receivable' then 0
                  when s.decimals <= 11 then 9223372036854775807 end
        from unnest(books, merchants, customers, kinds, refs, asset_codes)
               w(book, merchant_id, customer_id, kind, ref, asset)
        join ledger.asset s on s.code = w.asset
        cross join lateral unnest(case when w.kind in ('wallet', 'receivable')
          then array['receivable', 'wallet'] else array[w.kind] end) k(kind)
        group by 1, 2, 3, 4, 5, s.code, s.decimals
        order by 1, 2, 3, 4, 5, s.code    -- in key order, so that two callers cannot wait for each other
      on conflict on constraint account_name do nothing;
  end loop;
  return ids;
end $$;

reset role;
