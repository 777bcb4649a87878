-- A file of opening balances says who asked for it, and is marked as posted by a function that counts what was posted.
set role sverka_owner;

-- `user:<id>` of a person who signed in, or `cli`: whoever holds the rights of the console's role.
alter table sverka.ledger_import add column actor text not null default 'cli'
  check (actor = 'cli' or actor ~ '^user:usr_[0-9a-z]{26}$');

drop function sverka.request_ledger_import(bytea, jsonb, text);
create function sverka.request_ledger_import(with_hash bytea, with_lines jsonb, by_actor text, with_trace text)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if by_actor <> 'cli' and not exists (
    select from sverka."user" u where by_actor = 'user:' || u.id and u.disabled_at is null) then
    raise exception 'there is no such person' using errcode = 'insufficient_privilege';
  end if;
  insert into sverka.ledger_import as i (file_hash, lines, actor, trace_id)
    values (with_hash, with_lines, by_actor, with_trace)
  on conflict (file_hash) do update set lines = excluded.lines, state = 'requested', problems = '[]',
    actor = excluded.actor, trace_id = excluded.trace_id, finished_at = null
    where i.state = 'refused';
end $$;

-- The oldest file that waits; locked, so that two sweeps never post the same.
create function sverka.lock_requested_import(out file_hash bytea, out lines jsonb, out trace_id text)
returns setof record language sql security definer set search_path = pg_catalog, pg_temp as $$
  select i.file_hash, i.lines, i.trace_id from sverka.ledger_import i
    where i.state = 'requested' order by i.created_at limit 1 for update skip locked;
$$;

-- `posted` only in the transaction that posted a movement for each line.
create function sverka.finish_ledger_import(of_hash bytea, with_state text, with_problems jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare posted int;
begin
  select count(*) into posted from ledger.movement m
    where m.xid = pg_current_xact_id() and m.subject_type = 'ledger_import' and m.subject_id = encode(of_hash, 'hex');
  if exists (select from sverka.ledger_import i where i.file_hash = of_hash
      and posted <> case with_state when 'posted' then jsonb_array_length(i.lines) else 0 end) then
    raise exception 'a file that posted % movements now cannot be %', posted, with_state
      using errcode = 'insufficient_privilege';
  end if;
  update sverka.ledger_import set state = with_state, problems = with_problems, finished_at = clock_timestamp()
    where file_hash = of_hash and state = 'requested';
end $$;

revoke all on function sverka.request_ledger_import, sverka.lock_requested_import, sverka.finish_ledger_import
  from public;
grant execute on function sverka.request_ledger_import to sverka_console;
grant execute on function sverka.lock_requested_import, sverka.finish_ledger_import to sverka_worker;
revoke update on sverka.ledger_import from sverka_worker;

reset role;
