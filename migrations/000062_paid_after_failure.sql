-- A payout that was declared failed may be shown as queued first, and be paid after that: it is taken back all the same.
-- Once, for `found_late` is no state that this moves from.
set role sverka_owner;

create or replace function sverka.apply_withdrawal_payout(the_withdrawal text, ticket bigint, payout jsonb, transfer jsonb,
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
    if said in ('broadcast', 'completed') then
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

reset role;
