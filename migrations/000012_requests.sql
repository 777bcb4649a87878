-- A client's call with its Idempotency-Key and what it led to, kept for ever.
set role sverka_owner;

create table sverka.request (
  id text primary key check (id ~ '^req_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  key text not null,
  method text not null,
  path text not null,
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  -- It leads to one thing for ever: an object (made by this call, or one that existed), or a refusal.
  resource_type text,
  resource_id text,
  made boolean,
  refusal jsonb,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  unique (book, merchant_id, key),
  check (num_nonnulls(resource_id, refusal) = 1 and (resource_id is null) = (made is null)
    and (resource_id is null) = (resource_type is null))
);
create index request_resource on sverka.request (resource_id);
create trigger append_only before update or delete or truncate on sverka.request
  for each statement execute function sverka.refuse_change();
alter table sverka.request enable always trigger append_only;

-- Requests a minute per key, shared by every copy of the gateway; losing it in a crash costs nothing.
create unlogged table sverka.rate_limit (
  key text primary key,
  points integer not null default 0,
  expire bigint
);

grant select, insert on sverka.request to sverka_worker;
grant select on sverka.request to sverka_gateway, sverka_console;
grant select, insert, update, delete on sverka.rate_limit to sverka_gateway;

reset role;
