-- A person decides under an own login; the worker applies what was decided, once, and notes what came of it.
set role sverka_owner;

-- What came of a decision: applied, or void because what was seen had changed. Without a row it is still open.
create table sverka.decision_outcome (
  decision_id text primary key references sverka.decision,
  outcome text not null check (outcome in ('applied', 'void')),
  detail text not null,
  trace_id text,
  recorded_at timestamptz not null default clock_timestamp()
);
create trigger append_only before update or delete or truncate on sverka.decision_outcome
  for each statement execute function sverka.refuse_change();
alter table sverka.decision_outcome enable always trigger append_only;

-- Who may decide what; a later capability adds its subjects.
create table sverka.decision_right (
  subject_type text not null,
  choice text not null,
  role text not null,
  primary key (subject_type, choice, role)
);
insert into sverka.decision_right (subject_type, choice, role)
  select subject_type, choice, role
    from (values ('deposit', 'retry'), ('deposit', 'reject'), ('deposit', 'orphan'), ('deposit', 'accept'),
                 ('dead_letter', 'replay'), ('dead_letter', 'abandon')) s(subject_type, choice)
    cross join (values ('operator'), ('admin')) r(role);

create function sverka.guard_decision() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  -- What is missing is refused by its column.
  if num_nulls(new.user_id, new.subject_type, new.choice) > 0 then return new; end if;
  if not exists (
    select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = new.user_id and u.disabled_at is null
        and r.subject_type = new.subject_type and r.choice = new.choice) then
    raise exception 'this person may not decide this on a %', new.subject_type using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger guard_decision before insert on sverka.decision
  for each row execute function sverka.guard_decision();
alter table sverka.decision enable always trigger guard_decision;

-- What was a move by anyone who calls himself a person (000011) now needs the row of that person's open decision.
create or replace function sverka.guard_move() returns trigger language plpgsql
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
  if legal.by_decision and not exists (
    select from sverka.decision d
      where d.subject_type = tg_argv[0] and d.subject_id = new.id and new.actor = 'user:' || d.user_id
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception '% %: from % to % only by a person''s decision', tg_argv[0], new.id, origin, new.state
      using errcode = 'insufficient_privilege';
  end if;
  if new.version <> coalesce(case when tg_op = 'UPDATE' then old.version end, 0) + 1 then
    raise exception '% %: a move needs the next version', tg_argv[0], new.id using errcode = 'check_violation';
  end if;
  return new;
end $$;

-- A one-time link: the hash of its token, used once, within its time.
create table sverka.login_link (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id text not null references sverka."user",
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);
create index login_link_user on sverka.login_link (user_id) where used_at is null;

-- A fresh link takes the place of those before it: at any time a person has one at most.
create function sverka.create_login_link(of_login text, with_hash bytea, valid_for interval) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.login_link l set used_at = clock_timestamp() from sverka."user" u
    where u.login = of_login and l.user_id = u.id and l.used_at is null;
  with made as (
    insert into sverka.login_link (token_hash, user_id, expires_at)
      select with_hash, u.id, clock_timestamp() + valid_for from sverka."user" u
        where u.login = of_login and u.disabled_at is null
      returning 1)
  select exists (select from made);
$$;

create function sverka.use_login_link(with_hash bytea) returns text
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.login_link l set used_at = clock_timestamp() from sverka."user" u
    where l.token_hash = with_hash and l.used_at is null and l.expires_at > clock_timestamp()
      and u.id = l.user_id and u.disabled_at is null
    returning l.user_id;
$$;

-- What contradicts our books, in full: the flag and what the provider says now. One that a person has accepted raises
-- no flag while it stays the same to the letter.
alter table sverka.deposit add column contradiction text, add column accepted_contradiction text;
update sverka.deposit set contradiction = flag where flag is not null;
alter table sverka.deposit add constraint flag_has_its_facts check (flag is null or contradiction is not null);

revoke all on function sverka.create_login_link, sverka.use_login_link from public;
grant execute on function sverka.create_login_link, sverka.use_login_link to sverka_console;
grant select on sverka.decision_outcome, sverka.decision_right to sverka_worker, sverka_console;
grant insert on sverka.decision_outcome to sverka_worker;

reset role;
