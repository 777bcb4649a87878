-- One breaker per provider account, shared by every process (DESIGN 8): after `failures_max` errors within the window
-- it opens; when its time is over exactly one caller anywhere holds the lease of the probe.
set role sverka_owner;

create table sverka.breaker (
  name text primary key,
  state text not null default 'closed' check (state in ('closed', 'open', 'half_open')),
  -- Times of the errors of the running window; emptied when it opens or closes.
  failed_at timestamptz[] not null default '{}',
  open_until timestamptz,
  probe_until timestamptz,
  probe text,
  changed_at timestamptz not null default clock_timestamp(),
  check (state <> 'open' or open_until is not null),
  check (state <> 'half_open' or num_nonnulls(probe, probe_until) = 2)
);

-- May this caller call now? pass | probe (its outcome decides) | open. Reads alone while the breaker is closed.
create function sverka.breaker_admit(of_name text, caller text, lease interval, out verdict text, out wait_ms integer)
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare b sverka.breaker; t constant timestamptz := clock_timestamp();
begin
  wait_ms := 0; verdict := 'pass';
  select * into b from sverka.breaker where name = of_name;
  if not found or b.state = 'closed' then return; end if;
  -- Whoever moves the row first has the probe; the others wait for its outcome, or for the end of its lease.
  update sverka.breaker set state = 'half_open', probe = caller, probe_until = t + lease, changed_at = t
    where name = of_name and (state = 'open' and open_until <= t or state = 'half_open' and probe_until <= t);
  if found then verdict := 'probe'; return; end if;
  select * into b from sverka.breaker where name = of_name;
  if b.state = 'closed' then return; end if;
  verdict := 'open';
  wait_ms := greatest(1, ceil(extract(epoch from
    case b.state when 'open' then b.open_until else b.probe_until end - clock_timestamp()) * 1000));
end $$;

-- A call that went wrong for a reason of the provider's. Answers true when this one opened the breaker.
create function sverka.breaker_failed(
  of_name text, caller text, failures_max integer, in_window interval, open_for interval) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
declare b sverka.breaker; t timestamptz; recent timestamptz[];
begin
  insert into sverka.breaker (name) values (of_name) on conflict do nothing;
  select * into b from sverka.breaker where name = of_name for no key update;
  t := clock_timestamp();
  -- What began before it opened, or whose lease another caller has taken over, says nothing new.
  if b.state = 'open' or b.state = 'half_open' and b.probe is distinct from caller then return false; end if;
  recent := array(select f from unnest(b.failed_at) f where f > t - in_window order by f) || t;
  if b.state = 'half_open' or cardinality(recent) >= failures_max then
    update sverka.breaker set state = 'open', failed_at = '{}', open_until = t + open_for, probe = null,
      probe_until = null, changed_at = t where name = of_name;
    return b.state = 'closed';
  end if;
  update sverka.breaker set failed_at = recent where name = of_name;
  return false;
end $$;

-- The probe came back well: closed. Any other success writes nothing.
create function sverka.breaker_recovered(of_name text, caller text) returns boolean
language sql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s' as $$
  with closed as (
    update sverka.breaker set state = 'closed', failed_at = '{}', open_until = null, probe = null, probe_until = null,
      changed_at = clock_timestamp() where name = of_name and state = 'half_open' and probe = caller returning 1)
  select exists (select from closed);
$$;

revoke all on function sverka.breaker_admit, sverka.breaker_failed, sverka.breaker_recovered from public;
grant execute on function sverka.breaker_admit, sverka.breaker_failed, sverka.breaker_recovered to sverka_worker;
grant select on sverka.breaker to sverka_worker, sverka_gateway, sverka_console;

reset role;
