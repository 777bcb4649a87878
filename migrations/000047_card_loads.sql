-- Loads of a card: money set aside, one create at the issuer under our reference, settled onto the card (DESIGN 9).
set role sverka_owner;

create table sverka.card_load (
  -- Also our reference at the issuer, which makes the create idempotent there.
  id text primary key check (id ~ '^load_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  card_id text not null references sverka.card,
  asset text not null,
  amount numeric(38, 0) not null check (amount > 0 and amount <> 'NaN'),
  provider text not null,
  provider_account text not null,
  workflow_id text not null,
  -- The issuer's code of a refusal.
  decline_reason text,
  movement_ids text[] not null check (cardinality(movement_ids) >= 1),
  needs_operator boolean not null default false,
  applied_ticket bigint not null default 0,
  -- The run that committed the intent; in another one's hands what was sent is in doubt.
  submitted_by text,
  submitted_at timestamptz,
  settled_at timestamptz,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp()
);
create index card_load_card on sverka.card_load (card_id, created_at desc, id desc);
create index card_load_waiting on sverka.card_load (card_id) where state in ('reserved', 'submitted', 'unknown');

insert into sverka.state_move (subject_type, from_state, to_state, by_decision) values
  ('load', null, 'reserved', false),
  ('load', 'reserved', 'submitted', false),
  ('load', 'reserved', 'failed', false),
  ('load', 'submitted', 'completed', false),
  ('load', 'submitted', 'failed', false),
  ('load', 'submitted', 'unknown', false),
  ('load', 'unknown', 'completed', false),
  ('load', 'unknown', 'failed', false);

-- Money goes only onto an active card of the same owner and asset; whoever inserts holds the card's lock.
create function sverka.guard_new_load() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from sverka.card c where c.id = new.card_id and c.state = 'active' and c.book = new.book
      and c.merchant_id = new.merchant_id and c.asset = new.asset and c.provider = new.provider
      and c.provider_account = new.provider_account) then
    raise exception 'load %: card % is not active, or is another one''s', new.id, new.card_id
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_new_load before insert on sverka.card_load
  for each row execute function sverka.guard_new_load();
alter table sverka.card_load enable always trigger guard_new_load;

create trigger keep_terms before update on sverka.card_load for each row
  when ((old.card_id, old.asset, old.amount, old.provider, old.provider_account)
      is distinct from (new.card_id, new.asset, new.amount, new.provider, new.provider_account)
    or old.submitted_at is distinct from new.submitted_at and old.submitted_at is not null)
  execute function sverka.refuse_new_terms();
alter table sverka.card_load enable always trigger keep_terms;

call sverka.watch_states('sverka.card_load', 'load');

revoke all on function sverka.guard_new_load from public;
grant select, insert, update on sverka.card_load to sverka_worker;
grant select on sverka.card_load to sverka_gateway, sverka_console;

reset role;
