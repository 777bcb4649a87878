import type { DepositRecord } from '../contracts/deposit.js';
import { type DepositChoice, planUnread } from '../domain/deposit-decision.js';
import { resolveAlert } from './alerts.js';
import { closeDecision, openDecisions } from './decisions.js';
import { depositEvent } from './deposit-event.js';
import { type DepositSource, lockDeposits, noteReadings, stepDeposits } from './deposits.js';
import { insertEvents } from './events.js';
import type { Tx } from './transaction.js';
import { hashSeenDeposit } from './weigh-deposits.js';

/**
 * Applies what a person decided on a deposit of which the custodian shows no record that could be read: `reject` and
 * `drop` need none, anything else is void, so that the person can look again. Null when nothing was decided, else the
 * deposit as it is now.
 */
export async function decideUnread(
  tx: Tx,
  source: DepositSource,
  of: { readonly ref: string; readonly shown: 'nothing' | 'unreadable'; readonly traceId: string },
): Promise<DepositRecord | null> {
  const [record] = await lockDeposits(tx, source, [of.ref]);
  if (!record) return null;
  const [decision] = await openDecisions<DepositChoice>(tx, { type: 'deposit', ids: [record.id] });
  if (!decision) return null;
  const { traceId } = of;
  const asSeen = hashSeenDeposit(record).equals(decision.seenHash);
  const move = asSeen ? planUnread(record, decision.choice, of.shown) : 'what was seen has changed';
  if (typeof move === 'string') {
    await closeDecision(tx, decision, { outcome: 'void', detail: move, traceId });
    return record;
  }
  const { id, generation, providerStatus, network, txHash, outputIndex, reportedText, reportedAsset } = record;
  const { acceptedContradiction } = record;
  // A fresh ticket, as with every apply: an answer to an older read must not undo it.
  const [noted] = await noteReadings(tx, [
    {
      ...{ id, providerStatus, network, txHash, outputIndex, reportedText, reportedAsset, acceptedContradiction },
      ...{ flag: null, contradiction: null },
    },
  ]);
  const actor = `user:${decision.userId}`;
  const step = { id, version: noted?.version ?? record.version, ...move, generation, credit: null, movementId: null };
  const [after] = await stepDeposits(tx, [{ ...step, actor }], traceId);
  if (!after) throw new Error(`Deposit ${id} changed under its own lock.`);
  await insertEvents(tx, [depositEvent(after, traceId)]);
  await resolveAlert(tx, `deposit:${id}`);
  await closeDecision(tx, decision, { outcome: 'applied', detail: decision.choice, traceId });
  return after;
}
