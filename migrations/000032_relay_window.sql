-- What a relay refused in the last minutes: a storm of bad signatures is seen, whatever the total since its start.
set role sverka_owner;

alter table sverka.relay_heartbeat
  add column rejected_before bigint not null default 0,
  add column window_at timestamptz not null default clock_timestamp();

create or replace function sverka.relay_heartbeat(relay_name text, rejected_count bigint, failed_count bigint)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.relay_heartbeat as h (relay, seen_at, rejected, failed)
    values (relay_name, clock_timestamp(), rejected_count, failed_count)
  on conflict (relay) do update set
    seen_at = excluded.seen_at, rejected = excluded.rejected, failed = excluded.failed,
    -- A window of five minutes, counted from the total at its beginning; a relay that began anew begins at nothing.
    rejected_before = case
      when excluded.rejected < h.rejected then 0
      when h.window_at < clock_timestamp() - interval '5 minutes' then h.rejected
      else h.rejected_before end,
    window_at = case
      when excluded.rejected < h.rejected or h.window_at < clock_timestamp() - interval '5 minutes'
        then clock_timestamp()
      else h.window_at end;
$$;

reset role;
