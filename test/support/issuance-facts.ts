import type pg from 'pg';

/** What of issuances, cards, their audit, their events and card numbers does not hold, a line each. */
export async function brokenIssuances(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ what: string }>(BROKEN);
  return rows.map((row) => row.what);
}

/** What every number of the simulated issuer looks like; a row of digits that is longer is a hash's. */
const NUMBER = '(?<![0-9])400000[0-9]{10}(?![0-9])';

const BROKEN = `
  select format('issuance %s is %s with %s holds, %s settles, %s releases', i.id, i.state, m.holds, m.settles,
                m.releases) as what
    from sverka.issuance i, lateral (
      select count(*) filter (where kind = 'issuance_hold') as holds,
             count(*) filter (where kind = 'issuance_settle') as settles,
             count(*) filter (where kind = 'issuance_release') as releases
        from ledger.movement where subject_type = 'issuance' and subject_id = i.id) m
    where (m.holds, m.settles, m.releases) is distinct from (case
      when i.load_amount + i.fee_amount = 0 then (0::bigint, 0::bigint, 0::bigint)
      when i.state = 'active' then (1::bigint, 1::bigint, 0::bigint)
      when i.state in ('failed', 'found_late') then (1::bigint, 0::bigint, 1::bigint)
      else (1::bigint, 0::bigint, 0::bigint) end)
  union all
  select format('%s is settled by %s issuances', provider_ref, count(*)) from sverka.issuance
    where state = 'active' group by book, provider, provider_account, provider_ref having count(*) > 1
  union all
  select format('card %s was asked for by %s requests', c.id, count(r.id))
    from sverka.card c left join sverka.request r on r.resource_id = c.id and r.made
    group by c.id having count(r.id) <> 1
  union all
  select format('%s has version %s and %s audit rows up to %s', s.id, s.version, count(a.id), max(a.version))
    from (select id, version from sverka.issuance union all select id, version from sverka.cardholder) s
      left join sverka.audit a on a.subject_id = s.id
    group by s.id, s.version having count(a.id) <> s.version or max(a.version) <> s.version
  union all
  select format('audit row %s (%s) has %s events', a.id, a.to_state, count(e.id))
    from sverka.audit a left join sverka.event e
      on e.subject_id = a.subject_id and e.version = a.version and e.type = 'card.' ||
        case when a.from_state = 'frozen' and a.to_state = 'active' then 'unfrozen' else a.to_state end
    where a.subject_type = 'card'
    group by a.id having count(e.id) <> case when a.to_state = 'pending' then 0 else 1 end
  union all
  select 'a card number is kept in ' || t.name
    from (select 'card' as name, c::text as text from sverka.card c union all
          select 'issuance', i::text from sverka.issuance i union all select 'event', e::text from sverka.event e union all
          select 'alert', a::text from sverka.alert a union all select 'audit', a::text from sverka.audit a union all
          select 'inbox', i::text from sverka.inbox i union all select 'movement', m::text from ledger.movement m) t
    where t.text ~ '${NUMBER}'`;
