/** Loads of cards, and what is on a card, against the journal: a part of the subject checks, in their shape. */
export const CARD_CHECKS: readonly string[] = [
  // A completed load has its movement, of that amount, onto its card; a failed one gave its hold back.
  `select case l.state when 'completed' then 'load_without_movement' else 'load_not_released' end as kind,
          null::bigint as account_id, null::bigint as movement_id,
          format('load %s is %s with %s of %s, and no movement says so', l.id, l.state, l.amount, l.asset) as detail
     from sverka.card_load l
    where l.state in ('completed', 'failed') and not exists (
      select from ledger.movement m
        join ledger.entry e on e.movement_id = m.id
        join ledger.account a on a.id = e.account_id
       where m.subject_id = l.id and e.amount = l.amount and a.book = l.book and a.merchant_id = l.merchant_id
         and a.asset = l.asset and case l.state
           when 'completed' then m.kind = 'load_settle' and a.kind = 'card' and a.ref = l.card_id
           else m.kind = 'load_release' and a.kind = 'wallet' and a.customer_id is null end)`,

  // A movement that ends a load has the load, in the state that it means.
  `select 'movement_without_load' as kind, null::bigint as account_id, m.id as movement_id,
          format('movement %s (%s) ends load %s, which is not so', m.id, m.kind, m.subject_id) as detail
     from ledger.movement m
    where m.kind in ('load_settle', 'load_release') and not exists (
      select from sverka.card_load l where l.id = m.subject_id
        and l.state = case m.kind when 'load_settle' then 'completed' else 'failed' end)`,

  // What was ever put onto a card is what its issuance and its loads say, and no more came back than that.
  `select 'card_differs' as kind, b.account_id, null::bigint as movement_id,
          format('card %s: %s was put onto it, its issuances and loads say %s', c.id, coalesce(b.put, 0), s.said)
            as detail
     from sverka.card c
     cross join lateral (select
         coalesce((select sum(i.load_amount) from sverka.issuance i where i.card_id = c.id and i.state = 'active'), 0)
         + coalesce((select sum(l.amount) from sverka.card_load l where l.card_id = c.id and l.state = 'completed'), 0)
         as said) s
     left join lateral (select a.id as account_id,
         coalesce(sum(e.amount) filter (where m.kind in ('issuance_settle', 'load_settle')), 0) as put
         from ledger.account a
         left join ledger.entry e on e.account_id = a.id left join ledger.movement m on m.id = e.movement_id
        where a.book = c.book and a.merchant_id = c.merchant_id and a.customer_id is null and a.kind = 'card'
          and a.ref = c.id and a.asset = c.asset group by a.id) b on true
    where coalesce(b.put, 0) <> s.said`,

  // A card whose close is confirmed holds nothing but what a person was told of; what came back came of a close.
  `select 'closed_card_holds' as kind, a.id as account_id, null::bigint as movement_id,
          format('card %s is closed and holds %s', c.id, e.balance) as detail
     from sverka.card_change g
     join sverka.card c on c.id = g.card_id
     join ledger.account a on a.kind = 'card' and a.ref = c.id
     cross join lateral (select x.balance from ledger.entry x where x.account_id = a.id order by x.seq desc limit 1) e
    where g.kind = 'close' and g.outcome = 'confirmed' and e.balance <> 0
      and not exists (select from sverka.alert l where l.key = 'remaining:' || c.id)
   union all
   select 'return_without_close', null::bigint, m.id,
          format('movement %s returns the load of card %s, whose close is not confirmed', m.id, m.subject_id)
     from ledger.movement m
    where m.kind = 'card_return' and not exists (select from sverka.card_change g
      where g.card_id = m.subject_id and g.kind = 'close' and g.outcome = 'confirmed')`,
];
