-- What an admin changes is audited where it is changed: there is no way to a row of these that leaves no trace.
set role sverka_owner;

-- Its id is of no book: `both`. From and to are what the subject was and is, in words; the reason is the act.
create function sverka.note_act(about_type text, about_id text, of_merchant text, was text, is_now text, act text,
  by_whom text, trace text, of_book text default 'both') returns void
language sql set search_path = pg_catalog, pg_temp as $$
  insert into sverka.audit
    (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    select of_book, of_merchant, about_type, about_id, was, is_now,
      1 + (select count(*) from sverka.audit a where a.subject_id = about_id),
      -- Whoever calls from a tool of his own is at least the role that he signed in with.
      coalesce(by_whom, 'database:' || session_user), act, trace;
$$;

-- What somebody may do: the roles in order, or that nothing is.
create function sverka.standing_of(u sverka."user") returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when u.disabled_at is not null then 'disabled'
    else (select string_agg(r, ',' order by r) from unnest(u.roles) r) end;
$$;

drop function sverka.create_merchant(text, text);
create function sverka.create_merchant(new_id text, new_name text, by_whom text default null, trace text default null)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.merchant (id, name) values (new_id, new_name);
  select sverka.note_act('merchant', new_id, new_id, null, 'active', 'merchant_created', by_whom, trace);
$$;

drop function sverka.create_api_key(text, text, text, text, bytea);
create function sverka.create_api_key(new_id text, of_merchant text, of_book text, with_access text, with_hash bytea,
  by_whom text default null, trace text default null)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.api_key (id, merchant_id, book, access, hash)
    values (new_id, of_merchant, of_book, with_access, with_hash);
  select sverka.note_act('api_key', new_id, of_merchant, null, with_access, 'key_created', by_whom, trace, of_book);
$$;

drop function sverka.revoke_api_key(text);
create function sverka.revoke_api_key(key_id text, by_whom text default null, trace text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare revoked sverka.api_key;
begin
  update sverka.api_key k set revoked_at = clock_timestamp() where k.id = key_id and k.revoked_at is null
    returning k.* into revoked;
  if found then
    perform sverka.note_act('api_key', key_id, revoked.merchant_id, revoked.access, 'revoked', 'key_revoked', by_whom,
      trace, revoked.book);
  end if;
  return exists (select from sverka.api_key k where k.id = key_id);
end $$;

drop function sverka.create_user(text, text, text, text[]);
create function sverka.create_user(new_id text, new_login text, of_merchant text, with_roles text[],
  by_whom text default null, trace text default null)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka."user" (id, login, merchant_id, roles) values (new_id, new_login, of_merchant, with_roles);
  select sverka.note_act('user', u.id, of_merchant, null, sverka.standing_of(u), 'user_created', by_whom, trace)
    from sverka."user" u where u.id = new_id;
$$;

-- A change of a person, noted when it changed something. Answers whether there is such a person.
create function sverka.change_user(before sverka."user", act text, by_whom text, trace text) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare is_now text; was text := sverka.standing_of(before);
begin
  select sverka.standing_of(u) into is_now from sverka."user" u where u.id = before.id;
  if is_now <> was then
    perform sverka.note_act('user', before.id, before.merchant_id, was, is_now, act, by_whom, trace);
  end if;
  return is_now is not null;
end $$;

drop function sverka.set_user_roles(text, text[]);
create function sverka.set_user_roles(of_user text, with_roles text[], by_whom text default null,
  trace text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare before sverka."user";
begin
  select * into before from sverka."user" u where u.id = of_user for no key update;
  update sverka."user" set roles = with_roles where id = of_user;
  return sverka.change_user(before, 'roles_changed', by_whom, trace);
end $$;

drop function sverka.set_user_disabled(text, boolean);
create function sverka.set_user_disabled(of_user text, is_disabled boolean, by_whom text default null,
  trace text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare before sverka."user";
begin
  select * into before from sverka."user" u where u.id = of_user for no key update;
  update sverka."user" set disabled_at = case when is_disabled then coalesce(disabled_at, clock_timestamp()) end
    where id = of_user;
  return sverka.change_user(before, case when is_disabled then 'user_disabled' else 'user_enabled' end, by_whom, trace);
end $$;

-- What is done to a person and changes nothing about what he may do.
create function sverka.note_act_on_user(of_user text, act text, by_whom text, trace text) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  select sverka.note_act('user', u.id, u.merchant_id, sverka.standing_of(u), sverka.standing_of(u), act, by_whom, trace)
    from sverka."user" u where u.id = of_user;
$$;

drop function sverka.revoke_sessions(text);
create function sverka.revoke_sessions(of_user text, by_whom text default null, trace text default null)
returns integer language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare ended integer;
begin
  update sverka.session set revoked_at = clock_timestamp() where user_id = of_user and revoked_at is null;
  get diagnostics ended = row_count;
  perform sverka.note_act_on_user(of_user, 'sessions_revoked', by_whom, trace);
  return ended;
end $$;

drop function sverka.create_login_link(text, bytea, interval);
create function sverka.create_login_link(of_login text, with_hash bytea, valid_for interval,
  by_whom text default null, trace text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare person text;
begin
  update sverka.login_link l set used_at = clock_timestamp() from sverka."user" u
    where u.login = of_login and l.user_id = u.id and l.used_at is null;
  select u.id into person from sverka."user" u where u.login = of_login and u.disabled_at is null;
  if person is null then return false; end if;
  insert into sverka.login_link (token_hash, user_id, expires_at)
    values (with_hash, person, clock_timestamp() + valid_for);
  perform sverka.note_act_on_user(person, 'link_made', by_whom, trace);
  return true;
end $$;

drop function sverka.link_identity(text, text, text, text);
create function sverka.link_identity(of_user text, with_issuer text, with_subject text, by_whom text,
  trace text default null) returns boolean
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
  perform sverka.note_act_on_user(of_user, 'identity_linked', by_whom, trace);
  return true;
end $$;

drop function sverka.unlink_identity(text, text, text, text);
create function sverka.unlink_identity(of_user text, with_issuer text, with_subject text, by_whom text,
  trace text default null) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update sverka.user_identity i set unlinked_by = by_whom, unlinked_at = clock_timestamp()
    where i.issuer = with_issuer and i.subject = with_subject and i.user_id = of_user and i.unlinked_at is null;
  if not found then return false; end if;
  update sverka.session set revoked_at = clock_timestamp() where user_id = of_user and revoked_at is null;
  perform sverka.note_act_on_user(of_user, 'identity_unlinked', by_whom, trace);
  return true;
end $$;

drop function sverka.add_passkey(text, text, bytea, bigint, text[]);
create function sverka.add_passkey(of_user text, with_credential text, with_key bytea, with_counter bigint,
  with_transports text[], by_whom text default null, trace text default null) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.passkey (credential_id, user_id, public_key, counter, transports)
    values (with_credential, of_user, with_key, with_counter, with_transports);
  select sverka.note_act_on_user(of_user, 'passkey_added', by_whom, trace);
$$;

drop function sverka.remove_passkey(text, text);
create function sverka.remove_passkey(of_user text, the_credential text, by_whom text default null,
  trace text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  update sverka.passkey set removed_at = clock_timestamp()
    where credential_id = the_credential and user_id = of_user and removed_at is null;
  if found then perform sverka.note_act_on_user(of_user, 'passkey_removed', by_whom, trace); end if;
end $$;

-- Terms as the audit has them: the members that somebody can set, in their order.
create function sverka.offer_terms(o sverka.withdrawal_offer) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select format('%s on %s: fee %s, smallest %s, two approvals from %s, by %s', o.asset, o.network, o.fee_amount, o.smallest_amount,
    o.two_approvals_from, array_to_string(o.routes, ' or ')) where o.book is not null;
$$;

drop function sverka.set_withdrawal_offer(text, text, text, numeric, numeric, numeric, text[], text);
create function sverka.set_withdrawal_offer(of_book text, of_network text, of_asset text, with_fee numeric,
  with_smallest numeric, with_two_from numeric, with_routes text[], by_whom text, trace text default null)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare before sverka.withdrawal_offer; made sverka.withdrawal_offer;
begin
  select * into before from sverka.withdrawal_offer o
    where o.book = of_book and o.network = of_network and o.asset = of_asset for no key update;
  insert into sverka.withdrawal_offer as o
    (book, network, asset, fee_amount, smallest_amount, two_approvals_from, routes, set_by)
    values (of_book, of_network, of_asset, with_fee, with_smallest, with_two_from, with_routes,
      coalesce(by_whom, 'database:' || session_user))
  on conflict (book, network, asset) do update set fee_amount = excluded.fee_amount,
    smallest_amount = excluded.smallest_amount, two_approvals_from = excluded.two_approvals_from,
    routes = excluded.routes, set_by = excluded.set_by, set_at = clock_timestamp()
  returning o.* into made;
  if sverka.offer_terms(before) is not distinct from sverka.offer_terms(made) then return; end if;
  perform sverka.note_act('withdrawal_terms', 'withdrawal_terms:' || of_book, null, sverka.offer_terms(before),
    sverka.offer_terms(made), 'offer_set', by_whom, trace, of_book);
end $$;

drop function sverka.set_withdrawal_policy(text, interval, interval, text);
create function sverka.set_withdrawal_policy(of_book text, with_cooling_off interval, with_expires_after interval,
  by_whom text, trace text default null)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare was text; is_now text;
begin
  select format('cooling-off %s, expires after %s', p.cooling_off, p.expires_after) into was
    from sverka.withdrawal_policy p where p.book = of_book for no key update;
  update sverka.withdrawal_policy p set cooling_off = with_cooling_off, expires_after = with_expires_after,
    set_by = coalesce(by_whom, 'database:' || session_user), set_at = clock_timestamp() where p.book = of_book
    returning format('cooling-off %s, expires after %s', p.cooling_off, p.expires_after) into is_now;
  if is_now is distinct from was then
    perform sverka.note_act('withdrawal_terms', 'withdrawal_terms:' || of_book, null, was, is_now, 'policy_set', by_whom, trace, of_book);
  end if;
end $$;

do $$ declare f regprocedure; begin
  for f in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'sverka' and p.proname in ('note_act', 'standing_of', 'change_user', 'note_act_on_user',
        'offer_terms', 'create_merchant', 'create_api_key', 'revoke_api_key', 'create_user', 'set_user_roles',
        'set_user_disabled', 'revoke_sessions', 'create_login_link', 'link_identity', 'unlink_identity', 'add_passkey',
        'remove_passkey', 'set_withdrawal_offer', 'set_withdrawal_policy') loop
    execute format('revoke all on function %s from public', f);
  end loop;
end $$;
grant execute on function sverka.create_merchant, sverka.create_api_key, sverka.revoke_api_key, sverka.create_user,
  sverka.set_user_roles, sverka.set_user_disabled, sverka.revoke_sessions, sverka.create_login_link,
  sverka.link_identity, sverka.unlink_identity, sverka.add_passkey, sverka.remove_passkey,
  sverka.set_withdrawal_offer, sverka.set_withdrawal_policy to sverka_console;

reset role;
