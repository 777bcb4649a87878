import type { Book } from '../domain/books.js';
import type { Minor } from '../domain/money.js';
import type { Tx } from './transaction.js';

/** What stands against a request of a merchant's person; nothing was done then. */
export const WITHDRAWAL_REFUSALS = [
  'destination_unknown',
  'destination_cooling_off',
  'not_offered',
  'amount_too_small',
  'fee_changed',
  'insufficient_funds',
  'receivable_open',
] as const;
export type WithdrawalRefusal = (typeof WITHDRAWAL_REFUSALS)[number];

/** A person of a merchant, in a book of his. */
interface Asking {
  readonly book: Book;
  readonly merchantId: string;
  readonly userId: string;
  readonly traceId: string;
}

/** What is asked for. `seenFee`: the network fee as it was shown, in minor units of the asset. */
export interface WithdrawalTerms {
  readonly amount: Minor;
  readonly seenFee: Minor;
  readonly destinationId: string;
  readonly reference: string | null;
}

/**
 * The cabinet's door: row, hold, audit and event in one commit. `key` is the form's: a form sent twice asks once
 * (`kept`). Throws `Refused` when the person asks for nothing of that merchant.
 */
export async function requestWithdrawal(
  db: Tx,
  of: Asking & WithdrawalTerms & { readonly key: string; readonly asset: string },
): Promise<{ readonly answer: 'requested' | 'kept' | WithdrawalRefusal; readonly id: string | null }> {
  const rows = await db.query<{ answer: 'requested' | 'kept' | WithdrawalRefusal; id: string | null }>(
    `select answer, withdrawal_id as id
       from sverka.request_withdrawal($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      of.book,
      of.merchantId,
      of.userId,
      of.key,
      of.asset,
      of.amount,
      of.seenFee,
      of.destinationId,
      of.reference,
      of.traceId,
    ],
  );
  return first(rows);
}

/** Other terms: the money is set aside anew, and what was approved before is void. `stale`: it is not as seen. */
export async function editWithdrawal(
  db: Tx,
  of: Asking & WithdrawalTerms & { readonly id: string; readonly seenVersion: number },
): Promise<'edited' | 'not_found' | 'stale' | WithdrawalRefusal> {
  const rows = await db.query<{ answer: 'edited' | 'not_found' | 'stale' | WithdrawalRefusal }>(
    'select sverka.edit_withdrawal($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) as answer',
    [
      of.id,
      of.book,
      of.merchantId,
      of.userId,
      of.seenVersion,
      of.amount,
      of.seenFee,
      of.destinationId,
      of.reference,
      of.traceId,
    ],
  );
  return first(rows).answer;
}

/** Takes a request back before anybody has decided on it. */
export async function cancelWithdrawal(
  db: Tx,
  of: Asking & { readonly id: string; readonly seenVersion: number },
): Promise<'cancelled' | 'not_found' | 'stale'> {
  const rows = await db.query<{ answer: 'cancelled' | 'not_found' | 'stale' }>(
    'select sverka.cancel_withdrawal($1, $2, $3, $4, $5, $6) as answer',
    [of.id, of.book, of.merchantId, of.userId, of.seenVersion, of.traceId],
  );
  return first(rows).answer;
}

function first<Row>(rows: readonly Row[]): Row {
  const [row] = rows;
  if (row === undefined) throw new Error('A door of withdrawals answered no row: the database is not of this version.');
  return row;
}
