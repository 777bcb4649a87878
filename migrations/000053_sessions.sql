-- A browser that has signed in: the hash of its token, for one audience, until it is idle, too old or revoked.
set role sverka_owner;

create table sverka.session (
  token_hash bytea primary key check (octet_length(token_hash) = 32),
  user_id text not null references sverka."user",
  audience text not null check (audience in ('console', 'cabinet')),
  -- Every form of the session carries it.
  csrf bytea not null check (octet_length(csrf) = 32),
  created_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  idle_until timestamptz not null,
  ends_at timestamptz not null,
  -- When the person last proved to be there by a passkey.
  step_up_at timestamptz,
  revoked_at timestamptz
);
create index session_of_user on sverka.session (user_id) where revoked_at is null;

-- Requesters belong to the cabinet, people of ours to the console; each process asks for its own audience alone.
create function sverka.may_enter(for_audience text, with_roles text[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select pg_has_role(session_user, 'sverka_' || for_audience, 'usage')
    and (for_audience = 'cabinet') = ('requester' = any (with_roles));
$$;

-- The person whose one-time link it is, which is used up; null (and nothing is used up) where it opens nothing here.
create function sverka.open_session(with_link bytea, with_token bytea, with_csrf bytea, for_audience text) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare person text;
begin
  if not exists (select from sverka.login_link l join sverka."user" u on u.id = l.user_id
      where l.token_hash = with_link and sverka.may_enter(for_audience, u.roles)) then
    return null;
  end if;
  person := sverka.use_login_link(with_link);
  if person is null then return null; end if;
  insert into sverka.session (token_hash, user_id, audience, csrf, idle_until, ends_at)
    values (with_token, person, for_audience, with_csrf,
      clock_timestamp() + interval '30 minutes', clock_timestamp() + interval '12 hours');
  return person;
end $$;

-- Who it is now: a disabled person or a changed role takes effect at the next request. Idle time is counted in halves
-- of a minute, so that not every page writes a row.
create function sverka.read_session(with_token bytea, for_audience text) returns table (
  user_id text, login text, roles text[], merchant_id text, merchant_name text, csrf bytea, opened_at timestamptz,
  step_up_at timestamptz)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with alive as (
    select s.token_hash, s.last_seen_at, s.csrf, s.created_at, s.step_up_at,
        u.id, u.login, u.roles, u.merchant_id, m.name
      from sverka.session s join sverka."user" u on u.id = s.user_id left join sverka.merchant m on m.id = u.merchant_id
      where s.token_hash = with_token and s.audience = for_audience and s.revoked_at is null
        and least(s.idle_until, s.ends_at) > clock_timestamp()
        and u.disabled_at is null and sverka.may_enter(for_audience, u.roles)),
  touched as (
    update sverka.session s set last_seen_at = clock_timestamp(), idle_until = clock_timestamp() + interval '30 minutes'
      from alive a
      where s.token_hash = a.token_hash and a.last_seen_at < clock_timestamp() - interval '30 seconds')
  select a.id, a.login, a.roles, a.merchant_id, a.name, a.csrf, a.created_at, a.step_up_at from alive a;
$$;

create function sverka.revoke_session(with_token bytea) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.session set revoked_at = clock_timestamp() where token_hash = with_token and revoked_at is null;
$$;

-- An admin's: every session of a person, in console and cabinet.
create function sverka.revoke_sessions(of_user text) returns integer
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with revoked as (
    update sverka.session set revoked_at = clock_timestamp() where user_id = of_user and revoked_at is null returning 1)
  select count(*)::integer from revoked;
$$;

create function sverka.sessions_of(of_user text) returns table (
  audience text, created_at timestamptz, last_seen_at timestamptz, ends_at timestamptz)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select s.audience, s.created_at, s.last_seen_at, least(s.idle_until, s.ends_at) from sverka.session s
    where s.user_id = of_user and s.revoked_at is null and least(s.idle_until, s.ends_at) > clock_timestamp()
    order by s.created_at desc limit 100;
$$;

-- An admin's: who somebody is. What a merchant's requester and a person of ours may be stays apart (000010).
create function sverka.set_user_roles(of_user text, with_roles text[]) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with changed as (update sverka."user" set roles = with_roles where id = of_user returning 1)
  select exists (select from changed);
$$;

create function sverka.set_user_disabled(of_user text, is_disabled boolean) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with changed as (
    update sverka."user" set disabled_at = case when is_disabled then coalesce(disabled_at, clock_timestamp()) end
      where id = of_user returning 1)
  select exists (select from changed);
$$;

revoke all on function sverka.may_enter, sverka.open_session, sverka.read_session, sverka.revoke_session,
  sverka.revoke_sessions, sverka.sessions_of, sverka.set_user_roles, sverka.set_user_disabled from public;
grant execute on function sverka.open_session, sverka.read_session, sverka.revoke_session
  to sverka_console, sverka_cabinet;
grant execute on function sverka.revoke_sessions, sverka.sessions_of, sverka.set_user_roles, sverka.set_user_disabled
  to sverka_console;

-- Attempts to sign in are counted where the calls of keys are.
grant select, insert, update, delete on sverka.rate_limit to sverka_console, sverka_cabinet;

reset role;
