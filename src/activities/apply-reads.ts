import type { DepositInput } from '../contracts/messages.js';
import { type AppliedDeposit, applyDeposits, type DepositStatement } from '../db/apply-deposits.js';
import { BookingRefused } from '../db/book-deposits.js';
import type { DepositSource } from '../db/deposits.js';
import type { InboxSubject } from '../db/inbox.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, type Tx } from '../db/transaction.js';
import { fitsReported } from '../domain/money.js';
import type { CustodyDeposit } from '../providers/custody/schema.js';
import type { ActivityDeps } from './deps.js';

/** What was read of a source, and what commits with its apply. */
export interface DepositReads {
  readonly source: DepositSource;
  readonly statements: readonly DepositStatement[];
  readonly ticket: bigint;
  readonly traceId: string;
  /** What comes first in the transaction: `true` to go on. */
  readonly before?: (tx: Tx) => Promise<boolean>;
  readonly lockInbox: (tx: Tx) => Promise<void>;
  readonly alongside: (tx: Tx, applied: readonly AppliedDeposit[]) => Promise<void>;
}

/** One transaction; run again with those parked that the journal refused, so that they never spoil the others. */
export async function applyReads(deps: ActivityDeps, request: DepositReads): Promise<AppliedDeposit[]> {
  const refused = new Map<string, string>();
  const actor = `worker:${request.source.provider}`;
  for (;;) {
    try {
      const applied = await retrying(() =>
        inTransaction(deps.pool, async (tx) => {
          if (request.before && !(await request.before(tx))) return [];
          return applyDeposits(tx, { ...request, actor, refused });
        }),
      );
      for (const result of applied) tellMove(deps, request, result);
      return applied;
    } catch (error) {
      const more = error instanceof BookingRefused ? [...error.reasons].filter(([ref]) => !refused.has(ref)) : [];
      // Each turn parks one more at least, so this ends.
      if (more.length === 0) throw error;
      for (const [ref, reason] of more) refused.set(ref, reason);
    }
  }
}

/** One line a deposit that moved, after the commit: the state, never an amount. */
function tellMove({ log }: ActivityDeps, { traceId }: DepositReads, { before, record }: AppliedDeposit): void {
  if (record === null || before === record.state) return;
  log.info('deposit moved', {
    trace_id: traceId,
    deposit_id: record.id,
    merchant_id: record.merchantId,
    book: record.book,
    provider: record.provider,
    from_state: before,
    to_state: record.state,
    reason: record.reason,
  });
}

/** Whose notifications a deposit's are. */
export function subjectOf(input: DepositInput): InboxSubject {
  return { book: input.book, provider: input.provider, endpoint: input.account, type: 'deposit', ref: input.ref };
}

/** The custodian's record in our words; null when its amount fits no column of ours. */
export function toStatement(record: CustodyDeposit): DepositStatement | null {
  if (!fitsReported(record.amount)) return null;
  return {
    ref: record.id,
    address: record.address,
    tag: record.tag,
    providerStatus: record.providerStatus,
    reading: {
      status: record.status,
      network: record.network,
      asset: record.asset,
      txHash: record.txHash,
      outputIndex: record.outputIndex,
      amount: record.amount,
      settlement: record.settlement,
    },
  };
}
