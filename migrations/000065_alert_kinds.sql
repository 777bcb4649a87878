-- An alert that is raised again says what it is about now: its kind goes with its detail.
set role sverka_owner;

create or replace function sverka.raise_alert(
  alert_key text, alert_kind text, of_book text, of_type text, of_id text, with_detail text, with_trace text)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.alert as a (key, kind, book, subject_type, subject_id, detail, trace_id)
    values (alert_key, alert_kind, of_book, of_type, of_id, with_detail, with_trace)
  on conflict (key) do update set
    state = 'open', kind = excluded.kind, times = a.times + 1, detail = excluded.detail, trace_id = excluded.trace_id,
    last_seen_at = clock_timestamp(), resolved_at = null,
    opened_at = case when a.state = 'open' then a.opened_at else clock_timestamp() end;
$$;

reset role;
