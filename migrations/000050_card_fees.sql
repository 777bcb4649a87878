-- What making a card costs is set by a person, and every change of it is kept.
set role sverka_owner;

create table sverka.card_fee_change (
  id bigint generated always as identity primary key,
  merchant_id text references sverka.merchant,
  product text not null,
  asset text not null,
  -- Null: it was not offered.
  before numeric(38, 0),
  after numeric(38, 0) not null,
  set_by text not null check (set_by <> ''),
  set_at timestamptz not null default clock_timestamp()
);
create trigger append_only before update or delete or truncate on sverka.card_fee_change
  for each statement execute function sverka.refuse_change();
alter table sverka.card_fee_change enable always trigger append_only;

-- One at a time, so that each change names what it replaced. The same fee again is no change. True when it was changed.
create function sverka.set_card_fee(of_merchant text, of_product text, of_asset text, new_amount numeric, new_set_by text)
returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare known numeric;
begin
  perform pg_advisory_xact_lock(hashtextextended('sverka.card_fee', 0));
  select f.amount into known from sverka.card_fee f
    where f.merchant_id is not distinct from of_merchant and f.product = of_product and f.asset = of_asset;
  if known = new_amount then return false; end if;
  insert into sverka.card_fee (merchant_id, product, asset, amount, set_by)
  values (of_merchant, of_product, of_asset, new_amount, new_set_by)
  on conflict (merchant_id, product, asset)
    do update set amount = excluded.amount, set_by = excluded.set_by, set_at = clock_timestamp();
  insert into sverka.card_fee_change (merchant_id, product, asset, before, after, set_by)
  values (of_merchant, of_product, of_asset, known, new_amount, new_set_by);
  return true;
end $$;
revoke all on function sverka.set_card_fee from public;
grant execute on function sverka.set_card_fee to sverka_console;
grant select on sverka.card_fee_change to sverka_console;

reset role;
