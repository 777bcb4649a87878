-- What every subject with a state shares: the legal moves, the audit row of each, the event for its merchant.
set role sverka_owner;

-- The same table stands in src/domain/<subject>.ts; a test compares the two. A null origin is birth.
create table sverka.state_move (
  subject_type text not null,
  from_state text,
  to_state text not null,
  by_decision boolean not null default false,
  unique nulls not distinct (subject_type, from_state, to_state)
);

create table sverka.audit (
  id bigint generated always as identity primary key,
  book text not null,
  merchant_id text,
  subject_type text not null,
  subject_id text not null,
  from_state text,
  to_state text not null,
  version integer not null,
  actor text not null,
  reason text,
  trace_id text,
  recorded_at timestamptz not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id()
);
create index audit_subject on sverka.audit (subject_id, id);
create index audit_trace on sverka.audit (trace_id);
create index audit_xid on sverka.audit (xid);

create table sverka.event (
  id text primary key check (id ~ '^evt_[0-9a-z]{26}$'),
  type text not null,
  book text not null,
  merchant_id text not null references sverka.merchant,
  subject_type text not null,
  subject_id text not null,
  version integer not null,
  data jsonb not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  xid xid8 not null default pg_current_xact_id(),
  unique (type, subject_id, version)
);
create index event_subject on sverka.event (subject_id);
create index event_trace on sverka.event (trace_id);
create index event_xid on sverka.event (xid);

do $$ declare t text; begin
  foreach t in array array['audit', 'event'] loop
    execute format('create trigger append_only before update or delete or truncate on sverka.%I
      for each statement execute function sverka.refuse_change()', t);
    execute format('alter table sverka.%I enable always trigger append_only', t);
  end loop;
end $$;

-- BEFORE INSERT OR UPDATE on every subject table, with the subject's word as argument.
-- The database refuses a move that is not in the table, a move without a new version, and a change of who it belongs to.
create function sverka.guard_move() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare origin text := case when tg_op = 'UPDATE' then old.state end; legal sverka.state_move;
begin
  new.updated_at := clock_timestamp();
  if tg_op = 'UPDATE' then
    if (new.id, new.book, new.merchant_id, new.created_at) is distinct from
       (old.id, old.book, old.merchant_id, old.created_at) then
      raise exception '% %: identity and owner never change', tg_argv[0], old.id using errcode = 'check_violation';
    end if;
    if new.state = old.state then
      if new.version not in (old.version, old.version + 1) then
        raise exception '% %: version % cannot follow %', tg_argv[0], old.id, new.version, old.version
          using errcode = 'check_violation';
      end if;
      return new;
    end if;
  end if;
  select * into legal from sverka.state_move m
    where m.subject_type = tg_argv[0] and m.from_state is not distinct from origin and m.to_state = new.state;
  if not found then
    raise exception '% %: no move from % to %', tg_argv[0], new.id, coalesce(origin, 'birth'), new.state
      using errcode = 'check_violation';
  end if;
  if legal.by_decision and new.actor not like 'user:%' then
    raise exception '% %: from % to % only by a person''s decision', tg_argv[0], new.id, origin, new.state
      using errcode = 'insufficient_privilege';
  end if;
  if new.version <> coalesce(case when tg_op = 'UPDATE' then old.version end, 0) + 1 then
    raise exception '% %: a move needs the next version', tg_argv[0], new.id using errcode = 'check_violation';
  end if;
  return new;
end $$;

-- AFTER INSERT OR UPDATE: no role can write an audit row by hand, and none can move a state without one.
create function sverka.audit_move() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
declare origin text := case when tg_op = 'UPDATE' then old.state end;
begin
  if origin is distinct from new.state then
    insert into sverka.audit
      (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    values (new.book, new.merchant_id, tg_argv[0], new.id, origin, new.state, new.version,
      new.actor, new.reason, new.trace_id);
  end if;
  return null;
end $$;

create function sverka.refuse_delete() returns trigger language plpgsql as $$
begin
  raise exception '% keeps every row: % refused', tg_table_name, tg_op using errcode = 'insufficient_privilege';
end $$;

-- Puts the three on a subject's table; a later capability calls it for its own.
create procedure sverka.watch_states(subject_table regclass, subject_type text) language plpgsql as $$
begin
  execute format('create trigger guard_move before insert or update on %s
    for each row execute function sverka.guard_move(%L)', subject_table, subject_type);
  execute format('create trigger audit_move after insert or update on %s
    for each row execute function sverka.audit_move(%L)', subject_table, subject_type);
  execute format('create trigger keep_rows before delete or truncate on %s
    for each statement execute function sverka.refuse_delete()', subject_table);
  execute format('alter table %s enable always trigger guard_move', subject_table);
  execute format('alter table %s enable always trigger audit_move', subject_table);
  execute format('alter table %s enable always trigger keep_rows', subject_table);
end $$;
revoke all on procedure sverka.watch_states from public;

-- Before each read of a provider a ticket is taken, each apply draws a fresh number and keeps it on its subject:
-- an answer counts only if its ticket is greater, that is, if its read began after the last apply (DESIGN 2).
create sequence sverka.read_ticket as bigint;

grant select on sverka.state_move, sverka.audit, sverka.event to sverka_worker, sverka_console;
grant insert on sverka.event to sverka_worker;
grant select on sverka.event to sverka_gateway;
grant usage on sequence sverka.read_ticket to sverka_worker;

reset role;
