-- Cards and their issuance: reserve, one create at the issuer, settle (DESIGN 9).
set role sverka_owner;

-- What making a card costs, by product and asset; a row of a merchant stands before the one for all.
create table sverka.card_fee (
  merchant_id text references sverka.merchant,
  product text not null check (product in ('instant', 'async')),
  asset text not null,
  amount numeric(38, 0) not null check (amount >= 0 and amount <> 'NaN'),
  set_by text not null,
  set_at timestamptz not null default clock_timestamp(),
  unique nulls not distinct (merchant_id, product, asset)
);

create table sverka.card (
  id text primary key check (id ~ '^card_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  cardholder_id text not null references sverka.cardholder,
  product text not null check (product in ('instant', 'async')),
  asset text not null,
  provider text not null,
  provider_account text not null,
  -- What the issuer made; nothing else of a card exists anywhere.
  provider_ref text,
  last4 text check (last4 ~ '^[0-9]{4}$'),
  expires text check (expires ~ '^20[0-9]{2}-(0[1-9]|1[0-2])$'),
  provider_status text,
  provider_read_at timestamptz,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check (state in ('pending', 'failed') or num_nulls(provider_ref, last4, expires) = 0)
);
create unique index card_provider_ref on sverka.card (book, provider, provider_account, provider_ref)
  where provider_ref is not null;
create index card_owner on sverka.card (book, merchant_id, created_at desc, id desc);
create index card_holder on sverka.card (cardholder_id);

create table sverka.issuance (
  -- Also our reference at the issuer.
  id text primary key check (id ~ '^iss_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  card_id text not null references sverka.card,
  -- How often a person has issued this card anew.
  generation integer not null default 0 check (generation >= 0),
  cardholder_id text not null references sverka.cardholder,
  cardholder_revision integer not null,
  product text not null check (product in ('instant', 'async')),
  asset text not null,
  load_amount numeric(38, 0) not null check (load_amount >= 0 and load_amount <> 'NaN'),
  fee_amount numeric(38, 0) not null check (fee_amount >= 0 and fee_amount <> 'NaN'),
  provider text not null,
  provider_account text not null,
  provider_ref text,
  provider_status text,
  decline_reason text,
  movement_ids text[] not null default '{}',
  -- A fact at the issuer that contradicts what was asked for: a person must look; the state stays.
  flag text,
  contradiction text,
  accepted_contradiction text,
  needs_operator boolean not null default false,
  applied_ticket bigint not null default 0,
  -- The run that committed the intent and may therefore send the one create.
  submitted_by text,
  submitted_at timestamptz,
  settled_at timestamptz,
  last_read_at timestamptz,
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (card_id, generation),
  check (flag is null or contradiction is not null),
  check (state <> 'active' or provider_ref is not null)
);
-- One card at the issuer settles one issuance.
create unique index issuance_settled_ref on sverka.issuance (book, provider, provider_account, provider_ref)
  where state = 'active';
create index issuance_provider_ref on sverka.issuance (provider, provider_account, provider_ref)
  where provider_ref is not null;
create index issuance_waiting on sverka.issuance (id) where state in ('reserved', 'submitted', 'pending', 'unknown');

insert into sverka.state_move (subject_type, from_state, to_state, by_decision) values
  ('card', null, 'pending', false),
  ('card', 'pending', 'active', false),
  ('card', 'pending', 'failed', false),
  ('card', 'failed', 'pending', false),
  ('card', 'active', 'frozen', false),
  ('card', 'frozen', 'active', false),
  ('card', 'active', 'closed', false),
  ('card', 'frozen', 'closed', false),
  ('issuance', null, 'reserved', false),
  ('issuance', 'reserved', 'submitted', false),
  ('issuance', 'reserved', 'failed', false),
  ('issuance', 'submitted', 'pending', false),
  ('issuance', 'submitted', 'active', false),
  ('issuance', 'submitted', 'failed', false),
  ('issuance', 'submitted', 'unknown', false),
  ('issuance', 'pending', 'active', false),
  ('issuance', 'pending', 'failed', false),
  ('issuance', 'unknown', 'pending', false),
  ('issuance', 'unknown', 'active', false),
  ('issuance', 'unknown', 'failed', false),
  ('issuance', 'failed', 'found_late', false);

insert into sverka.decision_right (subject_type, choice, role)
  select 'issuance', choice, role
    from unnest(array['link', 'declare_failed', 'issue_again']) choice, unnest(array['operator', 'admin']) role;

-- A further card, and further money for it, only behind a person's open decision on the issuance before.
create function sverka.guard_issue_again() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if new.generation > 0 and not exists (
    select from sverka.issuance before
      join sverka.decision d on d.subject_type = 'issuance' and d.subject_id = before.id and d.choice = 'issue_again'
        and new.actor = 'user:' || d.user_id
      where before.card_id = new.card_id and before.generation = new.generation - 1
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception 'issuance %: a card is issued again only by a person''s decision', new.id
      using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger guard_issue_again before insert on sverka.issuance
  for each row execute function sverka.guard_issue_again();
alter table sverka.issuance enable always trigger guard_issue_again;

-- A card that failed waits again only for an issuance that does.
create function sverka.guard_card_again() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from sverka.issuance i where i.card_id = new.id and i.state = 'reserved') then
    raise exception 'card %: nothing issues it again', new.id using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_card_again before update of state on sverka.card for each row
  when (old.state = 'failed' and new.state = 'pending') execute function sverka.guard_card_again();
alter table sverka.card enable always trigger guard_card_again;

-- What a decision names beside its choice: of `link`, the card at the issuer.
alter table sverka.decision add column argument text check (argument <> '');

create trigger keep_terms before update on sverka.card for each row
  when ((old.cardholder_id, old.product, old.asset, old.provider, old.provider_account)
      is distinct from (new.cardholder_id, new.product, new.asset, new.provider, new.provider_account)
    or old.state in ('active', 'frozen', 'closed') and (old.provider_ref, old.last4, old.expires)
      is distinct from (new.provider_ref, new.last4, new.expires))
  execute function sverka.refuse_new_terms();
create trigger keep_terms before update on sverka.issuance for each row
  when ((old.card_id, old.generation, old.cardholder_id, old.cardholder_revision, old.product, old.asset,
      old.load_amount, old.fee_amount, old.provider, old.provider_account)
      is distinct from (new.card_id, new.generation, new.cardholder_id, new.cardholder_revision, new.product,
      new.asset, new.load_amount, new.fee_amount, new.provider, new.provider_account)
    or old.submitted_at is distinct from new.submitted_at and old.submitted_at is not null)
  execute function sverka.refuse_new_terms();
alter table sverka.card enable always trigger keep_terms;
alter table sverka.issuance enable always trigger keep_terms;

call sverka.watch_states('sverka.card', 'card');
call sverka.watch_states('sverka.issuance', 'issuance');

grant select, insert, update on sverka.card, sverka.issuance to sverka_worker;
grant select on sverka.card_fee to sverka_worker, sverka_gateway, sverka_console;
grant select on sverka.card, sverka.issuance to sverka_gateway, sverka_console;

reset role;
