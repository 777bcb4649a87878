-- The doors of withdrawals. Nothing else moves one: the cabinet asks, edits and cancels for its person; a decision is a
-- row of a person of ours; the worker applies it here, and here everything that makes it right is checked again.
set role sverka_ledger_owner;
grant usage on schema ledger to sverka_owner;
grant execute on function ledger.open_accounts, ledger.post_any_kind to sverka_owner;
grant select on ledger.account_balance, ledger.asset to sverka_owner;
set role sverka_owner;

-- Two logins of one person are one person (who asks approves nothing); once joined, never parted.
alter table sverka."user" add column person text;
update sverka."user" set person = id;
alter table sverka."user" alter column person set not null;
create function sverka.own_person() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.person := coalesce(new.person, new.id);
  return new;
end $$;
create trigger own_person before insert on sverka."user" for each row execute function sverka.own_person();

create function sverka.join_persons(one text, other text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka."user" u set person = least(a.person, b.person) from sverka."user" a, sverka."user" b
    where a.id = one and b.id = other and u.person in (a.person, b.person);
$$;

-- SHA-256 over length-prefixed parts, as `hashParts` of db/new-id.ts makes it.
create function sverka.hash_parts(parts text[]) returns bytea
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select sha256(string_agg(int4send(octet_length(p.bytes)) || p.bytes, ''::bytea order by p.place))
    from (select convert_to(part, 'UTF8') as bytes, place from unnest(parts) with ordinality x(part, place)) p;
$$;

-- As `encodeId` of contracts/ids.ts: the first 16 bytes in 26 characters.
create function sverka.encode_id(prefix text, bytes bytea) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select prefix || '_' || string_agg(
      substr('0123456789abcdefghjkmnpqrstvwxyz', substring(b.bits from 5 * n + 1 for 5)::bit(5)::int + 1, 1), ''
      order by n)
    from (select B'00' || ('x' || encode(substring(bytes from 1 for 16), 'hex'))::bit(128) as bits) b,
      generate_series(0, 25) n
    group by b.bits;
$$;

-- `{amount, asset}` as the API shows it, of minor units.
create function sverka.amount_json(minor numeric, of_asset text) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('amount', round(minor / power(10::numeric, a.decimals::numeric), a.decimals)::text,
      'asset', a.code)
    from ledger.asset a where a.code = of_asset;
$$;

-- What a decision is bound to: the terms, counted by their version, and what is known of a payout. Two approvals of the
-- same are of one hash; an edit makes another.
create function sverka.withdrawal_hash(w sverka.withdrawal) returns bytea
language sql stable set search_path = pg_catalog, pg_temp as $$
  select sverka.hash_parts(array[w.id, w.terms::text, w.amount::text, w.fee_amount::text, w.asset, w.network, w.address,
    coalesce('=' || w.tag, 'null'), coalesce('=' || w.payout_ref, 'null'), coalesce('=' || w.flag, 'null')]);
$$;

-- The resource in events (API.md 5); `toWithdrawal` of contracts/withdrawal.ts makes the same.
create function sverka.withdrawal_json(w sverka.withdrawal) returns jsonb
language sql stable set search_path = pg_catalog, pg_temp as $$
  select jsonb_build_object('object', 'withdrawal', 'id', w.id, 'state', w.state, 'version', w.version,
    'reason', w.reason, 'amount', sverka.amount_json(w.amount, w.asset), 'fee', sverka.amount_json(w.fee_amount, w.asset),
    'network', w.network, 'destination', w.address, 'transaction_hash', w.transaction_hash,
    'movement_ids', to_jsonb(w.movement_ids),
    'created_at', to_char(w.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updated_at', to_char(w.updated_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));
$$;

create function sverka.tell_withdrawal(w sverka.withdrawal) returns void
language sql set search_path = pg_catalog, pg_temp as $$
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
    select sverka.new_id('evt'), 'withdrawal.' || w.state, w.book, w.merchant_id, 'withdrawal', w.id, w.version,
      sverka.withdrawal_json(w), w.trace_id
    where w.state not in ('unknown', 'found_late');
$$;

-- What makes a movement of a withdrawal happen once (`operationKeyParts` of domain/operation-key.ts).
create function sverka.withdrawal_key(w sverka.withdrawal, operation text) returns bytea
language sql stable set search_path = pg_catalog, pg_temp as $$
  select sverka.hash_parts(array[w.book, 'sverka', w.merchant_id, 'withdrawal', w.id, w.terms::text, operation]);
$$;

-- The money of these operations, in order, with what is owed paid out of what comes back. Answers null when all is
-- posted, else the outcome that refused it: then nothing of the transaction may stay.
create function sverka.post_withdrawal(ws sverka.withdrawal[], operations text[]) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  w sverka.withdrawal; at int; fee numeric; fee_asset text; total numeric; collected numeric := 0; posted record;
  ids bigint[]; wallet bigint; receivable bigint; hold bigint; clearing bigint; fees bigint;
  fee_clearing bigint; fee_fees bigint;
  keys bytea[] := '{}'; hashes bytea[] := '{}'; kinds text[] := '{}'; counts int[] := '{}'; gens int[] := '{}';
  accounts bigint[] := '{}'; amounts numeric[] := '{}'; roles text[] := '{}';
  l_accounts bigint[]; l_amounts numeric[]; l_roles text[]; kind text; owed_line int;
begin
  w := ws[1];
  fee_asset := coalesce(w.payout_fee_asset, w.asset);
  ids := ledger.open_accounts(array_fill(w.book, array[7]), array_fill(w.merchant_id, array[7]),
    array_fill(null::text, array[7]), array['wallet', 'receivable', 'hold', 'clearing:payout', 'fees', 'clearing:payout', 'fees'],
    array['', '', w.id, '', '', '', ''], array[w.asset, w.asset, w.asset, w.asset, w.asset, fee_asset, fee_asset]);
  wallet := ids[1]; receivable := ids[2]; hold := ids[3]; clearing := ids[4]; fees := ids[5];
  fee_clearing := ids[6]; fee_fees := ids[7];
  for at in 1..cardinality(operations) loop
    w := ws[at];
    total := w.amount + w.fee_amount;
    fee := coalesce(w.payout_fee_amount, 0);
    case operations[at]
      when 'hold' then
        kind := 'withdrawal_hold';
        l_accounts := array[wallet, hold, receivable]; l_amounts := array[-total, total, null];
        l_roles := array['leg', 'leg', 'guard'];
      when 'release' then
        kind := 'withdrawal_release';
        l_accounts := array[hold, wallet]; l_amounts := array[-total, total]; l_roles := array['leg', 'leg'];
      when 'settle' then
        kind := 'withdrawal_settle';
        l_accounts := array[hold, clearing]; l_amounts := array[-total, w.amount]; l_roles := array['leg', 'leg'];
      when 'take_back' then    -- paid after all, behind a release: never refused, what is not there is owed (R14)
        kind := 'withdrawal_settle';
        l_accounts := array[wallet, receivable, clearing]; l_amounts := array[-total, null, w.amount];
        l_roles := array['leg', 'draw', 'leg'];
        owed_line := cardinality(accounts) + 2;
      when 'fee' then
        if fee = 0 then continue; end if;
        kind := 'withdrawal_fee';
        l_accounts := array[fee_fees, fee_clearing]; l_amounts := array[-fee, fee]; l_roles := array['leg', 'leg'];
    end case;
    if operations[at] in ('settle', 'take_back') and w.fee_amount > 0 then
      l_accounts := l_accounts || fees; l_amounts := l_amounts || w.fee_amount; l_roles := l_roles || 'leg'::text;
    end if;
    keys := keys || sverka.withdrawal_key(w, operations[at]); kinds := kinds || kind;
    hashes := hashes || sverka.hash_parts(kind || array(
      select unnest(array[a::text, coalesce(m::text, ''), r]) from unnest(l_accounts, l_amounts, l_roles) x(a, m, r)));
    counts := counts || cardinality(l_accounts); gens := gens || w.terms;
    accounts := accounts || l_accounts; amounts := amounts || l_amounts; roles := roles || l_roles;
    if operations[at] = 'release' then
      keys := keys || sverka.withdrawal_key(w, 'release:collect'); kinds := kinds || 'collect'::text;
      hashes := hashes || sverka.hash_parts(array['collect', wallet::text, '', 'collect', receivable::text, '', 'collect']);
      owed_line := cardinality(accounts) + 2;
      counts := counts || 2; gens := gens || w.terms; accounts := accounts || wallet || receivable;
      amounts := amounts || null::numeric || null::numeric; roles := roles || 'collect'::text || 'collect'::text;
    end if;
  end loop;
  select p.outcomes, p.moved into posted from ledger.post_any_kind(keys, hashes, kinds, counts,
    array_fill('withdrawal'::text, array[cardinality(keys)]), array_fill(w.id, array[cardinality(keys)]), gens,
    array_fill(null::bytea, array[cardinality(keys)]), array_fill(w.reference, array[cardinality(keys)]),
    accounts, amounts, roles, w.trace_id) p;
  for at in 1..cardinality(keys) loop
    if posted.outcomes[at] <> 'posted' and not (kinds[at] = 'collect' and posted.outcomes[at] = 'nothing') then
      return posted.outcomes[at];
    end if;
  end loop;
  if owed_line is not null then
    perform sverka.tell_receivable(w, receivable, coalesce(posted.moved[owed_line], 0),
      keys[array_position(kinds, case when 'take_back' = any (operations) then 'withdrawal_settle' else 'collect' end)]);
  end if;
  return null;
end $$;

-- An owner owes from now on, or owes nothing any more (R14): as `tellReceivables` of db/tell-receivables.ts.
create function sverka.tell_receivable(w sverka.withdrawal, account bigint, change numeric, by_key bytea) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare balance numeric; alert_key text := 'receivable:' || account; movement text := sverka.encode_id('mov', by_key);
begin
  if change = 0 then return; end if;
  select b.balance into balance from ledger.account_balance b where b.account_id = account;
  if (balance - change = 0) = (balance = 0) then return; end if;
  if balance = 0 then
    perform sverka.resolve_alert(alert_key);
  else
    perform sverka.raise_alert(alert_key, 'receivable_open', w.book, 'merchant', w.merchant_id,
      'An owner owes what could not be taken back. Money out is refused until it is settled; ask for it.', w.trace_id);
  end if;
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
    values (sverka.new_id('evt'), case when balance = 0 then 'receivable.settled' else 'receivable.opened' end, w.book,
      w.merchant_id, 'receivable', movement, 1, jsonb_build_object('object', 'receivable',
        'owner', jsonb_build_object('type', 'merchant', 'id', w.merchant_id, 'ref', null),
        'amount', sverka.amount_json(-balance, w.asset), 'movement_id', movement), w.trace_id);
end $$;

-- Moves it with its money and its event; raises when the journal refuses: nothing of it may stay then.
create function sverka.move_withdrawal(before sverka.withdrawal, after sverka.withdrawal, operations text[])
returns sverka.withdrawal language plpgsql set search_path = pg_catalog, pg_temp as $$
declare moved sverka.withdrawal := after; refused text;
begin
  moved.movement_ids := before.movement_ids || array(
    select sverka.encode_id('mov', sverka.withdrawal_key(after, o)) from unnest(operations) o
      where o <> 'fee' or coalesce(after.payout_fee_amount, 0) > 0);
  update sverka.withdrawal w set
      route = moved.route, approvals_needed = moved.approvals_needed, payout_ref = moved.payout_ref, payout_status = moved.payout_status,
      payout_fee_asset = moved.payout_fee_asset, payout_fee_amount = moved.payout_fee_amount,
      transaction_hash = moved.transaction_hash, proof_id = moved.proof_id, flag = moved.flag,
      needs_operator = moved.needs_operator, applied_ticket = moved.applied_ticket, submitted_by = moved.submitted_by,
      submitted_at = moved.submitted_at,
      settled_at = case when moved.state in ('completed', 'failed', 'rejected', 'cancelled')
        then coalesce(before.settled_at, clock_timestamp()) end,
      movement_ids = moved.movement_ids, state = moved.state, reason = moved.reason, actor = moved.actor,
      trace_id = moved.trace_id,
      version = before.version + case when moved.state = before.state then 0 else 1 end
    where w.id = before.id returning w.* into moved;
  if moved.state <> before.state then perform sverka.tell_withdrawal(moved); end if;
  if cardinality(operations) > 0 then
    refused := sverka.post_withdrawal(array_fill(moved, array[cardinality(operations)]), operations);
    if refused is not null then
      raise exception 'withdrawal %: the journal did not take %: %', moved.id, operations, refused using errcode = 'SV001';
    end if;
  end if;
  return moved;
end $$;

-- The person at the cabinet: a requester of that merchant who may sign in.
create function sverka.require_requester(user_id text, of_merchant text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not exists (select from sverka."user" u where u.id = user_id and u.merchant_id = of_merchant
      and 'requester' = any (u.roles) and u.disabled_at is null) then
    raise exception 'this person asks for nothing of that merchant' using errcode = 'SV403';
  end if;
end $$;

-- Adds a destination to the merchant's book. One that stands there is answered as it is.
create function sverka.add_withdrawal_destination(of_book text, of_merchant text, by_user text, with_label text,
  of_network text, with_address text, with_tag text) returns sverka.withdrawal_destination
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare made sverka.withdrawal_destination;
begin
  perform sverka.require_requester(by_user, of_merchant);
  insert into sverka.withdrawal_destination (id, book, merchant_id, label, network, address, tag, added_by, usable_from)
    select sverka.new_id('wdd'), of_book, of_merchant, with_label, of_network, with_address, with_tag, by_user,
      clock_timestamp() + p.cooling_off from sverka.withdrawal_policy p where p.book = of_book
    on conflict (book, merchant_id, network, address, coalesce(tag, '')) where removed_at is null do nothing
    returning * into made;
  if made.id is null then
    select * into made from sverka.withdrawal_destination d where d.book = of_book and d.merchant_id = of_merchant
      and d.network = of_network and d.address = with_address and coalesce(d.tag, '') = coalesce(with_tag, '')
      and d.removed_at is null;
  end if;
  return made;
end $$;

-- Takes it out of the book; what was asked for already keeps its own copy.
create function sverka.remove_withdrawal_destination(the_destination text, of_book text, of_merchant text, by_user text)
returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform sverka.require_requester(by_user, of_merchant);
  update sverka.withdrawal_destination d set removed_at = clock_timestamp()
    where d.id = the_destination and d.book = of_book and d.merchant_id = of_merchant and d.removed_at is null;
  return found;
end $$;

-- What stands against a request on these terms; null when nothing does.
create function sverka.withdrawal_refusal(of_book text, of_merchant text, of_asset text, of_amount numeric,
  the_destination text) returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select case
      when d.id is null or d.removed_at is not null then 'destination_unknown'
      when d.usable_from > clock_timestamp() then 'destination_cooling_off'
      when o.asset is null then 'not_offered'
      when of_amount < o.smallest_amount then 'amount_too_small' end
    from (select 1) one
    left join sverka.withdrawal_destination d
      on d.id = the_destination and d.book = of_book and d.merchant_id = of_merchant
    left join sverka.withdrawal_offer o on o.book = of_book and o.network = d.network and o.asset = of_asset;
$$;

-- Row, hold, audit and event in one commit. Answers `requested`, `kept` (the form was sent before: what it led to), or
-- what stands against it: `destination_unknown`, `destination_cooling_off`, `not_offered`, `amount_too_small`,
-- `fee_changed` (shown was another one), `insufficient_funds`, `receivable_open`. Then nothing was done.
create function sverka.request_withdrawal(of_book text, of_merchant text, by_user text, with_key text, of_asset text,
  of_amount numeric, seen_fee numeric, the_destination text, with_reference text, trace text,
  out answer text, out withdrawal_id text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare w sverka.withdrawal; d sverka.withdrawal_destination; offered sverka.withdrawal_offer; refused text;
begin
  perform sverka.require_requester(by_user, of_merchant);
  perform pg_advisory_xact_lock(hashtextextended(of_book || of_merchant || with_key, 0));
  select k.id into withdrawal_id from sverka.withdrawal k
    where k.book = of_book and k.merchant_id = of_merchant and k.request_key = with_key;
  if found then answer := 'kept'; return; end if;
  answer := sverka.withdrawal_refusal(of_book, of_merchant, of_asset, of_amount, the_destination);
  if answer is not null then return; end if;
  select * into d from sverka.withdrawal_destination x where x.id = the_destination;
  select * into offered from sverka.withdrawal_offer o
    where o.book = of_book and o.network = d.network and o.asset = of_asset;
  if offered.fee_amount is distinct from seen_fee then answer := 'fee_changed'; return; end if;
  w.id := sverka.new_id('wd');
  begin
    insert into sverka.withdrawal (id, book, merchant_id, request_key, asset, amount, fee_amount, network, destination_id,
        address, tag, reference, requested_by, expires_at, movement_ids, state, actor, trace_id)
      select w.id, of_book, of_merchant, with_key, of_asset, of_amount, offered.fee_amount, d.network, d.id, d.address,
        d.tag, with_reference, by_user, clock_timestamp() + p.expires_after, array['mov_'], 'requested',
        'user:' || by_user, trace
      from sverka.withdrawal_policy p where p.book = of_book returning * into w;
    update sverka.withdrawal x set movement_ids = array[sverka.encode_id('mov', sverka.withdrawal_key(w, 'hold'))]
      where x.id = w.id returning * into w;
    insert into sverka.withdrawal_terms (withdrawal_id, terms, amount, fee_amount, network, address, tag, requested_by)
      values (w.id, w.terms, w.amount, w.fee_amount, w.network, w.address, w.tag, by_user);
    perform sverka.tell_withdrawal(w);
    refused := sverka.post_withdrawal(array[w], array['hold']);
    if refused is not null then raise exception 'refused' using errcode = 'SV001'; end if;
  exception when sqlstate 'SV001' then
    answer := case refused when 'guarded' then 'receivable_open' when 'insufficient' then 'insufficient_funds'
      else refused end;
    return;
  end;
  answer := 'requested';
  withdrawal_id := w.id;
end $$;

-- Other terms, with the money set aside anew: every approval of what was there before is void by that. Answers
-- `edited`, `not_found`, `stale` (somebody else was there first, or it is decided), or as `request_withdrawal`.
create function sverka.edit_withdrawal(the_withdrawal text, of_book text, of_merchant text, by_user text,
  seen_version integer, of_amount numeric, seen_fee numeric, the_destination text, with_reference text, trace text,
  out answer text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal; d sverka.withdrawal_destination; offered sverka.withdrawal_offer;
  refused text;
begin
  perform sverka.require_requester(by_user, of_merchant);
  select * into before from sverka.withdrawal x
    where x.id = the_withdrawal and x.book = of_book and x.merchant_id = of_merchant for no key update;
  if not found then answer := 'not_found'; return; end if;
  if before.state <> 'requested' or before.version <> seen_version or before.expires_at <= clock_timestamp()
      or sverka.withdrawal_is_being_decided(before.id) then
    answer := 'stale';
    return;
  end if;
  answer := sverka.withdrawal_refusal(of_book, of_merchant, before.asset, of_amount, the_destination);
  if answer is not null then return; end if;
  select * into d from sverka.withdrawal_destination x where x.id = the_destination;
  select * into offered from sverka.withdrawal_offer o
    where o.book = of_book and o.network = d.network and o.asset = before.asset;
  if offered.fee_amount is distinct from seen_fee then answer := 'fee_changed'; return; end if;
  begin
    update sverka.withdrawal x set amount = of_amount, fee_amount = offered.fee_amount, network = d.network,
        destination_id = d.id, address = d.address, tag = d.tag, reference = with_reference, terms = x.terms + 1,
        version = x.version + 1, requested_by = by_user, route = null, actor = 'user:' || by_user, trace_id = trace
      where x.id = before.id returning * into w;
    update sverka.withdrawal x set movement_ids = x.movement_ids || array[
        sverka.encode_id('mov', sverka.withdrawal_key(before, 'release')),
        sverka.encode_id('mov', sverka.withdrawal_key(w, 'hold'))]
      where x.id = w.id returning * into w;
    insert into sverka.withdrawal_terms (withdrawal_id, terms, amount, fee_amount, network, address, tag, requested_by)
      values (w.id, w.terms, w.amount, w.fee_amount, w.network, w.address, w.tag, by_user);
    insert into sverka.audit
      (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
      values (w.book, w.merchant_id, 'withdrawal', w.id, w.state, w.state, w.version, w.actor, 'edited', trace);
    before.trace_id := trace;
    refused := sverka.post_withdrawal(array[before, w], array['release', 'hold']);
    if refused is not null then raise exception 'refused' using errcode = 'SV001'; end if;
  exception when sqlstate 'SV001' then
    answer := case refused when 'guarded' then 'receivable_open' when 'insufficient' then 'insufficient_funds'
      else refused end;
    return;
  end;
  answer := 'edited';
end $$;

-- True while a person's decision on it waits to be applied.
create function sverka.withdrawal_is_being_decided(the_withdrawal text) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from sverka.decision d where d.subject_type = 'withdrawal' and d.subject_id = the_withdrawal
    and not exists (select from sverka.decision_outcome o where o.decision_id = d.id));
$$;

-- By the merchant, before anybody has decided. Answers `cancelled`, `not_found` or `stale`.
create function sverka.cancel_withdrawal(the_withdrawal text, of_book text, of_merchant text, by_user text,
  seen_version integer, trace text, out answer text)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal;
begin
  perform sverka.require_requester(by_user, of_merchant);
  select * into before from sverka.withdrawal x
    where x.id = the_withdrawal and x.book = of_book and x.merchant_id = of_merchant for no key update;
  if not found then answer := 'not_found'; return; end if;
  if before.state <> 'requested' or before.version <> seen_version
      or sverka.withdrawal_is_being_decided(before.id) then
    answer := 'stale';
    return;
  end if;
  w := before;
  w.state := 'cancelled'; w.reason := 'by_merchant'; w.actor := 'user:' || by_user; w.trace_id := trace;
  perform sverka.move_withdrawal(before, w, array['release']);
  answer := 'cancelled';
end $$;

-- Who asked for it, even once, decides none of it: in the database, whatever the page allowed.
create function sverka.guard_withdrawal_decision() returns trigger language plpgsql security definer
set search_path = pg_catalog, pg_temp as $$
begin
  if exists (select from sverka.withdrawal_terms t join sverka."user" asked on asked.id = t.requested_by
      join sverka."user" decides on decides.id = new.user_id
      where t.withdrawal_id = new.subject_id and asked.person = decides.person) then
    raise exception 'this person asked for the withdrawal' using errcode = 'insufficient_privilege';
  end if;
  return new;
end $$;
create trigger guard_withdrawal_decision before insert on sverka.decision for each row
  when (new.subject_type = 'withdrawal') execute function sverka.guard_withdrawal_decision();
alter table sverka.decision enable always trigger guard_withdrawal_decision;

-- An attempt that was refused leaves its row, too: of a person, by the console.
create function sverka.note_refused_decision(the_withdrawal text, by_user text, why text, trace text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.audit
    (book, merchant_id, subject_type, subject_id, from_state, to_state, version, actor, reason, trace_id)
    select w.book, w.merchant_id, 'withdrawal', w.id, w.state, w.state, w.version, 'user:' || u.id, 'refused: ' || why,
      trace
    from sverka.withdrawal w, sverka."user" u where w.id = the_withdrawal and u.id = by_user;
$$;

-- The hash that an approval of these terms has: nothing was known of a payout then.
create function sverka.withdrawal_approved_hash(w sverka.withdrawal) returns bytea
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  w.payout_ref := null; w.flag := null;
  return sverka.withdrawal_hash(w);
end $$;

-- People whose approval of these very terms, and of this way to pay, was applied, or is this one; who asked is none.
create function sverka.withdrawal_approvals(w sverka.withdrawal, this_decision text) returns integer
language sql stable set search_path = pg_catalog, pg_temp as $$
  select count(distinct u.person)::int from sverka.decision d join sverka."user" u on u.id = d.user_id
    where d.subject_type = 'withdrawal' and d.subject_id = w.id and d.choice = 'approve' and d.argument = w.route
      and d.seen_hash = sverka.withdrawal_approved_hash(w)
      and (d.id = this_decision or exists (
        select from sverka.decision_outcome o where o.decision_id = d.id and o.outcome = 'applied'))
      and not exists (select from sverka.withdrawal_terms t join sverka."user" asked on asked.id = t.requested_by
        where t.withdrawal_id = w.id and asked.person = u.person);
$$;

-- Checked again wherever money leaves: null when the approvals stand.
create function sverka.approval_missing(w sverka.withdrawal) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when w.approvals_needed is null or sverka.withdrawal_approvals(w, null) < w.approvals_needed
    then 'its approvals do not stand any more' end;
$$;

create function sverka.withdrawal_approvals_needed(w sverka.withdrawal) returns integer
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when w.amount >= o.two_approvals_from then 2 else 1 end from sverka.withdrawal_offer o
    where o.book = w.book and o.network = w.network and o.asset = w.asset;
$$;

-- What the chain or the custodian says of a transaction must be this payout, to the unit.
create function sverka.is_that_payout(w sverka.withdrawal, transfer jsonb) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select coalesce((transfer->>'status') = 'completed' and transfer->>'network' = w.network
    and transfer->>'asset' = w.asset and transfer->>'to' = w.address
    and coalesce(transfer->>'tag', '') = coalesce(w.tag, '') and (transfer->>'amount')::numeric = w.amount, false);
$$;

-- Applies the oldest open decision on it, with its money, in the worker's transaction. `transfer`: what was read of the
-- transaction that the proof names, null when there is none to read. Answers null when nothing waits.
create function sverka.apply_withdrawal_decision(the_withdrawal text, transfer jsonb, trace text)
returns sverka.withdrawal language plpgsql security definer set search_path = pg_catalog, pg_temp
set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal; d sverka.decision; proof sverka.withdrawal_proof; why text;
  operations text[] := '{}'; detail text;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if not found then raise exception 'there is no withdrawal %', the_withdrawal using errcode = 'P0002'; end if;
  select * into d from sverka.decision x where x.subject_type = 'withdrawal' and x.subject_id = before.id
    and not exists (select from sverka.decision_outcome o where o.decision_id = x.id) order by x.created_at, x.id limit 1;
  if not found then return null; end if;
  w := before;
  w.actor := 'user:' || d.user_id; w.trace_id := coalesce(d.trace_id, trace); w.needs_operator := false;
  detail := d.choice;
  why := case
    when d.seen_hash <> sverka.withdrawal_hash(before) then 'what was seen has changed'
    when not exists (select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = d.user_id and u.disabled_at is null and (r.subject_type, r.choice) = ('withdrawal', d.choice))
      then 'this person may not decide it any more' end;
  if why is null then
    case d.choice
      when 'approve' then
        why := case
          when before.state <> 'requested' then 'it is not asked for any more'
          when before.expires_at <= clock_timestamp() then 'the request has expired'
          when not exists (select from sverka.withdrawal_offer o where o.book = w.book and o.network = w.network
            and o.asset = w.asset and d.argument = any (o.routes)) then 'it cannot be paid out that way'
          when before.route <> d.argument then 'the first approval is of another way to pay'
          when exists (select from sverka.decision e join sverka.decision_outcome o on o.decision_id = e.id
            join sverka."user" u on u.id = e.user_id join sverka."user" v on v.id = d.user_id
            where e.subject_type = 'withdrawal' and e.subject_id = w.id and e.choice = 'approve'
              and e.seen_hash = d.seen_hash and o.outcome = 'applied' and u.person = v.person)
            then 'this person has approved it already' end;
        w.route := d.argument;
        if why is null and sverka.withdrawal_approvals(w, d.id) = 0 then why := 'this person may not approve it'; end if;
        if why is null and sverka.withdrawal_approvals(w, d.id) >= sverka.withdrawal_approvals_needed(w) then
          w.state := 'approved'; w.reason := null; w.approvals_needed := sverka.withdrawal_approvals_needed(w);
        else
          detail := 'approve: the first of two';
        end if;
      when 'reject' then
        if before.state <> 'requested' then why := 'it is not asked for any more'; end if;
        w.state := 'rejected'; w.reason := d.reason; operations := array['release'];
      when 'cancel' then
        if before.state <> 'approved' then why := 'it is paid out already'; end if;
        w.state := 'cancelled'; w.reason := d.reason; operations := array['release'];
      when 'pay' then
        why := case when before.state <> 'approved' then 'it is not approved, or paid out already'
          when before.route <> 'manual' then 'the custodian pays it' else sverka.approval_missing(before) end;
        w.state := 'submitted'; w.submitted_by := w.actor; w.submitted_at := clock_timestamp(); w.reason := null;
      when 'complete' then
        select * into proof from sverka.withdrawal_proof p where p.id = d.argument and p.withdrawal_id = w.id;
        why := case
          when proof.id is null then 'there is no such proof'
          when not (before.state = 'unknown' or before.state = 'submitted' and before.route = 'manual')
            then 'it does not wait for a proof' else sverka.approval_missing(before) end;
        if why is null then
          w.transaction_hash := proof.transaction_hash; w.proof_id := proof.id;
          if proof.transaction_hash is not null and not sverka.is_that_payout(w, transfer) then
            why := 'the transaction is not this payout';
            w.flag := 'proof_mismatch'; w.needs_operator := true;
          else
            w.state := 'completed'; w.flag := null; w.reason := null; operations := array['settle', 'fee'];
          end if;
        end if;
      when 'fail' then
        why := case
          when not (before.state = 'unknown' or before.state = 'submitted' and before.route = 'manual')
            then 'it does not wait for that'
          when before.flag is not null then 'what was paid has to be cleared up first'
          when before.state = 'unknown' and before.payout_ref is not null then 'the custodian shows its payout' end;
        w.state := 'failed'; w.reason := 'declared_failed'; operations := array['release'];
      else raise exception 'no decision %', d.choice using errcode = '22023';
    end case;
  end if;
  if why is not null then
    if w.flag is distinct from before.flag then
      before.flag := w.flag; before.needs_operator := true;
      perform sverka.raise_alert('withdrawal:' || w.id, 'proof_mismatch', w.book, 'withdrawal', w.id,
        'The proof of a payout is not what was approved: compare the two, and complete it with the right one.', trace);
    end if;
    w := before;
    operations := '{}';
  elsif w.state <> before.state then
    perform sverka.resolve_alert('withdrawal:' || w.id);
  end if;
  w := sverka.move_withdrawal(before, w, operations);
  insert into sverka.decision_outcome (decision_id, outcome, detail, trace_id)
    values (d.id, case when why is null then 'applied' else 'void' end, coalesce(why, detail), trace);
  return w;
end $$;

-- The intent, before anything is sent to the custodian: one compare-and-set, so that worker and person never both pay.
-- One that another run has submitted is `unknown`: what that run sent, nobody knows; but `after_run` says that it sent
-- nothing, and hands it over.
create function sverka.submit_withdrawal(the_withdrawal text, by_run text, after_run text, trace text)
returns sverka.withdrawal
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal; missing text;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  w := before;
  w.actor := 'worker:custody'; w.trace_id := trace;
  if before.state = 'submitted' and before.route = 'custody' and before.submitted_by <> by_run then
    if before.submitted_by = after_run then
      w.submitted_by := by_run;
      return sverka.move_withdrawal(before, w, '{}');
    end if;
    w.state := 'unknown'; w.reason := 'payout_unanswered';
    return sverka.move_withdrawal(before, w, '{}');
  end if;
  if before.state is distinct from 'approved' or before.route <> 'custody' then return before; end if;
  missing := sverka.approval_missing(before);
  if missing is not null then
    raise exception 'withdrawal %: %', before.id, missing using errcode = 'insufficient_privilege';
  end if;
  w.state := 'submitted'; w.reason := null; w.submitted_by := by_run; w.submitted_at := clock_timestamp();
  return sverka.move_withdrawal(before, w, '{}');
end $$;

-- A payout left no answer, or an odd one.
create function sverka.suspect_withdrawal(the_withdrawal text, trace text) returns sverka.withdrawal
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if before.state <> 'submitted' or before.route <> 'custody' then return before; end if;
  w := before;
  w.state := 'unknown'; w.reason := 'payout_unanswered'; w.actor := 'worker:custody'; w.trace_id := trace;
  return sverka.move_withdrawal(before, w, '{}');
end $$;

-- What the custodian says of the payout under our reference (null: it shows none; `needs_person`: for too long), and of
-- its transaction. The one apply function of the custodian's answers; an answer to a read that began before the last
-- apply does not count. The reason of a refusal of the create is `declined`.
create function sverka.apply_withdrawal_payout(the_withdrawal text, ticket bigint, payout jsonb, transfer jsonb,
  declined text, needs_person boolean, trace text) returns sverka.withdrawal
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal; operations text[] := '{}'; said text := payout->>'status';
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if ticket <= before.applied_ticket or before.route is distinct from 'custody'
      or before.state not in ('submitted', 'unknown', 'failed') then
    return before;
  end if;
  w := before;
  w.actor := 'worker:custody'; w.trace_id := trace;
  w.applied_ticket := nextval('sverka.read_ticket');
  if payout is not null then
    w.payout_ref := payout->>'id'; w.payout_status := said;
    w.transaction_hash := coalesce(payout->>'tx_hash', w.transaction_hash);
    w.payout_fee_asset := payout->>'fee_asset'; w.payout_fee_amount := (payout->>'fee_amount')::numeric;
  end if;
  if before.state = 'failed' then
    -- Given back, and paid after all: taken back, for ever once.
    if said in ('broadcast', 'completed') and before.payout_ref is null then
      w.state := 'found_late'; w.reason := 'paid_after_failure'; w.needs_operator := true;
      operations := array['take_back', 'fee'];
      perform sverka.raise_alert('withdrawal:' || w.id, 'found_late', w.book, 'withdrawal', w.id,
        'A payout turned up after its money was given back; it was taken back. Ask the custodian how that came.', trace);
    elsif payout is null or said = 'failed' then
      return before;
    end if;
  elsif declined is not null then
    if before.state = 'submitted' and before.payout_ref is null then
      w.state := 'failed'; w.reason := declined; operations := array['release'];
    end if;
  elsif said = 'failed' then
    w.state := 'failed'; w.reason := 'payout_failed'; w.needs_operator := false; operations := array['release'];
  elsif said = 'completed' and transfer is not null then
    if sverka.is_that_payout(w, transfer) then
      if sverka.approval_missing(before) is not null then
        raise exception 'withdrawal %: its approvals do not stand any more', w.id using errcode = 'insufficient_privilege';
      end if;
      w.state := 'completed'; w.reason := null; w.flag := null; w.needs_operator := false;
      operations := array['settle', 'fee'];
    else
      w.flag := 'payout_mismatch'; w.needs_operator := true;
      perform sverka.raise_alert('withdrawal:' || w.id, 'payout_mismatch', w.book, 'withdrawal', w.id,
        'What the custodian paid is not what was approved: compare the two with him; its money stays held.', trace);
    end if;
  elsif needs_person and not before.needs_operator then
    w.needs_operator := true;
    perform sverka.raise_alert('withdrawal:' || w.id, 'outcome_unknown', w.book, 'withdrawal', w.id,
      'It is not known whether the custodian paid: look there by this id, then complete it with proof or declare it '
      || 'failed in the console.', trace);
  end if;
  if w.state <> before.state and w.state in ('completed', 'failed') then
    perform sverka.resolve_alert('withdrawal:' || w.id);
  end if;
  return sverka.move_withdrawal(before, w, operations);
end $$;

-- Nobody decided in time: the money goes back. One that is being decided waits for that.
create function sverka.expire_withdrawal(the_withdrawal text, trace text) returns sverka.withdrawal
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare before sverka.withdrawal; w sverka.withdrawal;
begin
  select * into before from sverka.withdrawal x where x.id = the_withdrawal for no key update;
  if before.state <> 'requested' or before.expires_at > clock_timestamp()
      or sverka.withdrawal_is_being_decided(before.id) then
    return before;
  end if;
  w := before;
  w.state := 'cancelled'; w.reason := 'expired'; w.actor := 'worker:withdrawal'; w.trace_id := trace;
  perform sverka.resolve_alert('withdrawal:' || w.id);
  return sverka.move_withdrawal(before, w, array['release']);
end $$;

-- Which withdrawals the sweep looks after now: one whose decision nobody came for, one that nobody follows yet, and, ever
-- again, each that waits, for its workflow may be lost. Claimed until the lease is over.
create function sverka.claim_withdrawals(most integer, grace_ms double precision, lease_ms double precision,
  stranded_ms double precision)
returns table (id text, book text, merchant_id text) language sql security definer
set search_path = pg_catalog, pg_temp as $$
  with due as (
    select w.id from sverka.withdrawal w
      where w.state in ('requested', 'approved', 'submitted', 'unknown')
        and w.created_at < clock_timestamp() - grace_ms * interval '1 millisecond'
        and (w.swept_at is null
          or w.swept_at < clock_timestamp() - stranded_ms * interval '1 millisecond'
          or w.swept_at < clock_timestamp() - lease_ms * interval '1 millisecond' and exists (
            select from sverka.decision d where d.subject_type = 'withdrawal' and d.subject_id = w.id
              and d.created_at < clock_timestamp() - grace_ms * interval '1 millisecond'
              and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)))
      order by w.swept_at nulls first, w.id limit most for no key update skip locked)
  update sverka.withdrawal w set swept_at = clock_timestamp() from due where w.id = due.id
    returning w.id, w.book, w.merchant_id;
$$;

-- Which workflow follows the payout that a notification names, as `inbox_follower`.
create function sverka.payout_follower(of_book text, of_payout text) returns table (id text, merchant_id text)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select w.id, w.merchant_id from sverka.withdrawal w
    where w.book = of_book and w.payout_ref = of_payout and w.state in ('submitted', 'unknown')
    order by w.id limit 1;
$$;

-- It waits for people for long: told once at each step.
create function sverka.remind_of_withdrawal(the_withdrawal text, step text, trace text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select sverka.raise_alert('withdrawal:' || w.id, 'withdrawal_waits', w.book, 'withdrawal', w.id,
      case step when 'escalation' then 'A withdrawal has waited so long for its approval that it will soon expire.'
        else 'A withdrawal waits for its approval.' end, trace)
    from sverka.withdrawal w where w.id = the_withdrawal and w.state = 'requested';
$$;

-- Kept with the hash of its file, before the decision that names it.
create function sverka.add_withdrawal_proof(the_withdrawal text, by_user text, with_hash text, with_name text,
  with_type text, with_file bytea) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare proof text := sverka.new_id('wdp');
begin
  if not exists (select from sverka."user" u join sverka.decision_right r on r.role = any (u.roles)
      where u.id = by_user and u.disabled_at is null and (r.subject_type, r.choice) = ('withdrawal', 'complete')) then
    raise exception 'this person adds no proof' using errcode = 'SV403';
  end if;
  insert into sverka.withdrawal_proof
    (id, withdrawal_id, transaction_hash, file_name, file_type, file, file_hash, added_by)
    values (proof, the_withdrawal, with_hash, with_name, with_type, with_file, sha256(with_file), by_user);
  return proof;
end $$;

create function sverka.set_withdrawal_offer(of_book text, of_network text, of_asset text, with_fee numeric,
  with_smallest numeric, with_two_from numeric, with_routes text[], by_whom text) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.withdrawal_offer as o
    (book, network, asset, fee_amount, smallest_amount, two_approvals_from, routes, set_by)
    values (of_book, of_network, of_asset, with_fee, with_smallest, with_two_from, with_routes, by_whom)
  on conflict (book, network, asset) do update set fee_amount = excluded.fee_amount,
    smallest_amount = excluded.smallest_amount, two_approvals_from = excluded.two_approvals_from,
    routes = excluded.routes, set_by = excluded.set_by, set_at = clock_timestamp();
$$;

create function sverka.set_withdrawal_policy(of_book text, with_cooling_off interval, with_expires_after interval,
  by_whom text) returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.withdrawal_policy set cooling_off = with_cooling_off, expires_after = with_expires_after,
    set_by = by_whom, set_at = clock_timestamp() where book = of_book;
$$;

do $$ declare f regprocedure; begin
  for f in select p.oid::regprocedure from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname = 'sverka' and p.proname in ('own_person', 'join_persons', 'hash_parts', 'encode_id', 'amount_json',
        'withdrawal_hash', 'withdrawal_json', 'tell_withdrawal', 'withdrawal_key', 'post_withdrawal', 'tell_receivable',
        'move_withdrawal', 'require_requester', 'add_withdrawal_destination', 'remove_withdrawal_destination',
        'withdrawal_refusal', 'request_withdrawal', 'edit_withdrawal', 'withdrawal_is_being_decided',
        'cancel_withdrawal', 'guard_withdrawal_decision', 'note_refused_decision', 'withdrawal_approvals', 'withdrawal_approved_hash',
        'withdrawal_approvals_needed', 'is_that_payout', 'apply_withdrawal_decision', 'approval_missing',
        'submit_withdrawal', 'suspect_withdrawal', 'apply_withdrawal_payout', 'expire_withdrawal',
        'claim_withdrawals', 'payout_follower', 'remind_of_withdrawal', 'add_withdrawal_proof', 'set_withdrawal_offer', 'set_withdrawal_policy') loop
    execute format('revoke all on function %s from public', f);
  end loop;
end $$;
grant execute on function sverka.add_withdrawal_destination, sverka.remove_withdrawal_destination,
  sverka.withdrawal_refusal, sverka.request_withdrawal, sverka.edit_withdrawal, sverka.cancel_withdrawal
  to sverka_cabinet;
grant execute on function sverka.join_persons, sverka.note_refused_decision, sverka.add_withdrawal_proof,
  sverka.set_withdrawal_offer, sverka.set_withdrawal_policy to sverka_console;
grant execute on function sverka.withdrawal_hash, sverka.withdrawal_approved_hash, sverka.hash_parts to sverka_console;
grant execute on function sverka.apply_withdrawal_decision, sverka.submit_withdrawal, sverka.suspect_withdrawal,
  sverka.apply_withdrawal_payout, sverka.expire_withdrawal, sverka.remind_of_withdrawal, sverka.claim_withdrawals
  to sverka_worker;
grant execute on function sverka.payout_follower to sverka_relay, sverka_worker;
-- Its reads have tickets drawn inside these doors, too.
grant usage on sequence sverka.read_ticket to sverka_owner;

reset role;
