import type { CardholderRecord } from '../contracts/cardholder.js';
import { CARDHOLDER_SELECT } from './cardholders.js';
import { listQuery, type Scope, type Wanted } from './lists.js';
import type { Tx } from './transaction.js';

/** A merchant's cardholders of one book, newest first, one row more than the page holds. */
export function listCardholders(db: Tx, of: Scope, wanted: Wanted): Promise<CardholderRecord[]> {
  const from = { select: CARDHOLDER_SELECT, table: 'sverka.cardholder', alias: 'h' };
  const { sql, params } = listQuery(from, of, wanted);
  return db.query<CardholderRecord>(sql, params);
}
