import type pg from 'pg';

/** What of loads, of changes and of the cards under them does not hold, a line each. */
export async function brokenCards(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(BROKEN);
  return rows.map((row) => row.what);
}

const BROKEN = `
  select format('load %s is %s with %s holds, %s settles, %s releases', l.id, l.state, m.holds, m.settles, m.releases)
      as what
    from sverka.card_load l, lateral (
      select count(*) filter (where kind = 'load_hold') as holds, count(*) filter (where kind = 'load_settle') as settles,
             count(*) filter (where kind = 'load_release') as releases
        from ledger.movement where subject_type = 'load' and subject_id = l.id) m
    where (m.holds, m.settles, m.releases) is distinct from (case l.state
      when 'completed' then (1::bigint, 1::bigint, 0::bigint)
      when 'failed' then (1::bigint, 0::bigint, 1::bigint)
      else (1::bigint, 0::bigint, 0::bigint) end)
  union all
  select format('load %s was asked for by %s requests', l.id, count(r.id))
    from sverka.card_load l left join sverka.request r on r.resource_id = l.id and r.made
    group by l.id having count(r.id) <> 1
  union all
  select format('load %s has version %s and %s audit rows', l.id, l.version, count(a.id))
    from sverka.card_load l left join sverka.audit a on a.subject_id = l.id
    group by l.id, l.version having count(a.id) <> l.version
  union all
  select format('audit row %s of a load (%s) has %s events', a.id, a.to_state, count(e.id))
    from sverka.audit a left join sverka.event e
      on e.subject_id = a.subject_id and e.version = a.version and e.type = 'load.' || a.to_state
    where a.subject_type = 'load'
    group by a.id having count(e.id) <> case when a.to_state in ('completed', 'failed') then 1 else 0 end
  union all
  select format('card %s has version %s, %s audit rows, %s loads and %s returns', c.id, c.version, n.audit, n.loads,
                n.returns)
    from sverka.card c, lateral (
      select (select count(*) from sverka.audit a where a.subject_id = c.id) as audit,
             (select count(*) from sverka.card_load l where l.card_id = c.id and l.state = 'completed') as loads,
             (select count(*) from ledger.movement m where m.subject_id = c.id and m.kind = 'card_return') as returns) n
    where c.version <> n.audit + n.loads + n.returns or n.returns > 1
  union all
  select format('card %s is %s, and its last change of %s was to %s', c.id, c.state, n.changes, n.last)
    from sverka.card c, lateral (
      select count(*) as changes, max(g.number) as highest, (array_agg(g.kind order by g.number desc))[1] as last,
             (select count(*) from sverka.audit a
               where a.subject_id = c.id and a.from_state in ('active', 'frozen')) as moves
        from sverka.card_change g where g.card_id = c.id) n
    where n.changes <> coalesce(n.highest, 0) or n.changes <> n.moves
       or n.changes > 0
         and c.state <> case n.last when 'freeze' then 'frozen' when 'unfreeze' then 'active' else 'closed' end
  union all
  select format('change %s of card %s was told and is superseded', g.number, g.card_id)
    from sverka.card_change g where g.outcome = 'superseded' and g.submitted_at is not null`;
