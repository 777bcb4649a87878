import type { Book } from '../domain/books.js';
import type { Minor } from '../domain/money.js';
import type { WithdrawalRoute } from '../domain/withdrawal.js';
import { type Author, authorArguments } from './author.js';
import type { Scope } from './lists.js';
import type { Tx } from './transaction.js';

/** What can be withdrawn in a book; amounts in minor units of the asset. */
export interface WithdrawalOffer {
  readonly network: string;
  readonly asset: string;
  readonly fee: Minor;
  readonly smallest: Minor;
  readonly twoApprovalsFrom: Minor;
  readonly routes: readonly WithdrawalRoute[];
}

/** A line of a merchant's book of destinations. */
export interface WithdrawalDestination {
  readonly id: string;
  readonly label: string;
  readonly network: string;
  readonly address: string;
  readonly tag: string | null;
  /** Not paid to before that. */
  readonly usableFrom: Date;
  readonly createdAt: Date;
}

export async function listWithdrawalOffers(db: Tx, book: Book): Promise<WithdrawalOffer[]> {
  const rows = await db.query<
    Omit<WithdrawalOffer, 'fee' | 'smallest' | 'twoApprovalsFrom'> & { fee: string; smallest: string; two: string }
  >(
    `select network, asset, fee_amount::text as fee, smallest_amount::text as smallest,
       two_approvals_from::text as two, routes from sverka.withdrawal_offer where book = $1 order by asset, network`,
    [book],
  );
  return rows.map(({ two, ...row }) => ({
    ...row,
    fee: BigInt(row.fee),
    smallest: BigInt(row.smallest),
    twoApprovalsFrom: BigInt(two),
  }));
}

/** Offers it from now on, on these terms (the console's door). */
export async function setWithdrawalOffer(
  db: Tx,
  of: WithdrawalOffer & { readonly book: Book },
  by: Author,
): Promise<void> {
  await db.query('select sverka.set_withdrawal_offer($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
    of.book,
    of.network,
    of.asset,
    of.fee,
    of.smallest,
    of.twoApprovalsFrom,
    of.routes,
    ...authorArguments(by),
  ]);
}

/** What holds for all withdrawals of a book; in milliseconds. */
export interface WithdrawalPolicy {
  /** A new destination is not paid to before that. */
  readonly coolingOffMs: number;
  /** A request that nobody has decided on by then is cancelled. */
  readonly expiresAfterMs: number;
}

export async function readWithdrawalPolicy(db: Tx, book: Book): Promise<WithdrawalPolicy> {
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
  const [row] = await db.query<WithdrawalPolicy>(
    `select ${ms('cooling_off')} as "coolingOffMs", ${ms('expires_after')} as "expiresAfterMs"
       from sverka.withdrawal_policy where book = $1`,
    [book],
  );
  if (!row) throw new Error(`The book ${book} has no policy of withdrawals, although the migrations make one.`);
  return row;
}

/** How long a new destination waits, and a request for its decision (the console's door); in milliseconds. */
export async function setWithdrawalPolicy(
  db: Tx,
  of: { readonly book: Book } & WithdrawalPolicy,
  by: Author,
): Promise<void> {
  const ms = (parameter: string) => `${parameter}::double precision * interval '1 millisecond'`;
  await db.query(`select sverka.set_withdrawal_policy($1, ${ms('$2')}, ${ms('$3')}, $4, $5)`, [
    of.book,
    of.coolingOffMs,
    of.expiresAfterMs,
    ...authorArguments(by),
  ]);
}

/** The merchant's destinations that stand, newest first. */
export async function listWithdrawalDestinations(db: Tx, of: Scope): Promise<WithdrawalDestination[]> {
  return db.query<WithdrawalDestination>(
    `select id, label, network, address, tag, usable_from as "usableFrom", created_at as "createdAt"
       from sverka.withdrawal_destination where book = $1 and merchant_id = $2 and removed_at is null
      order by created_at desc, id desc limit 200`,
    [of.book, of.merchantId],
  );
}

/** Adds one, to be paid to after its cooling-off (the cabinet's door); one that stands is answered as it is. */
export async function addWithdrawalDestination(
  db: Tx,
  of: Scope & {
    readonly userId: string;
    readonly label: string;
    readonly network: string;
    readonly address: string;
    readonly tag: string | null;
  },
): Promise<{ readonly id: string; readonly usableFrom: Date }> {
  const [made] = await db.query<{ id: string; usableFrom: Date }>(
    `select id, usable_from as "usableFrom"
       from sverka.add_withdrawal_destination($1, $2, $3, $4, $5, $6, $7)`,
    [of.book, of.merchantId, of.userId, of.label, of.network, of.address, of.tag],
  );
  if (!made) throw new Error('The door of destinations answered no row: the database is not of this version.');
  return made;
}

/** Takes one out of the book; what was asked for already is paid to it all the same. */
export async function removeWithdrawalDestination(
  db: Tx,
  of: Scope & { readonly userId: string; readonly id: string },
): Promise<boolean> {
  const rows = await db.query<{ removed: boolean }>(
    'select sverka.remove_withdrawal_destination($1, $2, $3, $4) as removed',
    [of.id, of.book, of.merchantId, of.userId],
  );
  return rows[0]?.removed ?? false;
}
