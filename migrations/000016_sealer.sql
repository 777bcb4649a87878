-- Ids and times do not follow commit order. The sealer numbers what was written before the oldest transaction still
-- open, in that order, after the commit: nothing can slip in behind a position that was handed out (DESIGN 10).
grant usage on schema ledger to sverka_owner;
grant select on ledger.movement to sverka_owner;
set role sverka_owner;

create table sverka.movement_seal (
  position bigint primary key,
  movement_id bigint not null unique
);
create table sverka.event_seal (
  position bigint primary key,
  event_id text not null unique references sverka.event
);
-- The audit's chain: each hash covers the row and the hash before it.
create table sverka.audit_seal (
  position bigint primary key,
  audit_id bigint not null unique references sverka.audit,
  hash bytea not null check (octet_length(hash) = 32)
);
-- Per kind: everything of a transaction older than this is numbered.
create table sverka.seal_mark (
  kind text primary key check (kind in ('movement', 'event', 'audit')),
  sealed_before xid8 not null default '0'
);
insert into sverka.seal_mark (kind) values ('movement'), ('event'), ('audit');

do $$ declare t text; begin
  foreach t in array array['movement_seal', 'event_seal', 'audit_seal'] loop
    execute format('create trigger append_only before update or delete or truncate on sverka.%I
      for each statement execute function sverka.refuse_change()', t);
    execute format('alter table sverka.%I enable always trigger append_only', t);
  end loop;
end $$;

-- The bytes of an audit row that its hash covers; `sverka audit verify` builds the same.
create function sverka.audit_bytes(a sverka.audit) returns bytea language sql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
  select convert_to(jsonb_build_array(a.id, a.book, a.merchant_id, a.subject_type, a.subject_id, a.from_state,
    a.to_state, a.version, a.actor, a.reason, a.trace_id, a.recorded_at)::text, 'UTF8');
$$;

-- Numbers up to `most` rows of each kind; answers how many. A second sealer at work makes it answer 0.
create function sverka.seal(most integer) returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  horizon constant pg_snapshot := pg_current_snapshot();
  mark xid8; sealed integer := 0; got integer; place bigint; link bytea; row_ record;
begin
  if not pg_try_advisory_xact_lock(hashtext('sverka.seal')) then return 0; end if;

  -- A row that a statement sees although its transaction is not before the statement's own snapshot was written in
  -- another cluster's life (a restore). Not the horizon's: what was committed since then waits for the next run, or it
  -- would come before what was open at the horizon.
  select sealed_before into mark from sverka.seal_mark where kind = 'movement';
  if mark > pg_snapshot_xmax(horizon) then mark := '0'; end if;
  insert into sverka.movement_seal (position, movement_id)
    select (select coalesce(max(position), 0) from sverka.movement_seal) + row_number() over (order by m.xid, m.id), m.id
      from ledger.movement m
      where m.xid >= mark and (m.xid < pg_snapshot_xmin(horizon) or m.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        and not exists (select from sverka.movement_seal s where s.movement_id = m.id)
      order by m.xid, m.id limit most;
  get diagnostics got = row_count; sealed := sealed + got;
  if got < most then
    update sverka.seal_mark set sealed_before = pg_snapshot_xmin(horizon) where kind = 'movement';
  end if;

  select sealed_before into mark from sverka.seal_mark where kind = 'event';
  if mark > pg_snapshot_xmax(horizon) then mark := '0'; end if;
  insert into sverka.event_seal (position, event_id)
    select (select coalesce(max(position), 0) from sverka.event_seal) + row_number() over (order by e.xid, e.id), e.id
      from sverka.event e
      where e.xid >= mark and (e.xid < pg_snapshot_xmin(horizon) or e.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        and not exists (select from sverka.event_seal s where s.event_id = e.id)
      order by e.xid, e.id limit most;
  get diagnostics got = row_count; sealed := sealed + got;
  if got < most then
    update sverka.seal_mark set sealed_before = pg_snapshot_xmin(horizon) where kind = 'event';
  end if;

  select sealed_before into mark from sverka.seal_mark where kind = 'audit';
  if mark > pg_snapshot_xmax(horizon) then mark := '0'; end if;
  select s.position, s.hash into place, link from sverka.audit_seal s order by s.position desc limit 1;
  got := 0;
  for row_ in
    select a.id, sverka.audit_bytes(a) as bytes from sverka.audit a
      where a.xid >= mark and (a.xid < pg_snapshot_xmin(horizon) or a.xid >= pg_snapshot_xmax(pg_current_snapshot()))
        and not exists (select from sverka.audit_seal s where s.audit_id = a.id)
      order by a.xid, a.id limit most
  loop
    place := coalesce(place, 0) + 1;
    link := sha256(coalesce(link, '') || row_.bytes);
    insert into sverka.audit_seal (position, audit_id, hash) values (place, row_.id, link);
    got := got + 1;
  end loop;
  sealed := sealed + got;
  if got < most then
    update sverka.seal_mark set sealed_before = pg_snapshot_xmin(horizon) where kind = 'audit';
  end if;
  return sealed;
end $$;

revoke all on function sverka.seal, sverka.audit_bytes from public;
grant execute on function sverka.seal to sverka_worker, sverka_gateway;
grant execute on function sverka.audit_bytes to sverka_console;
grant select on sverka.movement_seal, sverka.event_seal to sverka_worker, sverka_gateway, sverka_console;
grant select on sverka.audit_seal to sverka_worker, sverka_console;

reset role;
