-- Passkeys: who approves a withdrawal shows again to be there, for the very thing that was seen.
set role sverka_owner;

create table sverka.passkey (
  credential_id text primary key check (credential_id ~ '^[A-Za-z0-9_-]+$' and length(credential_id) between 8 and 1400),
  user_id text not null references sverka."user",
  public_key bytea not null check (octet_length(public_key) between 16 and 4096),
  -- Of its signatures, where it counts them: one that does not grow is that of a copy.
  counter bigint not null check (counter >= 0),
  transports text[] not null,
  created_at timestamptz not null default clock_timestamp(),
  last_used_at timestamptz,
  removed_at timestamptz
);
create index passkey_of_user on sverka.passkey (user_id) where removed_at is null;

-- What a passkey is asked to sign: for one session, once, and for what that person saw; null to register another.
create table sverka.passkey_challenge (
  challenge bytea primary key check (octet_length(challenge) = 32),
  session_hash bytea not null references sverka.session,
  seen_hash bytea check (octet_length(seen_hash) = 32),
  expires_at timestamptz not null
);
create index passkey_challenge_expires on sverka.passkey_challenge (expires_at);

create function sverka.begin_passkey(with_token bytea, with_challenge bytea, with_seen bytea) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  delete from sverka.passkey_challenge where expires_at < clock_timestamp();
  insert into sverka.passkey_challenge (challenge, session_hash, seen_hash, expires_at)
    values (with_challenge, with_token, with_seen, clock_timestamp() + interval '5 minutes');
$$;

-- Whether it was asked of this session for this, and not yet answered: from now on it is.
create function sverka.take_passkey_challenge(with_token bytea, with_challenge bytea, with_seen bytea) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with taken as (
    delete from sverka.passkey_challenge c
      where c.challenge = with_challenge and c.session_hash = with_token
        and c.seen_hash is not distinct from with_seen returning c.expires_at)
  select exists (select from taken where expires_at > clock_timestamp());
$$;

-- A person's own; one that is known already is refused, whoever has it.
create function sverka.add_passkey(of_user text, with_credential text, with_key bytea, with_counter bigint,
  with_transports text[]) returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.passkey (credential_id, user_id, public_key, counter, transports)
    values (with_credential, of_user, with_key, with_counter, with_transports);
$$;

create function sverka.remove_passkey(of_user text, the_credential text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.passkey set removed_at = clock_timestamp()
    where credential_id = the_credential and user_id = of_user and removed_at is null;
$$;

-- Its signature was right: counted, and noted with the session. False where a copy of it has been used.
create function sverka.use_passkey(with_token bytea, the_credential text, with_counter bigint) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp as $$
  with used as (
    update sverka.passkey p set counter = with_counter, last_used_at = clock_timestamp()
      from sverka.session s
      where p.credential_id = the_credential and p.removed_at is null
        and s.token_hash = with_token and s.user_id = p.user_id
        and (with_counter > p.counter or with_counter = 0 and p.counter = 0)
      returning 1),
  noted as (
    update sverka.session set step_up_at = clock_timestamp()
      where token_hash = with_token and exists (select from used))
  select exists (select from used);
$$;

revoke all on function sverka.begin_passkey, sverka.take_passkey_challenge, sverka.add_passkey, sverka.remove_passkey,
  sverka.use_passkey from public;
grant execute on function sverka.begin_passkey, sverka.take_passkey_challenge, sverka.add_passkey, sverka.remove_passkey,
  sverka.use_passkey to sverka_console;
grant select on sverka.passkey to sverka_console;

reset role;
