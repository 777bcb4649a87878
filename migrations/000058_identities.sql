-- Signing in by an identity provider: who an identity is, and the sign-ins that are under way.
set role sverka_owner;

-- An identity is a person (issuer and subject, whichever of our pages); of its logins one is of ours, one a merchant's.
-- A row stays when it is unlinked: who once shared an identity stays one person.
create table sverka.user_identity (
  issuer text not null check (issuer ~ '^https?://' and length(issuer) <= 255),
  subject text not null check (length(subject) between 1 and 255),
  user_id text not null references sverka."user",
  audience text not null check (audience in ('console', 'cabinet')),
  linked_by text not null,
  linked_at timestamptz not null default clock_timestamp(),
  unlinked_by text,
  unlinked_at timestamptz,
  primary key (issuer, subject, audience, linked_at),
  check ((unlinked_by is null) = (unlinked_at is null))
);
create unique index user_identity_once on sverka.user_identity (issuer, subject, audience) where unlinked_at is null;
create index user_identity_of on sverka.user_identity (user_id);

-- What a browser was sent away with; taken once, by that browser alone.
create table sverka.sign_in_attempt (
  state_hash bytea primary key check (octet_length(state_hash) = 32),
  browser_hash bytea not null check (octet_length(browser_hash) = 32),
  audience text not null check (audience in ('console', 'cabinet')),
  nonce text not null check (length(nonce) >= 43),
  verifier text not null check (length(verifier) >= 43),
  next text not null,
  expires_at timestamptz not null
);
create index sign_in_attempt_expires on sverka.sign_in_attempt (expires_at);

-- An admin's: from now on that identity signs in as this person. Everybody who ever had it is one person. Answers
-- whether there is such a person; an identity that signs in as another there is refused as taken.
create function sverka.link_identity(of_user text, with_issuer text, with_subject text, by_whom text) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare linked sverka."user";
begin
  -- Two links of one identity at a time would not see each other, and join nobody.
  perform pg_advisory_xact_lock(hashtextextended(with_issuer || ' ' || with_subject, 58));
  select * into linked from sverka."user" u where u.id = of_user;
  if not found then return false; end if;
  insert into sverka.user_identity (issuer, subject, user_id, audience, linked_by)
    values (with_issuer, with_subject, linked.id,
      case when linked.merchant_id is null then 'console' else 'cabinet' end, by_whom);
  perform sverka.join_persons(linked.id, other.user_id)
    from (select distinct i.user_id from sverka.user_identity i
      where i.issuer = with_issuer and i.subject = with_subject and i.user_id <> linked.id) other;
  return true;
end $$;

-- An admin's: it signs in no more, and the person's sessions end.
create function sverka.unlink_identity(of_user text, with_issuer text, with_subject text, by_whom text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with unlinked as (
    update sverka.user_identity i set unlinked_by = by_whom, unlinked_at = clock_timestamp()
      where i.issuer = with_issuer and i.subject = with_subject and i.user_id = of_user and i.unlinked_at is null
      returning 1),
  ended as (
    update sverka.session set revoked_at = clock_timestamp()
      where user_id = of_user and revoked_at is null and exists (select from unlinked))
  select exists (select from unlinked);
$$;

-- What nobody came back from is swept out with the next.
create function sverka.begin_sign_in(with_state bytea, with_browser bytea, for_audience text, with_nonce text,
  with_verifier text, with_next text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from sverka.sign_in_attempt where expires_at < clock_timestamp();
  insert into sverka.sign_in_attempt (state_hash, browser_hash, audience, nonce, verifier, next, expires_at)
    values (with_state, with_browser, for_audience, with_nonce, with_verifier, with_next,
      clock_timestamp() + interval '10 minutes');
$$;

create function sverka.take_sign_in(with_state bytea, with_browser bytea, for_audience text)
returns table (nonce text, verifier text, next text) language sql security definer
set search_path = pg_catalog, pg_temp as $$
  with taken as (
    delete from sverka.sign_in_attempt a
      where a.state_hash = with_state and a.browser_hash = with_browser and a.audience = for_audience returning a.*)
  select t.nonce, t.verifier, t.next from taken t where t.expires_at > clock_timestamp();
$$;

-- The person as whom that identity signs in here; null where an admin has linked none, or shut that person out.
create function sverka.open_identity_session(of_issuer text, of_subject text, with_token bytea, with_csrf bytea,
  for_audience text) returns text language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.session (token_hash, user_id, audience, csrf, idle_until, ends_at)
    select with_token, u.id, for_audience, with_csrf,
        clock_timestamp() + interval '30 minutes', clock_timestamp() + interval '12 hours'
      from sverka.user_identity i join sverka."user" u on u.id = i.user_id
      where i.issuer = of_issuer and i.subject = of_subject and i.audience = for_audience and i.unlinked_at is null
        and u.disabled_at is null and sverka.may_enter(for_audience, u.roles)
    returning user_id;
$$;

revoke all on function sverka.link_identity, sverka.unlink_identity, sverka.begin_sign_in, sverka.take_sign_in,
  sverka.open_identity_session from public;
grant execute on function sverka.begin_sign_in, sverka.take_sign_in, sverka.open_identity_session
  to sverka_console, sverka_cabinet;
grant execute on function sverka.link_identity, sverka.unlink_identity to sverka_console;
grant select on sverka.user_identity to sverka_console;

reset role;
