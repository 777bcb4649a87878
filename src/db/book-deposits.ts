import type { DepositRecord } from '../contracts/deposit.js';
import type { DepositReading } from '../domain/deposit.js';
import { collectBehind, leg, type MovementInstruction } from '../domain/journal.js';
import type { Minor } from '../domain/money.js';
import type { OperationKey } from '../domain/operation-key.js';
import { openAccounts } from './accounts.js';
import type { DepositSource } from './deposits.js';
import { hashOperationKey, type PostResult, post } from './journal.js';
import { movementId } from './new-id.js';
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

/** A deposit that is to be credited in this generation, for the owner that its record names. */
export interface DepositCredit {
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
  credits: readonly DepositCredit[],
  by: { readonly source: DepositSource; readonly traceId: string },
): Promise<void> {
  if (credits.length === 0) return;
  const names = credits.flatMap(({ record: { book, merchantId, customerId }, asset }) => {
    const own = { book, merchantId, customerId, asset };
    return [
      { ...own, customerId: null, kind: 'clearing:custody' as const },
      { ...own, kind: 'wallet' as const },
      { ...own, kind: 'receivable' as const },
    ];
  });
  const ids = await openAccounts(tx, names);
  const movements = credits.flatMap((credit, n) => creditOf(by.source, credit, ids.slice(n * 3, n * 3 + 3)));
  const results = await post(tx, movements, { traceId: by.traceId });
  const refused = credits.flatMap(({ record }, n) => {
    const result = results[n * 2];
    return result?.outcome === 'posted' ? [] : [[record.providerRef, refusalOf(result)] as const];
  });
  if (refused.length > 0) throw new BookingRefused(new Map(refused));
}

/** Id of the movement that credits this output in this generation. */
export function creditMovementId(source: DepositSource, reading: DepositReading, generation: number): string {
  return movementId(hashOperationKey(creditKey(source, reading, generation)));
}

// `detail` of the others is an account of ours, which is nobody else's business.
function refusalOf(result: PostResult | undefined): string {
  const word = result?.outcome === 'invalid' ? result.detail : result?.outcome;
  return `journal_${word ?? 'no_answer'}`;
}

function creditOf(source: DepositSource, credit: DepositCredit, ids: readonly bigint[]): MovementInstruction[] {
  const [clearing, wallet, receivable] = ids;
  if (clearing === undefined || wallet === undefined || receivable === undefined) {
    throw new Error('A credit of a deposit has no accounts.');
  }
  const movement: MovementInstruction = {
    kind: 'deposit_credit',
    key: creditKey(source, credit.reading, credit.generation),
    lines: [leg(clearing, -credit.amount), leg(wallet, credit.amount)],
    subject: { type: 'deposit', id: credit.record.id },
  };
  return [movement, collectBehind(movement, { wallet, receivable })];
}

/** The instrument is the output, so that a mempool and a confirmed copy are one (R10). */
function creditKey(source: DepositSource, reading: DepositReading, generation: number): OperationKey {
  const { network, txHash, outputIndex } = reading;
  const { book, provider, account } = source;
  return {
    instrument: { book, provider, account, kind: 'deposit', ref: [network, txHash ?? '', String(outputIndex)] },
    generation,
    operation: 'credit',
  };
}
