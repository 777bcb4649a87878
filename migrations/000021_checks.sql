-- When each check last ran and what it found: a check that fails or did not run is an alert too.
set role sverka_owner;

create table sverka.check_run (
  name text primary key,
  began_at timestamptz not null,
  finished_at timestamptz not null default clock_timestamp(),
  findings integer not null check (findings >= 0),
  detail jsonb not null default '{}'
);

grant select, insert, update on sverka.check_run to sverka_worker;
grant select on sverka.check_run to sverka_console;

reset role;
