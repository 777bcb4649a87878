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

-- Who may decide on what; a later capability adds its subjects.
create table sverka.decision_right (
  subject_type text not null,
  role text not null,
  primary key (subject_type, role)
);
insert into sverka.decision_right (subject_type, role) values
  ('deposit', 'operator'), ('deposit', 'admin'), ('dead_letter', 'operator'), ('dead_letter', 'admin');

create function sverka.guard_decision() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (
    select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = new.user_id and u.disabled_at is null and r.subject_type = new.subject_type) then
    raise exception 'this person may not decide on a %', new.subject_type using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger guard_decision before insert on sverka.decision
  for each row execute function sverka.guard_decision();
alter table sverka.decision enable always trigger guard_decision;

-- A one-time link: the hash of its token, used once, within its time.
create table sverka.login_link (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id text not null references sverka."user",
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create function sverka.create_login_link(of_login text, with_hash bytea, valid_for interval) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
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

-- A flag that a person has looked at and accepted is not raised again while it stays the same.
alter table sverka.deposit add column accepted_flag text;

revoke all on function sverka.create_login_link, sverka.use_login_link from public;
grant execute on function sverka.create_login_link, sverka.use_login_link to sverka_console;
grant select on sverka.decision_outcome, sverka.decision_right to sverka_worker, sverka_console;
grant insert on sverka.decision_outcome to sverka_worker;

reset role;
