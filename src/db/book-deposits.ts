import type { DepositRecord } from '../contracts/deposit.js';
import { type DepositReading, plainHash } from '../domain/deposit.js';
import { collectBehind, draw, leg, type MovementInstruction } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import type { OperationKey } from '../domain/operation-key.js';
import { openAccounts } from './accounts.js';
import type { DepositSource } from './deposits.js';
import { hashOperationKey, type PostResult, post } from './journal.js';
import { movementId } from './new-id.js';
import { type ReceivableChange, receivableChange, tellReceivables } from './tell-receivables.js';
import type { Tx } from './transaction.js';

/** The journal would not book some deposits: apply again with them among `refused`, and they go to a person. */
export class BookingRefused extends Error {
  constructor(
    /** By the custodian's id of the deposit, why: a stable word. */
    readonly reasons: ReadonlyMap<string, string>,
  ) {
    super(`The journal refused to book ${reasons.size} deposit(s): ${[...new Set(reasons.values())].join(', ')}.`);
    this.name = 'BookingRefused';
  }
}

/** What is booked of a deposit in this generation, for the owner that its record names. */
export interface DepositBooking {
  /** `orphan` takes back what `credit` gave: from the wallet, and what it cannot cover is owed (R14). */
  readonly operation: 'credit' | 'orphan';
  readonly record: DepositRecord;
  readonly reading: DepositReading;
  readonly generation: number;
  readonly amount: Minor;
  readonly asset: string;
}

/**
 * The money, as late as possible: one `post` for all, with a `collect` behind each credit of a wallet.
 * Throws `BookingRefused` when the journal does not take all of them; then the caller's transaction has to roll back.
 */
export async function bookDeposits(
  tx: Tx,
  bookings: readonly DepositBooking[],
  by: { readonly source: DepositSource; readonly traceId: string },
): Promise<void> {
  if (bookings.length === 0) return;
  const names = bookings.flatMap(({ record: { book, merchantId, customerId }, asset }) => {
    const own = { book, merchantId, customerId, asset };
    return [
      { ...own, customerId: null, kind: 'clearing:custody' as const },
      { ...own, kind: 'wallet' as const },
      { ...own, kind: 'receivable' as const },
    ];
  });
  const ids = await openAccounts(tx, names);
  const movements = bookings.map((booking, n) => movementsOf(by.source, booking, ids.slice(n * 3, n * 3 + 3)));
  const results = await post(tx, movements.flat(), { traceId: by.traceId });
  const refused = new Map<string, string>();
  const changes: ReceivableChange[] = [];
  let at = 0;
  for (const [n, booking] of bookings.entries()) {
    const [result, collected] = results.slice(at, at + (movements[n]?.length ?? 0));
    at += movements[n]?.length ?? 0;
    if (result?.outcome !== 'posted') refused.set(booking.record.providerRef, refusalOf(result));
    const receivable = ids[n * 3 + 2];
    if (receivable === undefined) throw new Error('A booking of a deposit has no receivable.');
    const of = { account: receivable, owner: booking.record, asset: booking.asset };
    changes.push(...receivableChange(of, booking.operation === 'orphan' ? result : collected));
  }
  if (refused.size > 0) throw new BookingRefused(refused);
  await tellReceivables(tx, changes, by.traceId);
}

/** Id of the movement of this output in this generation. */
export function depositMovementId(
  source: DepositSource,
  of: Pick<DepositBooking, 'operation' | 'reading' | 'generation'>,
): string {
  return movementId(hashOperationKey(keyOf(source, of)));
}

// `detail` of the others is an account of ours, which is nobody else's business.
function refusalOf(result: PostResult | undefined): string {
  const word = result?.outcome === 'invalid' ? result.detail : result?.outcome;
  return `journal_${word ?? 'no_answer'}`;
}

function movementsOf(source: DepositSource, booking: DepositBooking, ids: readonly bigint[]): MovementInstruction[] {
  const [clearing, wallet, receivable] = ids;
  if (clearing === undefined || wallet === undefined || receivable === undefined) {
    throw new Error('A booking of a deposit has no accounts.');
  }
  const { operation, amount } = booking;
  const base = { key: keyOf(source, booking), subject: { type: 'deposit', id: booking.record.id } };
  if (operation === 'orphan') {
    const lines = [leg(wallet, -amount), draw(receivable), leg(clearing, amount)];
    return [
      { ...base, kind: 'deposit_orphaned', lines, compensates: keyOf(source, { ...booking, operation: 'credit' }) },
    ];
  }
  const credit: MovementInstruction = {
    ...base,
    kind: 'deposit_credit',
    lines: [leg(clearing, -amount), leg(wallet, amount)],
  };
  return [credit, collectBehind(credit, { wallet, receivable })];
}

/** The instrument is the output, so that a mempool and a confirmed copy are one (R10). */
function keyOf(
  source: DepositSource,
  { operation, reading, generation }: Pick<DepositBooking, 'operation' | 'reading' | 'generation'>,
): OperationKey {
  const { network, outputIndex } = reading;
  const txHash = plainHash(reading.txHash);
  const { book, provider, account } = source;
  return {
    instrument: { book, provider, account, kind: 'deposit', ref: [network, txHash ?? '', String(outputIndex)] },
    generation,
    operation,
  };
}
