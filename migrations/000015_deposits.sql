-- Crypto deposits: addresses, deposits, and the position in each custodian's changes.
set role sverka_owner;

create table sverka.deposit_address (
  id text primary key check (id ~ '^addr_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  customer_id text references sverka.customer,
  network text not null,
  asset text not null,
  -- Fixed at birth (R8): credited as the token itself, or in the currency that the custodian settles in.
  settlement_mode text not null check (settlement_mode in ('as_token', 'settled')),
  settlement_asset text check ((settlement_mode = 'settled') = (settlement_asset is not null)),
  provider text not null,
  provider_account text not null,
  provider_ref text,
  address text,
  tag text,
  needs_operator boolean not null default false,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check (state <> 'active' or (address is not null and provider_ref is not null))
);
-- One per owner, network and asset; a failed one frees the name.
create unique index deposit_address_name
  on sverka.deposit_address (book, merchant_id, customer_id, network, asset) nulls not distinct
  where state <> 'failed';
-- The owner of a deposit always comes from here.
create unique index deposit_address_place
  on sverka.deposit_address (book, provider, provider_account, address, tag) nulls not distinct
  where address is not null;

create table sverka.deposit (
  id text primary key check (id ~ '^dep_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  customer_id text references sverka.customer,
  deposit_address_id text not null references sverka.deposit_address,
  kind text not null default 'deposit' check (kind in ('deposit', 'airdrop')),
  network text not null,
  provider text not null,
  provider_account text not null,
  provider_ref text not null,
  provider_status text not null,
  tx_hash text,
  output_index integer,
  block_number numeric(38, 0),
  block_hash text,
  -- As the provider wrote it, and the same as a number.
  reported_text text not null,
  reported_amount numeric(38, 18) not null check (reported_amount >= 0 and reported_amount <> 'NaN'),
  reported_asset text not null,
  settlement_mode text not null check (settlement_mode in ('as_token', 'settled')),
  settlement_asset text,
  generation integer not null default 0 check (generation >= 0),
  credited_amount numeric(38, 0) check (credited_amount > 0 and credited_amount <> 'NaN'),
  credited_asset text check ((credited_amount is null) = (credited_asset is null)),
  spendable boolean not null default false,
  movement_ids text[] not null default '{}',
  -- A fact that contradicts what we booked: a person must look; the state stays.
  flag text,
  applied_ticket bigint not null default 0,
  last_read_at timestamptz not null,
  credited_at timestamptz,
  final_at timestamptz,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (book, provider, provider_account, provider_ref),
  check (state not in ('credited', 'final') or credited_amount is not null)
);
create index deposit_owner on sverka.deposit (book, merchant_id, created_at desc, id desc);
create index deposit_hash on sverka.deposit (tx_hash);
-- One output is credited once, whatever ids the custodian gives it (R10).
create unique index deposit_output on sverka.deposit (book, provider, provider_account, network, tx_hash, output_index)
  where state in ('credited', 'final');
create index deposit_waiting on sverka.deposit (last_read_at) where state in ('noticed', 'confirming');

insert into sverka.state_move (subject_type, from_state, to_state, by_decision) values
  ('deposit_address', null, 'preparing', false),
  ('deposit_address', 'preparing', 'active', false),
  ('deposit_address', 'preparing', 'unknown', false),
  ('deposit_address', 'preparing', 'failed', false),
  ('deposit_address', 'unknown', 'active', false),
  ('deposit_address', 'unknown', 'failed', false),
  ('deposit', null, 'noticed', false),
  ('deposit', 'noticed', 'confirming', false),
  ('deposit', 'noticed', 'rejected', false),
  ('deposit', 'noticed', 'parked', false),
  ('deposit', 'confirming', 'credited', false),
  ('deposit', 'confirming', 'rejected', false),
  ('deposit', 'confirming', 'dropped', false),
  ('deposit', 'confirming', 'parked', false),
  ('deposit', 'credited', 'final', false),
  ('deposit', 'credited', 'orphaned', false),
  ('deposit', 'orphaned', 'confirming', false),
  ('deposit', 'dropped', 'confirming', false),
  ('deposit', 'final', 'orphaned', true),
  ('deposit', 'parked', 'noticed', true),
  ('deposit', 'parked', 'confirming', true),
  ('deposit', 'parked', 'credited', true),
  ('deposit', 'parked', 'final', true),
  ('deposit', 'parked', 'orphaned', true),
  ('deposit', 'parked', 'rejected', true),
  ('deposit', 'parked', 'dropped', true);

-- Whose it is and on what terms is fixed at birth, an address from when it is known (R8).
create function sverka.refuse_new_terms() returns trigger language plpgsql as $$
begin
  raise exception '% %: whose it is and on what terms never changes', tg_table_name, old.id
    using errcode = 'check_violation';
end $$;
create trigger keep_terms before update of customer_id, network, asset, settlement_mode, settlement_asset, provider,
    provider_account, provider_ref, address, tag on sverka.deposit_address for each row
  when ((old.customer_id, old.network, old.asset, old.settlement_mode, old.settlement_asset, old.provider,
      old.provider_account) is distinct from (new.customer_id, new.network, new.asset, new.settlement_mode,
      new.settlement_asset, new.provider, new.provider_account)
    or old.address is not null and (old.provider_ref, old.address, old.tag)
      is distinct from (new.provider_ref, new.address, new.tag))
  execute function sverka.refuse_new_terms();
create trigger keep_terms before update of customer_id, deposit_address_id, kind, network, provider, provider_account,
    provider_ref, settlement_mode, settlement_asset on sverka.deposit for each row
  when ((old.customer_id, old.deposit_address_id, old.kind, old.network, old.provider, old.provider_account,
      old.provider_ref, old.settlement_mode, old.settlement_asset) is distinct from (new.customer_id,
      new.deposit_address_id, new.kind, new.network, new.provider, new.provider_account, new.provider_ref,
      new.settlement_mode, new.settlement_asset))
  execute function sverka.refuse_new_terms();
alter table sverka.deposit_address enable always trigger keep_terms;
alter table sverka.deposit enable always trigger keep_terms;

call sverka.watch_states('sverka.deposit_address', 'deposit_address');
call sverka.watch_states('sverka.deposit', 'deposit');

-- One external feed with a cursor; the position moves in the commit of the page that it follows.
create table sverka.source (
  book text not null check (book in ('live', 'test')),
  provider text not null,
  account text not null,
  feed text not null,
  cursor text,
  missing_cursors integer not null default 0,
  last_page_at timestamptz,
  primary key (book, provider, account, feed)
);

grant select, insert, update on sverka.deposit_address, sverka.deposit, sverka.source to sverka_worker;
grant select on sverka.deposit_address, sverka.deposit to sverka_gateway;
grant select on sverka.deposit_address, sverka.deposit, sverka.source to sverka_console;

reset role;
