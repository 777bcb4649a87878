-- Dead letters have their doors: a notification is buried with its own facts, and a person's move needs the decision.
set role sverka_owner;

-- Parks the row and keeps it for a person; one letter for each, however often it dies.
create function sverka.bury(letter text, of_inbox text, with_reason text, with_attempts int, with_trace text)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  with parked as (
    update sverka.inbox set status = 'parked', reason = with_reason where id = of_inbox returning id, book)
  insert into sverka.dead_letter as l (id, inbox_id, book, reason, attempts, trace_id)
    select letter, p.id, p.book, with_reason, with_attempts, with_trace from parked p
    on conflict (inbox_id) do update set reason = excluded.reason, attempts = l.attempts + excluded.attempts,
      trace_id = excluded.trace_id, closed_at = null, closed_how = null;
$$;

-- Locks the notification, then its letter: in this order everywhere.
create function sverka.lock_dead_letter(letter text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform from sverka.inbox where id = (select inbox_id from sverka.dead_letter where id = letter) for no key update;
  perform from sverka.dead_letter where id = letter for no key update;
end $$;

-- The row is pending again with a fresh count, or the letter is closed: as a person has decided and nobody has applied.
create function sverka.decide_dead_letter(letter text, with_choice text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if num_nulls(letter, with_choice) > 0 then return; end if;
  if not exists (
    select from sverka.decision d
      where (d.subject_type, d.subject_id, d.choice) = ('dead_letter', letter, with_choice)
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception 'nobody has decided to % this dead letter', with_choice using errcode = 'insufficient_privilege';
  end if;
  if with_choice = 'replay' then
    update sverka.inbox set status = 'pending', attempts = 0, armed = armed + 1, next_attempt_at = clock_timestamp()
      where id = (select inbox_id from sverka.dead_letter where id = letter);
    update sverka.dead_letter set replays = replays + 1 where id = letter;
  else
    update sverka.dead_letter set closed_at = clock_timestamp(), closed_how = 'abandoned'
      where id = letter and closed_at is null;
  end if;
end $$;

-- Closes those whose row was done after all, and answers their rows.
create function sverka.close_applied_dead_letters() returns setof text
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update sverka.dead_letter l set closed_at = clock_timestamp(), closed_how = 'applied'
    from sverka.inbox i where i.id = l.inbox_id and l.closed_at is null and i.status = 'done' returning l.inbox_id;
$$;

revoke all on function sverka.bury, sverka.lock_dead_letter, sverka.decide_dead_letter,
  sverka.close_applied_dead_letters from public;
grant execute on function sverka.bury, sverka.lock_dead_letter, sverka.decide_dead_letter,
  sverka.close_applied_dead_letters to sverka_worker;
revoke insert, update on sverka.dead_letter from sverka_worker;

reset role;
