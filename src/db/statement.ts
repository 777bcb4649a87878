import { createWhere, type Scope } from './lists.js';
import { movementId } from './new-id.js';
import { narrowTo, narrowToDays } from './sorted-list.js';
import type { Tx } from './transaction.js';

/** A line of a merchant's own statement: what one movement did to his wallet of one asset. */
export interface StatementLine {
  /** Its place in the account: the position of a page. */
  readonly seq: bigint;
  readonly movementId: string;
  readonly kind: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly recordedAt: Date;
  readonly amount: bigint;
  /** After it. */
  readonly balance: bigint;
}

export interface StatementAsked {
  readonly asset: string;
  readonly filters: Readonly<Record<string, string>>;
  /** `seq` of the last line of the page before. */
  readonly after: string | null;
  readonly limit: number;
  readonly descending: boolean;
}

/** One page of it, by the account's own order; one line more than `limit` when there is more. */
export async function readStatement(db: Tx, of: Scope, asked: StatementAsked): Promise<StatementLine[]> {
  const { filters, descending } = asked;
  const where = createWhere();
  where.add(
    (p) => `e.account_id = (select a.id from ledger.account a where a.book = ${p(of.book)}
      and a.merchant_id = ${p(of.merchantId)} and a.customer_id is null and a.kind = 'wallet' and a.ref = ''
      and a.asset = ${p(asked.asset)})`,
  );
  narrowTo(where, 'm.kind', filters['kind']);
  narrowTo(where, 'm.subject_id', filters['q']);
  narrowToDays(where, 'm.recorded_at', { from: filters['from'], to: filters['to'] });
  if (asked.after !== null) where.add((p) => `e.seq ${descending ? '<' : '>'} ${p(asked.after)}::bigint`);
  const rows = await db.query<Row>(
    `select e.seq, m.key, m.kind, m.subject_type as "subjectType", m.subject_id as "subjectId",
       m.recorded_at as "recordedAt", e.amount::text, e.balance::text
     from ledger.entry e join ledger.movement m on m.id = e.movement_id
     where ${where.sql()} order by e.seq ${descending ? 'desc' : 'asc'} limit ${where.parameter(asked.limit + 1)}`,
    where.params,
  );
  return rows.map(({ key, amount, balance, ...row }) => ({
    ...row,
    movementId: movementId(key),
    amount: BigInt(amount),
    balance: BigInt(balance),
  }));
}

type Row = Omit<StatementLine, 'movementId' | 'amount' | 'balance'> & { key: Buffer; amount: string; balance: string };
