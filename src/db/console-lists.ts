import type { IssuanceRecord } from '../contracts/card.js';
import type { DepositRecord } from '../contracts/deposit.js';
import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import type { Book } from '../domain/books.js';
import { ALERT_SELECT, type AlertRecord } from './alerts-listing.js';
import { DEAD_LETTER_SELECT, type DeadLetterRecord } from './dead-letters.js';
import { DEPOSIT_LIST, type DepositRow, toDepositRecord } from './deposits.js';
import { type IssuanceRow, toIssuanceRecord } from './issuances.js';
import { ISSUANCE_LIST, WAITS_FOR_PERSON } from './issuances-listing.js';
import type { Where } from './lists.js';
import { narrowTo, narrowToDays, readSorted, type SortedPage } from './sorted-list.js';
import type { Tx } from './transaction.js';
import { toWithdrawalRecord, WITHDRAWAL_LIST, WITHDRAWAL_WAITS_FOR_PERSON, type WithdrawalRow } from './withdrawals.js';

/** What a person of ours asks of a list: values by name, in one book, in an order by name. */
export interface ConsoleList {
  readonly book: Book;
  readonly filters: Readonly<Record<string, string>>;
  readonly sort: { readonly name: string; readonly descending: boolean };
  readonly after: string | null;
  readonly limit: number;
}

/** Orders by name. `created` is the order of ids, which begin with their time, and for which there is an index. */
export const DEPOSIT_SORTS = {
  created: 'd.id',
  state: 'd.state',
  amount: 'd.reported_amount',
  merchant: 'd.merchant_id',
  read: 'd.last_read_at',
} as const;

/** Deposits of all merchants in that book. `view=decide`: those that wait for a person. */
export async function listDepositsForConsole(db: Tx, of: ConsoleList): Promise<DepositRecord[]> {
  const { filters } = of;
  const rows = await readSorted<DepositRow>(db, DEPOSIT_LIST, {
    page: pageOf(of, DEPOSIT_SORTS),
    narrow(where) {
      narrowTo(where, 'd.book', of.book);
      narrowTo(where, 'd.state', filters['state']);
      narrowTo(where, 'd.network', filters['network']);
      narrowTo(where, 'd.reported_asset', filters['asset']);
      narrowTo(where, 'd.merchant_id', filters['merchant']);
      narrowToAny(where, ['d.id', 'd.tx_hash', 'd.provider_ref'], filters['q']);
      narrowToDays(where, 'd.created_at', { from: filters['from'], to: filters['to'] });
      if (filters['view'] === 'decide') where.add(() => "(d.state = 'parked' or d.flag is not null)");
    },
  });
  return rows.map(toDepositRecord);
}

export const ISSUANCE_SORTS = {
  created: 'i.id',
  state: 'i.state',
  load: 'i.load_amount',
  merchant: 'i.merchant_id',
  product: 'i.product',
} as const;

/** Issuances of all merchants in that book. `view=waiting`: those that wait for a person. */
export async function listIssuancesForConsole(db: Tx, of: ConsoleList): Promise<IssuanceRecord[]> {
  const { filters } = of;
  const rows = await readSorted<IssuanceRow>(db, ISSUANCE_LIST, {
    page: pageOf(of, ISSUANCE_SORTS),
    narrow(where) {
      narrowTo(where, 'i.book', of.book);
      narrowTo(where, 'i.state', filters['state']);
      narrowTo(where, 'i.product', filters['product']);
      narrowTo(where, 'i.asset', filters['asset']);
      narrowTo(where, 'i.merchant_id', filters['merchant']);
      narrowToAny(where, ['i.id', 'i.card_id', 'i.provider_ref'], filters['q']);
      narrowToDays(where, 'i.created_at', { from: filters['from'], to: filters['to'] });
      if (filters['view'] === 'waiting') where.add(() => WAITS_FOR_PERSON);
    },
  });
  return rows.map(toIssuanceRecord);
}

export const WITHDRAWAL_SORTS = {
  created: 'w.id',
  state: 'w.state',
  amount: 'w.amount',
  merchant: 'w.merchant_id',
  expires: 'w.expires_at',
} as const;

/** Withdrawals of all merchants in that book. `view=waiting`: those that wait for a person. */
export async function listWithdrawalsForConsole(db: Tx, of: ConsoleList): Promise<WithdrawalRecord[]> {
  const { filters } = of;
  const rows = await readSorted<WithdrawalRow>(db, WITHDRAWAL_LIST, {
    page: pageOf(of, WITHDRAWAL_SORTS),
    narrow(where) {
      narrowTo(where, 'w.book', of.book);
      narrowTo(where, 'w.state', filters['state']);
      narrowTo(where, 'w.network', filters['network']);
      narrowTo(where, 'w.asset', filters['asset']);
      narrowTo(where, 'w.merchant_id', filters['merchant']);
      narrowToAny(where, ['w.id', 'w.transaction_hash', 'w.payout_ref', 'w.address'], filters['q']);
      narrowToDays(where, 'w.created_at', { from: filters['from'], to: filters['to'] });
      if (filters['view'] === 'waiting') where.add(() => WITHDRAWAL_WAITS_FOR_PERSON);
    },
  });
  return rows.map(toWithdrawalRecord);
}

export const DEAD_LETTER_SORTS = {
  created: 'l.created_at',
  reason: 'l.reason',
  attempts: 'l.attempts',
  state: "coalesce(l.closed_how, 'open')",
} as const;

/** Dead letters of that book. */
export async function listDeadLettersForConsole(db: Tx, of: ConsoleList): Promise<DeadLetterRecord[]> {
  const { filters } = of;
  const from = { select: DEAD_LETTER_SELECT, table: 'sverka.dead_letter', alias: 'l' };
  return readSorted<DeadLetterRecord>(db, from, {
    page: pageOf(of, DEAD_LETTER_SORTS),
    narrow(where) {
      narrowTo(where, 'l.book', of.book);
      narrowTo(where, 'i.provider', filters['provider']);
      narrowToAny(where, ['l.id', 'l.inbox_id', 'i.subject_ref'], filters['q']);
      const state = filters['state'];
      if (state === 'open') where.add(() => 'l.closed_at is null');
      else narrowTo(where, 'l.closed_how', state);
    },
  });
}

export const ALERT_SORTS = {
  created: 'a.opened_at',
  kind: 'a.kind',
  times: 'a.times',
  seen: 'a.last_seen_at',
} as const;

/** Alerts of that book and of none. */
export async function listAlertsForConsole(db: Tx, of: ConsoleList): Promise<AlertRecord[]> {
  const { filters } = of;
  return readSorted<AlertRecord>(
    db,
    { select: `${ALERT_SELECT} a`, table: 'sverka.alert', alias: 'a' },
    {
      page: pageOf(of, ALERT_SORTS),
      narrow(where) {
        where.add((p) => `(a.book is null or a.book = ${p(of.book)})`);
        narrowTo(where, 'a.state', filters['state']);
        narrowTo(where, 'a.kind', filters['kind']);
        narrowToAny(where, ['a.id', 'a.subject_id', 'a.key'], filters['q']);
      },
    },
  );
}

function pageOf(of: ConsoleList, sorts: Readonly<Record<string, string>>): SortedPage {
  const { sort, after, limit } = of;
  const by = sorts[sort.name];
  if (by === undefined) throw new Error(`A list has no order by ${sort.name}: its page offered one too many.`);
  return { by, descending: sort.descending, after, limit };
}

/** A text that is one of these columns, as a whole: an index finds it, a part of it would read every row. */
function narrowToAny(where: Where, columns: readonly string[], text: string | undefined): void {
  if (text === undefined) return;
  where.add((p) => {
    const wanted = p(text);
    return `(${columns.map((column) => `${column} = ${wanted}`).join(' or ')})`;
  });
}
