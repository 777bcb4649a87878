import { nudgeBalances } from '../../client/balances.js';
import { nudgeDeposit } from '../../client/deposits.js';
import { nudgeIssuance } from '../../client/issuances.js';
import { createNudger } from '../../client/nudger.js';
import type { Temporal } from '../../client/temporal.js';
import { nudgeWithdrawal } from '../../client/withdrawals.js';
import type { BalanceSyncInput } from '../../contracts/balance-messages.js';
import type { DepositInput, IssuanceRef, PayoutRef } from '../../contracts/messages.js';
import { type Delivery, findFollower } from '../../db/inbox.js';
import type { Tx } from '../../db/transaction.js';
import { findPayoutFollower } from '../../db/withdrawals.js';

export interface RelayNudge {
  /** Says "look" to whoever follows the subject; never waits and never throws. */
  nudge(delivery: Delivery): void;
  /** Resolves when nothing is in flight. */
  idle(): Promise<void>;
}

/** Nudges, coalesced per subject. A lost one costs only time, for the sweep comes; `onFailure` is told of it. */
export function createRelayNudge(
  { temporal, db }: { temporal: Temporal; db: Tx },
  onFailure: (error: unknown) => void,
): RelayNudge {
  const nudger = createNudger((of: Nudged) => send(temporal, db, of), onFailure);
  return {
    nudge({ provider, endpoint: account, book, subject, traceId }) {
      if (subject === null) return;
      const of = { book, account, ref: subject.ref, traceId };
      const key = `${provider} ${account} ${subject.ref}`;
      if (provider === 'custody' && subject.type === 'deposit') nudger.nudge(key, { ...of, provider });
      if (provider === 'custody' && subject.type === 'payout') nudger.nudge(`payout ${key}`, { ...of, payout: true });
      if (provider === 'issuer' && subject.type === 'card') nudger.nudge(key, { ...of, provider });
      // One run mirrors the whole account, whatever moved there.
      if (provider === 'pert') nudger.nudge(`${provider} ${account}`, { book, provider, account });
    },
    idle: () => nudger.idle(),
  };
}

type Nudged = DepositInput | IssuanceRef | BalanceSyncInput | (PayoutRef & { readonly payout: true });

/** A deposit's run has the provider's name of it; that of a card is looked up; what has ended is the sweep's. */
async function send(temporal: Temporal, db: Tx, of: Nudged): Promise<void> {
  if ('payout' in of) {
    const follower = await findPayoutFollower(db, of);
    if (follower !== null) await nudgeWithdrawal(temporal, { book: of.book, ...follower, traceId: of.traceId });
    return;
  }
  if (of.provider === 'pert') return nudgeBalances(temporal, of);
  if (of.provider === 'custody') return void (await nudgeDeposit(temporal, of, { start: true }));
  const workflowId = await findFollower(db, of);
  if (workflowId !== null) await nudgeIssuance(temporal, { workflowId, traceId: of.traceId });
}
