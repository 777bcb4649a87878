-- Merchants, their keys and customers; people and their decisions. What identifies anyone is an opaque id.
set role sverka_owner;

create table sverka.merchant (
  id text primary key check (id ~ '^mer_[0-9a-z]{26}$'),
  name text not null check (length(name) between 1 and 140),
  created_at timestamptz not null default clock_timestamp()
);

-- A key belongs to one merchant and one book; only its SHA-256 is kept.
create table sverka.api_key (
  id text primary key check (id ~ '^key_[0-9a-z]{26}$'),
  merchant_id text not null references sverka.merchant,
  book text not null check (book in ('live', 'test')),
  access text not null check (access in ('full', 'read_only')),
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  revoked_at timestamptz
);
create index api_key_merchant on sverka.api_key (merchant_id);

create table sverka.customer (
  id text primary key check (id ~ '^cus_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  ref text not null check (ref ~ '^[A-Za-z0-9._:-]{1,64}$'),
  created_at timestamptz not null default clock_timestamp(),
  unique (book, merchant_id, ref)
);

create table sverka."user" (
  id text primary key check (id ~ '^usr_[0-9a-z]{26}$'),
  login text not null unique check (login ~ '^[a-z0-9._-]{1,64}$'),
  merchant_id text references sverka.merchant,
  roles text[] not null check (
    roles <@ array['requester', 'operator', 'approver', 'admin', 'auditor'] and cardinality(roles) > 0),
  created_at timestamptz not null default clock_timestamp(),
  disabled_at timestamptz,
  check ((merchant_id is not null) = (roles = array['requester']))
);

-- A person's decision: a row that only the console's role inserts, one per subject and stage, bound to what was seen.
create table sverka.decision (
  id text primary key check (id ~ '^dec_[0-9a-z]{26}$'),
  subject_type text not null,
  subject_id text not null,
  stage text not null,
  choice text not null,
  seen_hash bytea not null check (octet_length(seen_hash) = 32),
  user_id text not null references sverka."user",
  reason text not null check (length(btrim(reason)) between 1 and 1000),
  evidence jsonb not null default '{}',
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  unique (subject_type, subject_id, stage)
);

create function sverka.refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $$;
create trigger append_only before update or delete or truncate on sverka.decision
  for each statement execute function sverka.refuse_change();
alter table sverka.decision enable always trigger append_only;

-- One function per thing an admin changes (DESIGN 4): the console's role executes them, and so does the command line.
create function sverka.create_merchant(new_id text, new_name text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.merchant (id, name) values (new_id, new_name);
$$;

create function sverka.create_api_key(new_id text, of_merchant text, of_book text, with_access text, with_hash bytea)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.api_key (id, merchant_id, book, access, hash)
    values (new_id, of_merchant, of_book, with_access, with_hash);
$$;

create function sverka.revoke_api_key(key_id text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with revoked as (
    update sverka.api_key set revoked_at = clock_timestamp() where id = key_id and revoked_at is null returning 1)
  select exists (select from sverka.api_key where id = key_id);
$$;

create function sverka.create_user(new_id text, new_login text, of_merchant text, with_roles text[]) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka."user" (id, login, merchant_id, roles) values (new_id, new_login, of_merchant, with_roles);
$$;

revoke all on function sverka.create_merchant, sverka.create_api_key, sverka.revoke_api_key, sverka.create_user
  from public;
grant execute on function sverka.create_merchant, sverka.create_api_key, sverka.revoke_api_key, sverka.create_user
  to sverka_console;

grant select on sverka.merchant, sverka.api_key, sverka.customer, sverka."user", sverka.decision to sverka_worker;
grant select on sverka.merchant, sverka.api_key, sverka.customer, sverka."user", sverka.decision to sverka_console;
grant insert on sverka.decision to sverka_console;
grant insert on sverka.customer to sverka_worker;
grant select on sverka.merchant, sverka.api_key, sverka.customer to sverka_gateway;

reset role;
