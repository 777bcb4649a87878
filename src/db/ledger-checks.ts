/** All entries there are, or those written since the last check of `changed`, and what they touch. */
export type VerifyScope = 'all' | 'changed';

/**
 * What a check looks at: `fresh`, the entries, each with the seq and balance that its account's chain goes on from;
 * `seen`, the accounts; `touched`, the movements.
 */
export const SCOPES: Readonly<Record<VerifyScope, string>> = {
  all: `
    fresh as (select e.account_id, e.seq, e.movement_id, e.amount, e.balance,
                     0::bigint as from_seq, 0::numeric as from_balance
                from ledger.entry e),
    seen as (select a.id as account_id from ledger.account a),
    touched as (select m.* from ledger.movement m)`,
  changed: `
    fresh as (select e.account_id, e.seq, e.movement_id, e.amount, e.balance,
                     coalesce(v.seq, 0) as from_seq, coalesce(v.balance, 0) as from_balance
                from ledger.account a
                left join ledger.verified v on v.account_id = a.id
                cross join lateral (select x.* from ledger.entry x
                                      where x.account_id = a.id and x.seq > coalesce(v.seq, 0) offset 0) e),
    seen as (select distinct f.account_id from fresh f),
    touched as (select m.* from ledger.movement m where m.id in (select f.movement_id from fresh f))`,
};

/** The last entry of each account that has a fresh one. */
export const HEADS = `
  select distinct on (f.account_id) f.account_id, f.seq, f.balance from fresh f order by f.account_id, f.seq desc`;

/** Each answers (kind, account_id, movement_id, detail) of what is wrong. */
export const CHECKS: readonly string[] = [
  // Contiguous numbers, and each balance the one before plus the amount.
  `select case when w.seq <> w.seq_before + 1 then 'sequence_gap' else 'broken_chain' end as kind,
          w.account_id, w.movement_id,
          format('seq %s of account %s: balance %s, amount %s, behind seq %s with balance %s',
                 w.seq, w.account_id, w.balance, w.amount, w.seq_before, w.balance_before) as detail
     from (select f.*, coalesce(lag(f.seq) over chain, f.from_seq) as seq_before,
                  coalesce(lag(f.balance) over chain, f.from_balance) as balance_before
             from fresh f window chain as (partition by f.account_id order by f.seq)) w
     where w.seq <> w.seq_before + 1 or w.balance <> w.balance_before + w.amount`,

  // The head is the sum of all.
  `select 'head_differs' as kind, s.account_id, null::bigint as movement_id,
          format('account %s shows %s, its entries sum to %s', s.account_id, s.head, s.total) as detail
     from (select f.account_id, min(f.from_balance) + sum(f.amount) as total,
                  (array_agg(f.balance order by f.seq desc))[1] as head
             from fresh f group by f.account_id) s
     where s.head <> s.total`,

  // What was checked before is still there, and still says the same.
  `select 'history_changed' as kind, v.account_id, null::bigint as movement_id,
          format('account %s stood at %s with seq %s when last checked; now that entry %s', v.account_id, v.balance,
                 v.seq, coalesce('says ' || e.balance, 'is gone')) as detail
     from ledger.verified v
     left join ledger.entry e on e.account_id = v.account_id and e.seq = v.seq
     where e.balance is distinct from v.balance`,

  // An entry is a whole number other than zero, of an account and a movement that exist.
  `select case when a.id is null then 'account_missing' when m.id is null then 'movement_missing'
               else 'bad_amount' end as kind, f.account_id, f.movement_id,
          format('seq %s of account %s: amount %s, movement %s', f.seq, f.account_id, f.amount, f.movement_id) as detail
     from fresh f left join ledger.account a on a.id = f.account_id left join ledger.movement m on m.id = f.movement_id
     where a.id is null or m.id is null or f.amount = 0 or f.amount = 'NaN' or f.amount <> trunc(f.amount)
        or f.balance = 'NaN' or f.balance <> trunc(f.balance)`,

  // No balance on the way was outside the account's bounds: they never change, and zero is within.
  `select case when f.balance < a.floor then 'below_floor' else 'above_cap' end as kind, f.account_id, f.movement_id,
          format('%s %s: balance %s at seq %s, floor %s, cap %s', a.kind, a.asset, f.balance, f.seq,
                 coalesce(a.floor::text, 'none'), coalesce(a.cap::text, 'none')) as detail
     from fresh f join ledger.account a on a.id = f.account_id
     where f.balance < a.floor or f.balance > a.cap`,

  // Every asset of a movement sums to zero.
  `select 'unbalanced' as kind, null::bigint as account_id, e.movement_id,
          format('movement %s: %s entries of %s sum to %s', e.movement_id, count(*), a.asset, sum(e.amount)) as detail
     from touched m join ledger.entry e on e.movement_id = m.id join ledger.account a on a.id = e.account_id
     group by e.movement_id, a.asset having sum(e.amount) <> 0`,

  // A movement has two entries or more, all of one book and one merchant, which are its own, and no account twice.
  `select case when t.entries < 2 then 'too_few_entries' when t.entries > t.accounts then 'account_twice'
               when t.other_book then 'mixed_books' else 'mixed_merchants' end as kind,
          null::bigint as account_id, t.id as movement_id,
          format('movement %s (%s): %s entries on %s accounts', t.id, t.kind, t.entries, t.accounts) as detail
     from (select m.id, m.kind, count(e.seq) as entries, count(distinct e.account_id) as accounts,
                  coalesce(bool_or(a.book <> m.book), false) as other_book,
                  coalesce(bool_or(a.merchant_id <> m.merchant_id), false) as other_merchant
             from touched m
             left join ledger.entry e on e.movement_id = m.id
             left join ledger.account a on a.id = e.account_id
             group by m.id, m.kind) t
     where t.entries < 2 or t.entries > t.accounts or t.other_book or t.other_merchant`,

  // A key is a SHA-256 and stands for one movement; so does the body's hash; what is compensated exists.
  `select case when octet_length(m.key) <> 32 then 'bad_key' when octet_length(m.body_hash) <> 32 then 'bad_body_hash'
               when other.id is not null then 'key_twice' else 'compensated_missing' end as kind,
          null::bigint as account_id, m.id as movement_id,
          format('movement %s (%s): key %s, body hash %s, compensates %s', m.id, m.kind, encode(m.key, 'hex'),
                 encode(m.body_hash, 'hex'), coalesce(encode(m.compensates, 'hex'), 'nothing')) as detail
     from touched m
     left join ledger.movement other on other.key = m.key and other.id <> m.id
     left join ledger.movement undone on undone.key = m.compensates
     where octet_length(m.key) <> 32 or octet_length(m.body_hash) <> 32 or other.id is not null
        or m.compensates is not null and undone.id is null`,

  // An account is bounded as its kind demands, and a wallet never stands without the receivable of its owner and asset.
  `select case when p.id is null then 'unpaired_wallet' else 'wrong_bounds' end as kind, a.id as account_id,
          null::bigint as movement_id,
          format('%s %s of %s: floor %s, cap %s', a.kind, a.asset, coalesce(a.customer_id, a.merchant_id),
                 coalesce(a.floor::text, 'none'), coalesce(a.cap::text, 'none')) as detail
     from seen s
     join ledger.account a on a.id = s.account_id
     left join ledger.account p on p.book = a.book and p.merchant_id = a.merchant_id and p.asset = a.asset
       and p.customer_id is not distinct from a.customer_id
       and p.kind = case a.kind when 'wallet' then 'receivable' when 'receivable' then 'wallet' else a.kind end
       and p.ref = a.ref
     where p.id is null
        or a.kind in ('wallet', 'hold', 'card') and a.floor is distinct from 0
        or a.kind = 'receivable' and a.cap is distinct from 0
        or a.decimals <= 11 and (a.floor is null or a.floor < -9223372036854775808
                                 or a.cap is null or a.cap > 9223372036854775807)`,

  // Nobody owes and has: a debt opens only when the wallet is empty, and money that comes in pays it first.
  `select 'owed_and_wallet' as kind, w.account_id, w.last_movement_id as movement_id,
          format('%s owes %s %s and has %s in the wallet', coalesce(w.customer_id, w.merchant_id), -r.balance, r.asset,
                 w.balance) as detail
     from ledger.account_balance r
     join ledger.account_balance w on w.book = r.book and w.merchant_id = r.merchant_id and w.asset = r.asset
       and w.customer_id is not distinct from r.customer_id and w.kind = 'wallet'
     where r.kind = 'receivable' and r.balance < 0 and w.balance > w.floor
       and (r.account_id in (select account_id from seen) or w.account_id in (select account_id from seen))`,
];
