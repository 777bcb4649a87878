-- What the gateway's role may do with cardholders: one function per thing that its routes change (DESIGN 4).
set role sverka_owner;

-- Cardholder, key, members and request in one commit. False when the request's key has led somewhere before: then
-- nothing was written, and that row answers. Calls of one key come one after the other.
create function sverka.create_cardholder(
  new_id text, of_book text, of_merchant text, initials text[], new_country text, new_reference text,
  with_key_id text, with_wrapped bytea, members text[], sealed bytea[],
  request_id text, request_key text, request_method text, request_path text, request_fingerprint bytea, trace text
) returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended(request_id, 0));
  perform from sverka.request r where r.id = request_id;
  if found then return false; end if;
  if members is distinct from array['first_name', 'last_name', 'birth_date', 'country', 'document'] then
    raise exception 'a new cardholder needs each member of the identity once' using errcode = 'check_violation';
  end if;
  insert into sverka.request
    (id, book, merchant_id, key, method, path, fingerprint, resource_type, resource_id, made, trace_id)
  values (request_id, of_book, of_merchant, request_key, request_method, request_path, request_fingerprint,
    'cardholder', new_id, true, trace);
  insert into sverka.cardholder
    (id, book, merchant_id, first_initial, last_initial, country, reference, state, actor, trace_id)
  values (new_id, of_book, of_merchant, initials[1], initials[2], new_country, new_reference, 'active',
    'merchant:' || of_merchant, trace);
  insert into sverka.cardholder_key (cardholder_id, revision, key_id, wrapped, fingerprint)
  values (new_id, 1, with_key_id, with_wrapped, request_fingerprint);
  insert into sverka.cardholder_member (cardholder_id, revision, member, sealed)
  select new_id, 1, m.member, m.sealed from unnest(members, sealed) as m(member, sealed);
  return true;
end $$;

-- The next revision, sealed for exactly that number. Answers `revised`; `unchanged` when the last change was the same;
-- `stale` when another change came between (read again, seal again); `erased`; `not_found`.
create function sverka.revise_cardholder(
  the_id text, of_book text, of_merchant text, to_revision integer, initials text[], new_country text,
  reference_given boolean, new_reference text, with_key_id text, with_wrapped bytea, members text[], sealed bytea[],
  with_fingerprint bytea, trace text
) returns text language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare holder sverka.cardholder;
begin
  select * into holder from sverka.cardholder c
    where c.id = the_id and c.book = of_book and c.merchant_id = of_merchant for no key update;
  if not found then return 'not_found'; end if;
  if holder.state = 'erased' then return 'erased'; end if;
  perform from sverka.cardholder_key k
    where k.cardholder_id = the_id and k.revision = holder.revision and k.fingerprint = with_fingerprint;
  if found then return 'unchanged'; end if;
  if to_revision <> holder.revision + 1 then return 'stale'; end if;
  insert into sverka.cardholder_key (cardholder_id, revision, key_id, wrapped, fingerprint)
  values (the_id, to_revision, with_key_id, with_wrapped, with_fingerprint);
  insert into sverka.cardholder_member (cardholder_id, revision, member, sealed)
  select the_id, to_revision, m.member, m.sealed from unnest(members, sealed) as m(member, sealed);
  update sverka.cardholder set revision = to_revision, version = version + 1,
    first_initial = coalesce(initials[1], first_initial), last_initial = coalesce(initials[2], last_initial),
    country = coalesce(new_country, country),
    reference = case when reference_given then new_reference else reference end,
    actor = 'merchant:' || of_merchant, trace_id = trace
  where id = the_id;
  return 'revised';
end $$;

-- The row stays, its keys go: what is sealed can be opened by nobody from this commit on. True also for one that was
-- erased before; false when the merchant has no such cardholder.
create function sverka.erase_cardholder(the_id text, of_book text, of_merchant text, trace text)
returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare holder sverka.cardholder;
begin
  select * into holder from sverka.cardholder c
    where c.id = the_id and c.book = of_book and c.merchant_id = of_merchant for no key update;
  if not found then return false; end if;
  if holder.state = 'erased' then return true; end if;
  update sverka.cardholder set state = 'erased', version = version + 1, first_initial = null, last_initial = null,
    actor = 'merchant:' || of_merchant, trace_id = trace
  where id = the_id;
  delete from sverka.cardholder_key where cardholder_id = the_id;
  return true;
end $$;

revoke all on function sverka.create_cardholder, sverka.revise_cardholder, sverka.erase_cardholder,
  sverka.guard_cardholder, sverka.guard_cardholder_key from public;
grant execute on function sverka.create_cardholder, sverka.revise_cardholder, sverka.erase_cardholder
  to sverka_gateway;

reset role;
