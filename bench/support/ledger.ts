import type pg from 'pg';
import { openAccounts } from '../../src/db/accounts.js';
import { newId } from '../../src/db/new-id.js';
import { queriesOf } from '../../src/db/transaction.js';
import { type AccountId, leg, type MovementInstruction } from '../../src/domain/journal.js';
import { checkpoint } from './wal.js';

/** A merchant's wallet and the clearing account that faces it. */
export interface Purse {
  readonly merchantId: string;
  readonly wallet: AccountId;
  readonly clearing: AccountId;
}

const ASSET = 'EUR';

/** Opens the accounts of so many new merchants. */
export async function openPurses(pool: pg.Pool, count: number): Promise<Purse[]> {
  const merchants = Array.from({ length: count }, () => newId('merchant'));
  const ids = await openAccounts(
    queriesOf(pool),
    merchants.flatMap((merchantId) => {
      const own = { book: 'live' as const, merchantId, customerId: null, asset: ASSET };
      return [
        { ...own, kind: 'wallet' as const },
        { ...own, kind: 'clearing:custody' as const },
      ];
    }),
  );
  return merchants.map((merchantId, at) => ({
    merchantId,
    wallet: ids[2 * at] ?? 0n,
    clearing: ids[2 * at + 1] ?? 0n,
  }));
}

/** Writes so many credits of one minor unit into an empty purse: rows alone, as `post` would have left them. */
export async function fillPurse(
  owner: pg.Pool,
  { purse, entries }: { readonly purse: Purse; readonly entries: number },
): Promise<void> {
  await owner.query(
    `insert into ledger.movement (key, body_hash, book, merchant_id, kind, subject_type, subject_id, generation)
     select sha256(('key ' || n)::bytea), sha256(('body ' || n)::bytea), 'live', $1, 'deposit_credit', 'deposit',
       'dep_00000000000000000000000000', 0
     from generate_series(1, $2::int) n`,
    [purse.merchantId, entries],
  );
  await owner.query(
    `insert into ledger.entry (account_id, seq, movement_id, amount, balance)
     select x.account_id, m.seq, m.id, x.sign, x.sign * m.seq
     from (select id, row_number() over (order by id) as seq from ledger.movement) m
       cross join (values ($1::bigint, -1), ($2::bigint, 1)) x(account_id, sign)
     order by m.seq, x.account_id`,
    [purse.clearing, purse.wallet],
  );
  await owner.query('vacuum (analyze) ledger.movement, ledger.entry, ledger.account');
  await checkpoint(owner);
}

let credits = 0;

/** A credit of one minor unit with two legs, and a key that none had before. */
export function creditOf(purse: Purse): MovementInstruction {
  credits += 1;
  const ref = [`${process.pid}-${credits}`];
  return {
    kind: 'deposit_credit',
    key: {
      instrument: { book: 'live', provider: 'custody', account: 'main-live', kind: 'deposit', ref },
      generation: 0,
      operation: 'credit',
    },
    lines: [leg(purse.clearing, -1n), leg(purse.wallet, 1n)],
    subject: { type: 'deposit', id: `dep_${purse.merchantId.slice(4)}` },
  };
}

/** How many movements there are, to compare with after a round. */
export async function countMovements(owner: pg.Pool): Promise<number> {
  const { rows } = await owner.query<{ count: string }>('select count(*)::text as count from ledger.movement');
  return Number(rows[0]?.count ?? 0);
}

/**
 * What is wrong after `added` movements of two entries each on these accounts: their number, entries that are not two
 * a movement or do not sum to zero, an account whose last balance is not the sum of its entries. Null when all is well.
 */
export async function whatIsWrong(
  owner: pg.Pool,
  round: { readonly before: number; readonly added: number; readonly purses: readonly Purse[] },
): Promise<string | null> {
  const added = (await countMovements(owner)) - round.before;
  if (added !== round.added) return `${added} movements for ${round.added} operations`;
  const { rows } = await owner.query<{ odd: string; total: string; drift: string }>(
    `with mine as (select e.* from ledger.entry e where e.account_id = any ($1)),
       heads as (select account_id, sum(amount) as total, count(*) as entries, max(seq) as seq,
                   (array_agg(balance order by seq desc))[1] as balance from mine group by account_id)
     select (select count(*) from (select movement_id from mine group by movement_id
                having count(*) <> 2 or sum(amount) <> 0) x)::text as odd,
       (select coalesce(sum(amount), 0) from mine)::text as total,
       (select count(*) from heads where balance <> total or seq <> entries)::text as drift`,
    [round.purses.flatMap(({ wallet, clearing }) => [wallet, clearing])],
  );
  const [found] = rows;
  if (found?.odd === '0' && found.total === '0' && found.drift === '0') return null;
  return `movements not balanced: ${found?.odd}, sum of entries ${found?.total}, accounts that drift: ${found?.drift}`;
}
