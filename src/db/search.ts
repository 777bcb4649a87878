import { ID_PREFIXES, isId } from '../contracts/ids.js';
import type { Tx } from './transaction.js';

/** Something that a search found. */
export interface Found {
  readonly type:
    | 'deposit'
    | 'issuance'
    | 'withdrawal'
    | 'dead_letter'
    | 'merchant'
    | 'user'
    | 'balance_source'
    | 'balance_address'
    | 'balance_check'
    | 'other';
  readonly id: string;
  /** What it was found by, such as `tx_hash`. */
  readonly by: string;
  readonly state: string | null;
  readonly book: string | null;
}

const FOUND_MAX = 50;

/**
 * What a text can mean: an id of ours, a transaction's hash, a provider's id, an address, a merchant's reference or
 * name, the last four digits of a card. Each way is an index; a text that means several things finds all of them.
 */
export async function searchSubjects(db: Tx, text: string): Promise<Found[]> {
  const own = ownId(text);
  if (own !== null) return [own];
  const found = await db.query<Found>(FIND, [text, text.toLowerCase()]);
  const last4 = /^[0-9]{4}$/.test(text) ? await db.query<Found>(BY_LAST4, [text]) : [];
  return [...last4, ...found];
}

/** Where an id of ours leads to, without asking whether it exists: its page says so. */
function ownId(text: string): Found | null {
  const of = (type: Found['type']): Found => ({ type, id: text, by: 'id', state: null, book: null });
  if (isId('deposit', text)) return of('deposit');
  if (isId('issuance', text) || isId('card', text)) return of('issuance');
  if (isId('withdrawal', text)) return of('withdrawal');
  if (isId('deadLetter', text)) return of('dead_letter');
  if (isId('merchant', text)) return of('merchant');
  if (isId('balanceCheck', text)) return of('balance_check');
  const kinds = Object.keys(ID_PREFIXES) as (keyof typeof ID_PREFIXES)[];
  return kinds.some((kind) => isId(kind, text)) || /^[0-9a-f]{32}$/.test(text) ? of('other') : null;
}

const FIND = `
  select 'deposit' as type, d.id, 'tx_hash' as by, d.state, d.book from sverka.deposit d
    where d.tx_hash in ($1, $2)
  union all
  select 'deposit', d.id, 'provider_ref', d.state, d.book from sverka.deposit d
    where d.provider_ref = $1 and d.book in ('live', 'test')
      and (d.provider, d.provider_account) in (select s.provider, s.account from sverka.source s)
  union all
  select 'other', a.id, 'address', a.state, a.book from sverka.deposit_address a
    where a.book in ('live', 'test') and a.address = $1
  union all
  select 'issuance', i.id, 'provider_ref', i.state, i.book from sverka.issuance i where i.provider_ref = $1
  union all
  select 'withdrawal', w.id, 'tx_hash', w.state, w.book from sverka.withdrawal w where w.transaction_hash in ($1, $2)
  union all
  select 'withdrawal', w.id, 'provider_ref', w.state, w.book from sverka.withdrawal w where w.payout_ref = $1
  union all
  select 'withdrawal', w.id, 'address', w.state, w.book from sverka.withdrawal w where w.address = $1
  union all
  select 'other', h.id, 'reference', h.state, h.book from sverka.cardholder h where h.reference = $1
  union all
  select 'other', c.id, 'ref', null, c.book from sverka.customer c where c.ref = $1
  union all
  select 'merchant', m.id, 'name', null, null from sverka.merchant m where lower(m.name) = $2
  union all
  select 'user', u.id, 'login', null, null from sverka."user" u where u.login = $2
  union all
  select 'balance_source', s.key, 'name', null, s.book from sverka.balance_source s where $1 in (s.account, s.key)
  union all
  select distinct 'balance_address', b.address, 'address', null, s.book
    from sverka.balance_address b join sverka.balance_source s on s.id = b.source_id where b.address = $1
  union all
  select 'other', r.id, 'key', null, r.book from sverka.request r where r.key = $1 and r.book in ('live', 'test')
  limit ${FOUND_MAX}`;

const BY_LAST4 = `
  select 'issuance' as type, c.id, 'last4' as by, c.state, c.book from sverka.card c
    where c.last4 = $1 order by c.id desc limit ${FOUND_MAX}`;
