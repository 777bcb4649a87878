-- Cardholders: what stands in clear, what is sealed, and the keys whose deletion is the erasure.
set role sverka_owner;

create table sverka.cardholder (
  id text primary key check (id ~ '^chd_[0-9a-z]{26}$'),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  -- Counts the changes of identity; an issued card keeps the one it was made with.
  revision integer not null default 1 check (revision >= 1),
  first_initial text check (char_length(first_initial) between 1 and 8),
  last_initial text check (char_length(last_initial) between 1 and 8),
  country text not null check (country ~ '^[A-Z]{2}$'),
  reference text check (char_length(reference) <= 140),
  state text not null,
  version integer not null default 1,
  reason text,
  actor text not null,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  check ((state = 'active') = (first_initial is not null) and (state = 'active') = (last_initial is not null))
);
create index cardholder_owner on sverka.cardholder (book, merchant_id, created_at desc, id desc);
create index cardholder_reference on sverka.cardholder (book, merchant_id, reference);

-- One member of the identity as one revision gave it: version, nonce, tag, ciphertext. Bound to table, cardholder with
-- revision, and member, so that it opens nowhere else. What a revision does not name holds as an earlier one gave it.
create table sverka.cardholder_member (
  cardholder_id text not null references sverka.cardholder,
  revision integer not null check (revision >= 1),
  member text not null check (member in ('first_name', 'last_name', 'birth_date', 'country', 'document')),
  sealed bytea not null check (octet_length(sealed) between 30 and 1024),
  primary key (cardholder_id, member, revision)
);

-- The data key of one revision, wrapped to a key-encryption key. Deleting these rows erases the cardholder.
create table sverka.cardholder_key (
  cardholder_id text not null references sverka.cardholder,
  revision integer not null check (revision >= 1),
  key_id text not null check (key_id ~ '^[A-Za-z0-9._:/-]{1,200}$'),
  wrapped bytea not null check (octet_length(wrapped) between 256 and 1024),
  -- HMAC of the change that made this revision: the same change again changes nothing. It goes with the key.
  fingerprint bytea not null check (octet_length(fingerprint) = 32),
  created_at timestamptz not null default clock_timestamp(),
  primary key (cardholder_id, revision)
);

insert into sverka.state_move (subject_type, from_state, to_state, by_decision) values
  ('cardholder', null, 'active', false),
  ('cardholder', 'active', 'erased', false);
call sverka.watch_states('sverka.cardholder', 'cardholder');

-- An erased cardholder stays as he is; a revision is followed by the next one.
create function sverka.guard_cardholder() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if old.state = 'erased' then
    raise exception 'cardholder % is erased', old.id using errcode = 'check_violation';
  end if;
  if new.revision not in (old.revision, old.revision + 1) then
    raise exception 'cardholder %: revision % cannot follow %', old.id, new.revision, old.revision
      using errcode = 'check_violation';
  end if;
  return new;
end $$;
create trigger guard_cardholder before update on sverka.cardholder
  for each row execute function sverka.guard_cardholder();
alter table sverka.cardholder enable always trigger guard_cardholder;

create trigger append_only before update or delete or truncate on sverka.cardholder_member
  for each statement execute function sverka.refuse_change();
alter table sverka.cardholder_member enable always trigger append_only;

-- A key comes with its cardholder active, is never changed, and goes with the erasure alone.
create function sverka.guard_cardholder_key() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare holder text := (select c.state from sverka.cardholder c
  where c.id = case when tg_op = 'INSERT' then new.cardholder_id else old.cardholder_id end);
begin
  if tg_op = 'INSERT' and holder = 'active' then return new; end if;
  if tg_op = 'DELETE' and holder = 'erased' then return old; end if;
  raise exception 'keys of a cardholder who is %: % refused', holder, tg_op using errcode = 'insufficient_privilege';
end $$;
create trigger guard_cardholder_key before insert or update or delete on sverka.cardholder_key
  for each row execute function sverka.guard_cardholder_key();
create trigger keep_rows before truncate on sverka.cardholder_key
  for each statement execute function sverka.refuse_delete();
alter table sverka.cardholder_key enable always trigger guard_cardholder_key;
alter table sverka.cardholder_key enable always trigger keep_rows;

-- Only the worker, for its issuing activity, reads what is sealed and the keys to it.
grant select on sverka.cardholder to sverka_worker, sverka_gateway, sverka_console;
grant select on sverka.cardholder_member, sverka.cardholder_key to sverka_worker;

reset role;
