-- Freeze, unfreeze, close: ours at once, then told to the issuer, one at a time and in order.
set role sverka_owner;

create table sverka.card_change (
  card_id text not null references sverka.card,
  -- In the order in which they were decided.
  number integer not null check (number >= 1),
  book text not null check (book in ('live', 'test')),
  merchant_id text not null references sverka.merchant,
  kind text not null check (kind in ('freeze', 'unfreeze', 'close')),
  request_id text not null unique references sverka.request,
  -- Since when it may be known to the issuer; null again when he has refused it.
  submitted_at timestamptz,
  -- `superseded`: a newer one took its place before it was told.
  outcome text check (outcome in ('confirmed', 'superseded')),
  done_at timestamptz,
  needs_operator boolean not null default false,
  trace_id text,
  created_at timestamptz not null default clock_timestamp(),
  -- When somebody last tried; null until then.
  touched_at timestamptz,
  primary key (card_id, number),
  check ((outcome is null) = (done_at is null)),
  check (outcome is distinct from 'confirmed' or submitted_at is not null)
);
create index card_change_waiting on sverka.card_change (card_id, number) where outcome is null;

create function sverka.guard_card_change() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
begin
  if (old.card_id, old.number, old.book, old.merchant_id, old.kind, old.request_id, old.created_at) is distinct from
     (new.card_id, new.number, new.book, new.merchant_id, new.kind, new.request_id, new.created_at)
     or old.outcome is not null then
    raise exception 'card_change % of %: what was decided, and how it ended, never changes', old.number, old.card_id
      using errcode = 'check_violation';
  end if;
  -- The issuer hears of one at a time, in their order.
  if new.submitted_at is not null and old.submitted_at is null and exists (select from sverka.card_change c
      where c.card_id = new.card_id and c.number < new.number and c.outcome is null) then
    raise exception 'card_change % of %: an older one is not done', new.number, new.card_id
      using errcode = 'check_violation';
  end if;
  new.touched_at := clock_timestamp();
  return new;
end $$;
create trigger guard_card_change before update on sverka.card_change
  for each row execute function sverka.guard_card_change();
create trigger keep_rows before delete or truncate on sverka.card_change
  for each statement execute function sverka.refuse_delete();
alter table sverka.card_change enable always trigger guard_card_change;
alter table sverka.card_change enable always trigger keep_rows;

-- Request, card, event and change in one commit. Answers `changed` with the change's number; `unchanged`, the card is
-- so already; `kept`, the key has led somewhere before; `refused`, kept for ever; `outcome_unknown`, a load is not done,
-- and nothing is kept; `stale`, the card is not as seen: read it again; `not_found`. `event_data` is the card as the API
-- shows it after the move from `seen_version`.
create function sverka.request_card_change(
  the_card text, of_book text, of_merchant text, change_kind text, seen_version integer, event_data jsonb,
  request_id text, request_key text, request_method text, request_path text, request_fingerprint bytea, trace text,
  out answer text, out change_number integer
) language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare
  card sverka.card;
  target text := case change_kind when 'freeze' then 'frozen' when 'unfreeze' then 'active' when 'close' then 'closed' end;
  refusal text;
begin
  if target is null then raise exception 'no change %', change_kind using errcode = '22023'; end if;
  perform pg_advisory_xact_lock(hashtextextended(request_id, 0));
  perform from sverka.request r where r.id = request_card_change.request_id;
  if found then answer := 'kept'; return; end if;
  select * into card from sverka.card c
    where c.id = the_card and c.book = of_book and c.merchant_id = of_merchant for no key update;
  if not found then answer := 'not_found'; return; end if;

  refusal := case when card.state in ('pending', 'failed') then 'invalid_state'
    when card.state = 'closed' and target <> 'closed' then 'card_closed' end;
  answer := case when refusal is not null then 'refused' when card.state = target then 'unchanged' end;
  if answer is null then
    if target = 'closed' and exists (select from sverka.card_load l
        where l.card_id = card.id and l.state in ('reserved', 'submitted', 'unknown')) then
      answer := 'outcome_unknown';
      return;
    end if;
    if card.version is distinct from seen_version then answer := 'stale'; return; end if;
  end if;

  insert into sverka.request
    (id, book, merchant_id, key, method, path, fingerprint, resource_type, resource_id, made, refusal, trace_id)
  values (request_id, of_book, of_merchant, request_key, request_method, request_path, request_fingerprint,
    case when refusal is null then 'card' end, case when refusal is null then card.id end,
    case when refusal is null then false end,
    case when refusal is not null then jsonb_build_object('code', refusal, 'detail', 'The card is ' || card.state || '.') end,
    trace);
  if answer is not null then return; end if;

  update sverka.card_change c set outcome = 'superseded', done_at = clock_timestamp()
    where c.card_id = card.id and c.outcome is null and c.submitted_at is null;
  select coalesce(max(c.number), 0) + 1 into change_number from sverka.card_change c where c.card_id = card.id;
  insert into sverka.card_change (card_id, number, book, merchant_id, kind, request_id, trace_id)
  values (card.id, change_number, of_book, of_merchant, change_kind, request_id, trace);
  update sverka.card c set state = target, version = c.version + 1, reason = null, actor = 'merchant:' || of_merchant,
    trace_id = trace
  where c.id = card.id returning * into card;
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
  values (sverka.new_id('evt'), 'card.' || case target when 'active' then 'unfrozen' else target end, of_book,
    of_merchant, 'card', card.id, card.version,
    event_data || jsonb_build_object('object', 'card', 'id', card.id, 'state', card.state, 'version', card.version,
      'reason', null, 'updated_at', to_char(card.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')),
    trace);
  answer := 'changed';
end $$;

revoke all on function sverka.request_card_change, sverka.guard_card_change from public;
grant execute on function sverka.request_card_change to sverka_gateway;
grant select, update on sverka.card_change to sverka_worker;
grant select on sverka.card_change to sverka_gateway, sverka_console;

reset role;
