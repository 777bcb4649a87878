-- Events and outcomes of decisions have one door each: the worker's role inserts neither by hand.
set role sverka_owner;

-- One event per place of the arrays, in the transaction of the move. What it tells of a subject with states must be so:
-- the subject is that merchant's and of that book, and `<subject>.<state>` is a move that the audit has, at its version.
create function sverka.tell_events(ids text[], types text[], books text[], merchant_ids text[], subject_types text[],
  subject_ids text[], versions int[], bodies jsonb[], trace_ids text[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare untrue text;
begin
  select t.type || ' of ' || t.subject_id into untrue
    from unnest(types, books, merchant_ids, subject_types, subject_ids, versions)
      as t(type, book, merchant_id, subject_type, subject_id, version)
    where exists (select from sverka.state_move m where m.subject_type = t.subject_type)
      and not exists (
        select from sverka.audit a
          where (a.subject_id, a.subject_type, a.book, a.merchant_id)
              = (t.subject_id, t.subject_type, t.book, t.merchant_id)
            and ((a.version = t.version and t.type = a.subject_type || '.' || a.to_state)
              or not exists (select from sverka.state_move m
                where m.subject_type = t.subject_type and t.type = m.subject_type || '.' || m.to_state)))
    limit 1;
  if found then
    raise exception 'no event % without its move', untrue using errcode = 'insufficient_privilege';
  end if;
  insert into sverka.event (id, type, book, merchant_id, subject_type, subject_id, version, data, trace_id)
    select * from unnest(ids, types, books, merchant_ids, subject_types, subject_ids, versions, bodies, trace_ids);
end $$;

-- What came of a decision, once, in the transaction of its effect.
create function sverka.close_decision(of_decision text, with_outcome text, with_detail text, with_trace text)
returns void language sql security definer set search_path = pg_catalog, pg_temp as $$
  insert into sverka.decision_outcome (decision_id, outcome, detail, trace_id)
    values (of_decision, with_outcome, with_detail, with_trace);
$$;

revoke all on function sverka.tell_events, sverka.close_decision from public;
grant execute on function sverka.tell_events, sverka.close_decision to sverka_worker;
revoke insert on sverka.event, sverka.decision_outcome from sverka_worker;

reset role;
