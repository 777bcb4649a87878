-- `ledger` holds the journal and nothing else; `sverka` (made by the runner for its own table) holds the rest.
-- What a migration creates belongs to the owner of its schema: it begins with `set role`, the runner resets it.
alter schema sverka owner to sverka_owner;
create schema ledger authorization sverka_ledger_owner;

-- A function is executable by whom it is granted to, never by everyone.
alter default privileges for role sverka_owner, sverka_ledger_owner revoke execute on functions from public;

grant usage on schema sverka to
  sverka_worker, sverka_gateway, sverka_relay, sverka_console, sverka_cabinet, sverka_reports;
grant usage on schema ledger to sverka_worker, sverka_gateway, sverka_console;

-- The number of the last migration here: a process compares it with the last file it was built with.
create view sverka.schema_version as
  select coalesce(max(left(name, 6)::int), 0) as version from sverka.schema_migration;
grant select on sverka.schema_version to
  sverka_worker, sverka_gateway, sverka_relay, sverka_console, sverka_cabinet, sverka_reports;
