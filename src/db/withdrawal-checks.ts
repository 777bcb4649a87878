/** What the terms and the state of a withdrawal call for, leg by leg; what it took back may be owed in part. */
const CALLED_FOR = `
  select w.id, t.terms as generation, l.movement, w.book, w.merchant_id, l.account, l.ref,
         case l.movement when 'withdrawal_fee' then w.payout_fee_asset else w.asset end as asset, l.amount
    from sverka.withdrawal w
    join sverka.withdrawal_terms t on t.withdrawal_id = w.id,
      lateral (values
        ('withdrawal_hold', 'wallet', '', -(t.amount + t.fee_amount)),
        ('withdrawal_hold', 'hold', w.id, t.amount + t.fee_amount),
        ('withdrawal_release', 'hold', w.id, -(t.amount + t.fee_amount)),
        ('withdrawal_release', 'wallet', '', t.amount + t.fee_amount),
        ('withdrawal_settle', case w.state when 'found_late' then 'wallet' else 'hold' end,
          case w.state when 'found_late' then '' else w.id end, -(t.amount + t.fee_amount)),
        ('withdrawal_settle', 'clearing:payout', '', t.amount),
        ('withdrawal_settle', 'fees', '', t.fee_amount),
        ('withdrawal_fee', 'fees', '', -w.payout_fee_amount),
        ('withdrawal_fee', 'clearing:payout', '', w.payout_fee_amount)) l (movement, account, ref, amount)
   where l.amount <> 0
     and case l.movement when 'withdrawal_hold' then true
       when 'withdrawal_release' then
         t.terms < w.terms or w.state in ('rejected', 'cancelled', 'failed', 'found_late')
       else t.terms = w.terms and w.state in ('completed', 'found_late') end`;

/** What stands in the journal for a withdrawal, or on its hold. */
const BOOKED = `
  select case a.kind when 'hold' then a.ref else m.subject_id end as id, m.generation, m.kind as movement, a.book,
         a.merchant_id, case a.kind when 'receivable' then 'wallet' else a.kind end as account, a.ref, a.asset,
         sum(e.amount) as amount
    from ledger.movement m
    join ledger.entry e on e.movement_id = m.id
    join ledger.account a on a.id = e.account_id
   where m.kind in ('withdrawal_hold', 'withdrawal_release', 'withdrawal_settle', 'withdrawal_fee')
      or a.kind = 'hold' and exists (select from sverka.withdrawal w where w.id = a.ref)
   group by m.id, 1, 2, 3, 4, 5, 6, 7, 8`;

const legNamed = (kind: string, words: string, legs: string) => `
  select '${kind}' as kind, null::bigint as account_id, null::bigint as movement_id,
         format('withdrawal %s (%s): ${words}, %s of %s %s on %s', l.id, w.state, l.movement, l.amount, l.asset, l.account)
           as detail
    from (${legs}) l left join sverka.withdrawal w on w.id = l.id`;

/** Withdrawals against the journal: a part of the subject checks, in their shape. */
export const WITHDRAWAL_CHECKS: readonly string[] = [
  // The state says what is booked, as often: a hold for all terms, then each of them released or the last one settled.
  legNamed('withdrawal_not_booked', 'not in the journal', `(${CALLED_FOR}) except all (${BOOKED})`),
  legNamed('movement_without_withdrawal', 'in the journal for no reason', `(${BOOKED}) except all (${CALLED_FOR})`),

  // Each version of what was asked for is kept, and the last is what stands.
  `select 'withdrawal_terms_differ' as kind, null::bigint as account_id, null::bigint as movement_id,
          format('withdrawal %s is of other terms than those that were kept with it', w.id) as detail
     from sverka.withdrawal w
    where (select count(*) from sverka.withdrawal_terms t where t.withdrawal_id = w.id) <> w.terms
       or not exists (select from sverka.withdrawal_terms t where t.withdrawal_id = w.id and t.terms = w.terms
         and (t.amount, t.fee_amount, t.network, t.address) = (w.amount, w.fee_amount, w.network, w.address)
         and t.tag is not distinct from w.tag)`,
];
