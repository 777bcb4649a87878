-- When each check last ran and what it found: a check that fails or did not run is an alert too.
set role sverka_owner;

create table sverka.check_run (
  name text primary key,
  -- Since when it has had to run: one that never did is late from here on, however often a worker starts anew.
  expected_since timestamptz not null default clock_timestamp(),
  began_at timestamptz,
  finished_at timestamptz,
  findings integer check (findings >= 0),
  detail jsonb,
  check (num_nulls(began_at, finished_at, findings, detail) in (0, 4))
);

grant select, insert, update on sverka.check_run to sverka_worker;
grant select on sverka.check_run to sverka_console;

reset role;
