-- What stands in clear of a cardholder is shown to people of ours by one door, and each look leaves its row in the audit.
set role sverka_owner;

revoke select on sverka.cardholder from sverka_console;
grant select (id, book, merchant_id, revision, reference, state, version, reason, actor, trace_id, created_at, updated_at)
  on sverka.cardholder to sverka_console;

create function sverka.look_at_cardholder(the_cardholder text, by_user text, trace text)
returns table (first_initial text, last_initial text, country text)
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from sverka."user" u
      where u.id = by_user and u.disabled_at is null and u.merchant_id is null) then
    raise exception 'this person looks at no cardholder' using errcode = 'SV403';
  end if;
  insert into sverka.audit
    (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    select h.book, h.merchant_id, 'cardholder', h.id, h.state, h.state, h.version, 'user:' || by_user, 'read', trace
    from sverka.cardholder h where h.id = the_cardholder;
  return query select h.first_initial, h.last_initial, h.country from sverka.cardholder h where h.id = the_cardholder;
end $$;

revoke all on function sverka.look_at_cardholder from public;
grant execute on function sverka.look_at_cardholder to sverka_console;

-- A withdrawal is found by where it went.
create index withdrawal_address on sverka.withdrawal (address);

reset role;
