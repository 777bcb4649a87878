-- A decision permits the moves of its own choice and no other (000022 asked for any open decision of that person).
set role sverka_owner;

-- The same table stands in src/domain/<subject>-decision.ts; a test compares the two.
create table sverka.decision_move (
  subject_type text not null,
  choice text not null,
  from_state text not null,
  to_state text not null,
  primary key (subject_type, choice, from_state, to_state)
);
insert into sverka.decision_move (subject_type, choice, from_state, to_state) values
  ('deposit', 'retry', 'parked', 'confirming'),
  ('deposit', 'reject', 'parked', 'rejected'),
  ('deposit', 'orphan', 'final', 'orphaned');
grant select on sverka.decision_move to sverka_worker, sverka_console;

create or replace function sverka.guard_move() returns trigger language plpgsql
set search_path = pg_catalog, pg_temp as $$
declare origin text := case when tg_op = 'UPDATE' then old.state end; legal sverka.state_move;
begin
  new.updated_at := clock_timestamp();
  if tg_op = 'UPDATE' then
    if (new.id, new.book, new.merchant_id, new.created_at) is distinct from
       (old.id, old.book, old.merchant_id, old.created_at) then
      raise exception '% %: identity and owner never change', tg_argv[0], old.id using errcode = 'check_violation';
    end if;
    if new.state = old.state then
      if new.version not in (old.version, old.version + 1) then
        raise exception '% %: version % cannot follow %', tg_argv[0], old.id, new.version, old.version
          using errcode = 'check_violation';
      end if;
      return new;
    end if;
  end if;
  select * into legal from sverka.state_move m
    where m.subject_type = tg_argv[0] and m.from_state is not distinct from origin and m.to_state = new.state;
  if not found then
    raise exception '% %: no move from % to %', tg_argv[0], new.id, coalesce(origin, 'birth'), new.state
      using errcode = 'check_violation';
  end if;
  if legal.by_decision and not exists (
    select from sverka.decision d
      join sverka.decision_move m on (m.subject_type, m.choice) = (d.subject_type, d.choice)
        and (m.from_state, m.to_state) = (origin, new.state)
      where d.subject_type = tg_argv[0] and d.subject_id = new.id and new.actor = 'user:' || d.user_id
        and not exists (select from sverka.decision_outcome o where o.decision_id = d.id)) then
    raise exception '% %: from % to % only by a person''s decision to do that', tg_argv[0], new.id, origin, new.state
      using errcode = 'insufficient_privilege';
  end if;
  if new.version <> coalesce(case when tg_op = 'UPDATE' then old.version end, 0) + 1 then
    raise exception '% %: a move needs the next version', tg_argv[0], new.id using errcode = 'check_violation';
  end if;
  return new;
end $$;

reset role;
