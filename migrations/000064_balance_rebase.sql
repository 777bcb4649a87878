-- A person may decide that a mirror begins anew from a fresh snapshot; what its pages show is found by an index.
set role sverka_owner;

-- How a source is named where one word must do: in decisions, alerts and the audit.
alter table sverka.balance_source
  add column key text not null generated always as (book || ':' || provider || ':' || account) stored unique;

insert into sverka.decision_right (subject_type, choice, role)
  values ('balance_source', 'rebase', 'operator'), ('balance_source', 'rebase', 'admin');

-- The audit of a rebase that a person has decided on and nobody has applied.
create function sverka.note_balance_rebase(of_decision text, with_trace text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare source sverka.balance_source; person text;
begin
  if of_decision is null then return; end if;
  select d.user_id into person from sverka.decision d
    where d.id = of_decision and (d.subject_type, d.choice) = ('balance_source', 'rebase')
      and not exists (select from sverka.decision_outcome o where o.decision_id = d.id);
  if not found then
    raise exception 'nobody has decided on this rebase' using errcode = 'insufficient_privilege';
  end if;
  select s.* into strict source from sverka.balance_source s join sverka.decision d on d.subject_id = s.key
    where d.id = of_decision;
  perform sverka.note_act('balance_source', source.key, source.merchant_id,
    case when source.differences > 0 then 'differs' else 'equal' end, 'rebased', 'source_rebased', 'user:' || person,
    with_trace, source.book);
end $$;

-- As before, and named in the audit as everywhere.
create or replace function sverka.assign_balance_source(of_book text, of_provider text, of_account text,
  to_merchant text, by_whom text default null, trace text default null) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare before sverka.balance_source;
begin
  before := sverka.lock_balance_source(of_book, of_provider, of_account);
  if before.merchant_id is not distinct from to_merchant then return; end if;
  update sverka.balance_source s set merchant_id = to_merchant where s.id = before.id;
  perform sverka.note_act('balance_source', before.key, to_merchant, before.merchant_id,
    coalesce(to_merchant, 'nobody'), 'source_assigned', by_whom, trace, of_book);
end $$;

-- Addresses in their own order, of one currency, and of one reset: stale are those of the resets before the last.
create index balance_address_currency on sverka.balance_address (source_id, currency, address);
create index balance_address_reset on sverka.balance_address (source_id, resets, address, currency);
create index balance_check_time on sverka.balance_check (started_at desc, id desc);
create index balance_check_result on sverka.balance_check (result, started_at desc, id desc);
create index balance_check_trace on sverka.balance_check (trace_id);
create index balance_conflict_of on sverka.balance_conflict (source_id);
create index balance_bad_item_waiting on sverka.balance_bad_item (source_id) where applied_at is null;

revoke all on function sverka.note_balance_rebase from public;
grant execute on function sverka.note_balance_rebase to sverka_worker;

reset role;
