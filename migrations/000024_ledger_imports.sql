-- Opening balances from a file, once by its SHA-256: the console's role leaves the lines here, the worker posts them, all
-- in one transaction. A refused file has posted nothing and may be asked for again.
set role sverka_owner;

create table sverka.ledger_import (
  file_hash bytea primary key check (octet_length(file_hash) = 32),
  lines jsonb not null check (jsonb_typeof(lines) = 'array' and jsonb_array_length(lines) between 1 and 1000),
  state text not null default 'requested' check (state in ('requested', 'posted', 'refused')),
  -- Why it was refused: what to correct, by line.
  problems jsonb not null default '[]',
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  check ((state = 'requested') = (finished_at is null))
);
create index ledger_import_requested on sverka.ledger_import (created_at) where state = 'requested';

create function sverka.request_ledger_import(with_hash bytea, with_lines jsonb, with_trace text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.ledger_import as i (file_hash, lines, trace_id) values (with_hash, with_lines, with_trace)
  on conflict (file_hash) do update set
    lines = excluded.lines, state = 'requested', problems = '[]', trace_id = excluded.trace_id, finished_at = null
    where i.state = 'refused';
$$;

-- What is posted stays so.
create function sverka.keep_posted() returns trigger language plpgsql as $$
begin
  raise exception 'this file was imported: its row never changes' using errcode = 'check_violation';
end $$;
create trigger keep_posted before update on sverka.ledger_import for each row
  when (old.state = 'posted') execute function sverka.keep_posted();
create trigger keep_rows before delete or truncate on sverka.ledger_import
  for each statement execute function sverka.refuse_delete();
alter table sverka.ledger_import enable always trigger keep_posted;
alter table sverka.ledger_import enable always trigger keep_rows;

revoke all on function sverka.request_ledger_import from public;
grant execute on function sverka.request_ledger_import to sverka_console;
grant select, update on sverka.ledger_import to sverka_worker;
grant select on sverka.ledger_import to sverka_console;

reset role;
