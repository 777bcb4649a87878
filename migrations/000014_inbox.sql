-- The inbox: every notification as it came, durable before it is answered (DESIGN 7).
set role sverka_owner;

create table sverka.inbox (
  id text primary key check (id ~ '^inb_[0-9a-z]{26}$'),
  provider text not null,
  endpoint text not null,
  book text not null check (book in ('live', 'test')),
  delivery_id text not null,
  body bytea not null,
  body_hash bytea not null check (octet_length(body_hash) = 32),
  event_type text,
  subject_type text,
  subject_ref text,
  -- pending: somebody must look; unmatched: looked, we do not know its subject (yet); parked: a person must look.
  status text not null check (status in ('pending', 'done', 'unmatched', 'parked')),
  reason text,
  -- What an unmatched one waits for: `address:<address>|<tag>`; its appearance makes it pending again.
  waits_for text,
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  trace_id text,
  received_at timestamptz not null default clock_timestamp(),
  done_at timestamptz,
  unique (provider, endpoint, delivery_id)
);
create index inbox_pending on sverka.inbox (next_attempt_at) where status = 'pending';
create index inbox_waiting on sverka.inbox (provider, endpoint, subject_type, subject_ref)
  where status in ('pending', 'unmatched');
create index inbox_waits_for on sverka.inbox (waits_for) where status = 'unmatched';
create index inbox_subject on sverka.inbox (subject_ref);

create table sverka.inbox_conflict (
  id bigint generated always as identity primary key,
  inbox_id text not null references sverka.inbox,
  body bytea not null,
  body_hash bytea not null check (octet_length(body_hash) = 32),
  trace_id text,
  received_at timestamptz not null default clock_timestamp(),
  unique (inbox_id, body_hash)
);

create table sverka.relay_heartbeat (
  relay text primary key,
  seen_at timestamptz not null,
  rejected bigint not null,
  failed bigint not null
);

-- Arrays in, one outcome per row out: stored | duplicate (same id, same body) | conflict (same id, other body).
-- A conflicting body is kept and alerted on, never applied; it leaves a due nudge, for a forger may have taken the id.
create function sverka.inbox_accept(
  ids text[], providers text[], endpoints text[], books text[], delivery_ids text[], bodies bytea[], hashes bytea[],
  event_types text[], subject_types text[], subject_refs text[], statuses text[], reasons text[], trace_ids text[],
  out outcomes text[])
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
begin
  -- Unique inserts in key order, so that two batches never wait for each other in a circle.
  insert into sverka.inbox (id, provider, endpoint, book, delivery_id, body, body_hash, event_type,
      subject_type, subject_ref, status, reason, trace_id)
    select distinct on (r.provider, r.endpoint, r.delivery_id) r.id, r.provider, r.endpoint, r.book, r.delivery_id,
        r.body, r.hash, r.event_type, r.subject_type, r.subject_ref, r.status, r.reason, r.trace_id
      from unnest(ids, providers, endpoints, books, delivery_ids, bodies, hashes, event_types, subject_types,
        subject_refs, statuses, reasons, trace_ids) with ordinality as r(id, provider, endpoint, book, delivery_id,
        body, hash, event_type, subject_type, subject_ref, status, reason, trace_id, place)
      order by r.provider, r.endpoint, r.delivery_id, r.place
    on conflict (provider, endpoint, delivery_id) do nothing;

  select array_agg(case when i.id = r.id then 'stored' when i.body_hash = r.hash then 'duplicate' else 'conflict' end
      order by r.place)
    into outcomes
    from unnest(ids, providers, endpoints, delivery_ids, hashes) with ordinality
        as r(id, provider, endpoint, delivery_id, hash, place)
    join sverka.inbox i using (provider, endpoint, delivery_id);

  if 'conflict' = any (outcomes) then
    insert into sverka.inbox_conflict (inbox_id, body, body_hash, trace_id)
      select i.id, bodies[n], hashes[n], trace_ids[n]
        from generate_subscripts(ids, 1) n
        join sverka.inbox i on (i.provider, i.endpoint, i.delivery_id) = (providers[n], endpoints[n], delivery_ids[n])
        where outcomes[n] = 'conflict' order by i.id
      on conflict (inbox_id, body_hash) do nothing;
    insert into sverka.inbox (id, provider, endpoint, book, delivery_id, body, body_hash, event_type,
        subject_type, subject_ref, status, trace_id)
      select ids[n], providers[n], endpoints[n], books[n], 'conflict:' || encode(hashes[n], 'hex'), '', hashes[n],
          event_types[n], subject_types[n], subject_refs[n], 'pending', trace_ids[n]
        from generate_subscripts(ids, 1) n
        where outcomes[n] = 'conflict' and subject_refs[n] is not null order by 5
      on conflict (provider, endpoint, delivery_id) do nothing;
    perform sverka.raise_alert('inbox_conflict:' || providers[n] || ':' || endpoints[n], 'inbox_conflict', books[n],
        null, null, 'A delivery id came again with another body; compare the two and ask the provider.', trace_ids[n])
      from generate_subscripts(ids, 1) n where outcomes[n] = 'conflict';
  end if;
end $$;

create function sverka.relay_heartbeat(relay_name text, rejected_count bigint, failed_count bigint) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.relay_heartbeat (relay, seen_at, rejected, failed)
    values (relay_name, clock_timestamp(), rejected_count, failed_count)
  on conflict (relay) do update set
    seen_at = excluded.seen_at, rejected = excluded.rejected, failed = excluded.failed;
$$;

-- Age of the oldest notification that nobody has come for, in seconds; null when there is none.
create function sverka.relay_health() returns double precision
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select extract(epoch from clock_timestamp() - min(received_at)) from sverka.inbox where status = 'pending';
$$;

revoke all on function sverka.inbox_accept, sverka.relay_heartbeat, sverka.relay_health from public;
grant execute on function sverka.inbox_accept, sverka.relay_heartbeat, sverka.relay_health to sverka_relay;
grant select, update on sverka.inbox to sverka_worker;
grant insert on sverka.inbox to sverka_worker;
grant select on sverka.inbox_conflict, sverka.relay_heartbeat to sverka_worker;
grant select on sverka.inbox, sverka.inbox_conflict, sverka.relay_heartbeat to sverka_console;

reset role;
