import { AUDIT_CHECKS } from './audit-checks.js';
import { CARD_CHECKS } from './card-checks.js';
import { WITHDRAWAL_CHECKS } from './withdrawal-checks.js';

/** Each leg that the state of an issuance calls for: held, and then settled or given back; nothing where it is free. */
const ISSUANCE_CALLED_FOR = `
  select i.id, i.generation, l.movement, i.book, i.merchant_id, l.account, l.ref, i.asset, l.amount
    from sverka.issuance i,
      lateral (values
        ('issuance_hold', 'wallet', '', -(i.load_amount + i.fee_amount)),
        ('issuance_hold', 'hold', i.id, i.load_amount + i.fee_amount),
        ('issuance_settle', 'hold', i.id, -(i.load_amount + i.fee_amount)),
        ('issuance_settle', 'card', i.card_id, i.load_amount),
        ('issuance_settle', 'fees', '', i.fee_amount),
        ('issuance_release', 'hold', i.id, -(i.load_amount + i.fee_amount)),
        ('issuance_release', 'wallet', '', i.load_amount + i.fee_amount)) l (movement, account, ref, amount)
   where l.amount <> 0
     and case l.movement when 'issuance_hold' then true
       when 'issuance_settle' then i.state = 'active' else i.state in ('failed', 'found_late') end`;

/** Each leg that stands in the journal for an issuance, or on its hold. */
const ISSUANCE_BOOKED = `
  select case a.kind when 'hold' then a.ref else m.subject_id end as id, m.generation, m.kind as movement, a.book,
         a.merchant_id, a.kind as account, a.ref, a.asset, e.amount
    from ledger.movement m
    join ledger.entry e on e.movement_id = m.id
    join ledger.account a on a.id = e.account_id
   where m.kind in ('issuance_hold', 'issuance_settle', 'issuance_release')
      or a.kind = 'hold' and exists (select from sverka.issuance i where i.id = a.ref)`;

const legNamed = (kind: string, words: string, legs: string) => `
  select '${kind}' as kind, null::bigint as account_id, null::bigint as movement_id,
         format('issuance %s (%s): ${words}, %s of %s %s on %s', l.id, i.state, l.movement, l.amount, l.asset, l.account)
           as detail
    from (${legs}) l left join sverka.issuance i on i.id = l.id`;

/**
 * What stands beside the journal and must agree with it. Each answers (kind, account_id, movement_id, detail) of what
 * is wrong; a later capability adds its subject's two sides.
 */
export const SUBJECT_CHECKS: readonly string[] = [
  // A credited deposit has its movement, of that amount, on its owner's wallet.
  `select 'deposit_without_movement' as kind, null::bigint as account_id, null::bigint as movement_id,
          format('deposit %s is %s with %s of %s, and no movement of its wallet says so',
                 d.id, d.state, d.credited_amount, d.credited_asset) as detail
     from sverka.deposit d
    where d.state in ('credited', 'final') and not exists (
      select from ledger.movement m
        join ledger.entry e on e.movement_id = m.id
        join ledger.account a on a.id = e.account_id
       where m.subject_id = d.id and m.kind = 'deposit_credit' and m.generation = d.generation and a.kind = 'wallet'
         and a.book = d.book and a.merchant_id = d.merchant_id and a.customer_id is not distinct from d.customer_id
         and a.asset = d.credited_asset and e.amount = d.credited_amount)`,

  // A movement that credits a deposit has the deposit, in a state that was credited once.
  `select 'movement_without_deposit' as kind, null::bigint as account_id, m.id as movement_id,
          format('movement %s credits deposit %s, which is not credited', m.id, m.subject_id) as detail
     from ledger.movement m
    where m.kind = 'deposit_credit' and not exists (
      select from sverka.deposit d
       where d.id = m.subject_id and (d.state in ('credited', 'final', 'orphaned') or d.generation > m.generation))`,

  // The state of an issuance says what is booked for it, leg by leg and as often: one hold, then one settle or release.
  legNamed('issuance_not_booked', 'not in the journal', `(${ISSUANCE_CALLED_FOR}) except all (${ISSUANCE_BOOKED})`),
  legNamed(
    'movement_without_issuance',
    'in the journal for no reason',
    `(${ISSUANCE_BOOKED}) except all (${ISSUANCE_CALLED_FOR})`,
  ),

  // A card that was made is the one that settled one issuance of it; one that was not made settled none.
  `select 'card_without_issuance' as kind, null::bigint as account_id, null::bigint as movement_id,
          format('card %s is %s as %s, and %s of its issuances are settled', c.id, c.state, c.provider_ref, s.settled)
            as detail
     from sverka.card c,
       lateral (select count(*) as settled, count(*) filter (where i.provider_ref = c.provider_ref) as by_it
                  from sverka.issuance i where i.card_id = c.id and i.state = 'active') s
    where (s.settled, s.by_it) is distinct from
      case when c.state in ('active', 'frozen', 'closed') then (1::bigint, 1::bigint) else (0::bigint, 0::bigint) end`,
  ...CARD_CHECKS,
  ...WITHDRAWAL_CHECKS,

  // Every state that a subject has is one that its audit walked to; a row without a move only notes something.
  `select 'state_without_audit' as kind, null::bigint as account_id, null::bigint as movement_id,
          format('%s is %s in version %s, and its last audit row says %s', s.id, s.state, s.version, a.to_state) as detail
     from (select d.id, d.state, d.version from sverka.deposit d
           union all select a.id, a.state, a.version from sverka.deposit_address a
           union all select h.id, h.state, h.version from sverka.cardholder h
           union all select c.id, c.state, c.version from sverka.card c
           union all select i.id, i.state, i.version from sverka.issuance i
           union all select l.id, l.state, l.version from sverka.card_load l
           union all select w.id, w.state, w.version from sverka.withdrawal w) s
     left join lateral (select x.to_state from sverka.audit x
         where x.subject_id = s.id and x.from_state is distinct from x.to_state order by x.id desc limit 1) a
       on true
    where a.to_state is distinct from s.state`,

  ...AUDIT_CHECKS.map(
    (sql) => `select f.kind, null::bigint as account_id, null::bigint as movement_id, f.detail from (${sql}) f`,
  ),
];
