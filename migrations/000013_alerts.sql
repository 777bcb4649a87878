-- What a person must see: alerts (one row per key, opened again in place) and dead letters.
set role sverka_owner;

create table sverka.alert (
  id text primary key default 'alt_0' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 25),
  key text not null unique,
  kind text not null,
  book text,
  subject_type text,
  subject_id text,
  detail text not null,
  state text not null default 'open' check (state in ('open', 'resolved')),
  times integer not null default 1,
  trace_id text,
  opened_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  resolved_at timestamptz
);

create table sverka.dead_letter (
  id text primary key check (id ~ '^dl_[0-9a-z]{26}$'),
  inbox_id text not null unique,
  reason text not null,
  attempts integer not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  closed_by text references sverka.decision
);

create function sverka.raise_alert(
  alert_key text, alert_kind text, of_book text, of_type text, of_id text, with_detail text, with_trace text)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.alert as a (key, kind, book, subject_type, subject_id, detail, trace_id)
    values (alert_key, alert_kind, of_book, of_type, of_id, with_detail, with_trace)
  on conflict (key) do update set
    state = 'open', times = a.times + 1, detail = excluded.detail, trace_id = excluded.trace_id,
    last_seen_at = clock_timestamp(), resolved_at = null,
    opened_at = case when a.state = 'open' then a.opened_at else clock_timestamp() end;
$$;

create function sverka.resolve_alert(alert_key text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.alert set state = 'resolved', resolved_at = clock_timestamp()
    where key = alert_key and state = 'open';
$$;

revoke all on function sverka.raise_alert, sverka.resolve_alert from public;
grant execute on function sverka.raise_alert, sverka.resolve_alert to sverka_worker;
grant select on sverka.alert, sverka.dead_letter to sverka_worker, sverka_console;
grant insert, update on sverka.dead_letter to sverka_worker;

reset role;
