/**
 * What the sealer made, rebuilt with SQL that shares nothing with it (migrations/000016): each answers (kind, position,
 * audit_id, detail) of what is wrong, first position first.
 */
export const AUDIT_CHECKS: readonly string[] = [
  // Positions are numbered through, each names a row, and each hash covers that row and the hash before it.
  `with chain as (
     select s.position, s.audit_id, s.hash, a.id is null as is_gone, coalesce(lag(s.position) over sealed, 0) as before,
            sha256(coalesce(lag(s.hash) over sealed, '') || sverka.audit_bytes(a)) as wanted
       from sverka.audit_seal s left join sverka.audit a on a.id = s.audit_id
       window sealed as (order by s.position))
   select case when c.before <> c.position - 1 then 'audit_position_gap' when c.is_gone then 'audit_row_gone'
            else 'audit_chain_broken' end as kind, c.position, c.audit_id,
          case when c.before <> c.position - 1 then format('nothing is sealed at the positions %s to %s', c.before + 1,
              c.position - 1)
            when c.is_gone then format('audit row %s, sealed at position %s, is gone', c.audit_id, c.position)
            else format('audit row %s at position %s does not hash to what was sealed', c.audit_id, c.position) end
            as detail
     from chain c where c.before <> c.position - 1 or c.is_gone or c.hash <> c.wanted
     order by c.position`,

  // The sealer has passed the row by, or has not come for long although no open transaction holds it back.
  `select 'audit_row_unsealed' as kind, null::bigint as position, a.id as audit_id,
          format('audit row %s of %s %s should be sealed by now and is not', a.id, a.subject_type, a.subject_id)
            as detail
     from sverka.audit a, pg_current_snapshot() now
    where not exists (select from sverka.audit_seal s where s.audit_id = a.id)
      and (a.xid < (select x.xid from sverka.audit_seal s join sverka.audit x on x.id = s.audit_id
                     where x.xid < pg_snapshot_xmax(now) order by s.position desc limit 1)
        or a.recorded_at < clock_timestamp() - interval '10 minutes'
          and (a.xid < pg_snapshot_xmin(now) or a.xid >= pg_snapshot_xmax(now)))
    order by a.id`,
];
