-- Ids made in the database are what those made outside are: a UUIDv7 in lower-case Crockford base32 (API.md 1).
set role sverka_owner;

-- The prefix, `_`, and 128 bits in 26 characters, the first two bits of 130 being zero. In order of the millisecond.
create function sverka.new_id(prefix text) returns text
language sql volatile set search_path = pg_catalog, pg_temp as $$
  select prefix || '_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b.bits from 5 * n + 1 for 5)::bit(5)::int + 1, 1), ''
      order by n)
    from (select uuid_send(gen_random_uuid()) as random,
        substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) as milliseconds) r,
      -- Version 7 in the place of 4; the variant is the same.
      lateral (select set_byte(overlay(r.random placing r.milliseconds from 1 for 6), 6,
        get_byte(r.random, 6) & 15 | 112) as id) u,
      lateral (select B'00' || ('x' || encode(u.id, 'hex'))::bit(128) as bits) b,
      generate_series(0, 25) n
    group by b.bits;
$$;
revoke all on function sverka.new_id from public;

alter table sverka.alert alter column id set default sverka.new_id('alt');

-- Arrays in, one outcome per row out: stored | duplicate (same id, same body) | conflict (same id, other body).
-- A conflicting body is kept and alerted on, never applied; it leaves a due nudge, for a forger may have taken the id.
-- What is parked at the door is a dead letter at once, with one alert for each endpoint and reason.
create or replace function sverka.inbox_accept(
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
    perform sverka.raise_alert(a.key, 'inbox_conflict', a.book, null, null,
        'A delivery id came again with another body; compare the two and ask the provider.', a.trace_id)
      from (select distinct on (key) c.* from (
              select 'inbox_conflict:' || providers[n] || ':' || endpoints[n] as key, books[n] as book,
                  trace_ids[n] as trace_id
                from generate_subscripts(ids, 1) n where outcomes[n] = 'conflict') c
             order by key) a
      order by a.key;
  end if;

  insert into sverka.dead_letter (id, inbox_id, book, reason, attempts, trace_id)
    select sverka.new_id('dl'), ids[n], books[n],
        coalesce(reasons[n], 'parked'), 0, trace_ids[n]
      from generate_subscripts(ids, 1) n where outcomes[n] = 'stored' and statuses[n] = 'parked' order by ids[n];
  if found then
    perform sverka.raise_alert(a.key, 'parked_notification', a.book, null, null,
        'Signed notifications cannot be read (' || a.reason || '): `sverka deadletters list`; ask the provider.',
        a.trace_id)
      from (select distinct on (key) p.* from (
              select 'parked:' || providers[n] || ':' || endpoints[n] || ':' || coalesce(reasons[n], 'parked') as key,
                  books[n] as book, coalesce(reasons[n], 'parked') as reason, trace_ids[n] as trace_id
                from generate_subscripts(ids, 1) n where outcomes[n] = 'stored' and statuses[n] = 'parked') p
             order by key) a
      order by a.key;
  end if;
end $$;

reset role;
