import type { WithdrawalSeen } from '../contracts/messages.js';
import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { applyWithdrawalDecision, expireWithdrawal, openProof, remindOfWithdrawal } from '../db/withdrawal-doors.js';
import { readWithdrawal } from '../db/withdrawals.js';
import { makeTraceparent } from '../telemetry/trace.js';
import { custodianOf, transferOf } from './custody-payouts.js';
import type { ActivityDeps } from './deps.js';
import { type OfWithdrawal, whereWithdrawalStands, withdrawalSeen } from './withdrawal-seen.js';

export type WithdrawalActivities = ReturnType<typeof createWithdrawalActivities>;

/** What people decide on withdrawals, and that they are told of those that wait; `payouts.ts` pays. */
export function createWithdrawalActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Applies what people decided, oldest first, and that a request's time is over. */
    async databaseDecideWithdrawal(of: OfWithdrawal): Promise<WithdrawalSeen> {
      for (;;) {
        // A transaction that a proof names is read first, outside any of ours.
        if ((await openProof(db, of.id))?.transactionHash) {
          return withdrawalSeen(await readWithdrawal(db, of.id), { next: 'prove', waitMs: null });
        }
        let applied = false;
        await changeWithdrawal(deps, of, async (tx) => {
          applied = await applyWithdrawalDecision(tx, of, null);
        });
        if (!applied) break;
      }
      const waiting = await readWithdrawal(db, of.id);
      const over = waiting.state === 'requested' && waiting.expiresAt <= new Date();
      const record = over ? await changeWithdrawal(deps, of, (tx) => expireWithdrawal(tx, of)) : waiting;
      return whereWithdrawalStands(deps, record, of);
    },

    /** Reads the transaction that a proof names, then applies the decision to complete it. */
    async providerReadProof(of: OfWithdrawal): Promise<WithdrawalSeen> {
      const record = await readWithdrawal(db, of.id);
      const hash = (await openProof(db, of.id))?.transactionHash ?? null;
      if (hash === null) return whereWithdrawalStands(deps, record, of);
      const by = { traceparent: makeTraceparent(of.traceId) };
      const found = await custodianOf(deps, record).readTransfer(hash, by);
      const after = await changeWithdrawal(deps, of, (tx) =>
        applyWithdrawalDecision(tx, of, found && transferOf(found)),
      );
      return whereWithdrawalStands(deps, after, of);
    },

    /** Reminds people of a request that waits. */
    async databaseTellWithdrawal(of: OfWithdrawal): Promise<WithdrawalSeen> {
      const step = of.told === 0 ? 'reminder' : 'escalation';
      const record = await changeWithdrawal(deps, of, (tx) => remindOfWithdrawal(tx, { ...of, step }));
      return whereWithdrawalStands(deps, record, { ...of, told: of.told + 1 });
    },
  };
}

/** One transaction; answers where it stands behind it, with one line in the log when it moved: never an amount. */
export async function changeWithdrawal(
  deps: ActivityDeps,
  { id, traceId }: { readonly id: string; readonly traceId: string },
  work: (tx: Tx) => Promise<unknown>,
): Promise<WithdrawalRecord> {
  const [before, after] = await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      const was = await readWithdrawal(tx, id);
      await work(tx);
      return [was, await readWithdrawal(tx, id)] as const;
    }),
  );
  if (before.state !== after.state) {
    deps.log.info('withdrawal moved', {
      trace_id: traceId,
      withdrawal_id: id,
      merchant_id: after.merchantId,
      book: after.book,
      from_state: before.state,
      to_state: after.state,
      reason: after.flag ?? after.reason,
    });
  }
  return after;
}
