import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { DepositInput, DepositPages, DepositReconcileInput, DepositSeen } from '../contracts/messages.js';
import { type AppliedDeposit, type DepositStatement, depositPlace } from '../db/apply-deposits.js';
import { noteCheckRun } from '../db/check-runs.js';
import { decideUnread } from '../db/decide-unread.js';
import {
  type InboxSubject,
  lockWaiting,
  markBuriedDone,
  markDone,
  markUnmatched,
  selectWaiting,
  type WaitingRow,
} from '../db/inbox.js';
import { noteAbsentDeposit } from '../db/note-absent-deposit.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent } from '../telemetry/trace.js';
import { applyReads, subjectOf, toStatement } from './apply-reads.js';
import { applyNextPage } from './deposit-pages.js';
import type { ActivityDeps } from './deps.js';
import { AMOUNT_OUT_OF_RANGE, countRowFault, ownFault } from './row-faults.js';

export type DepositActivities = ReturnType<typeof createDepositActivities>;

/** Reading deposits and applying what was read: a call, then a transaction. */
export function createDepositActivities(deps: ActivityDeps) {
  return {
    /** Asks the custodian for one deposit and applies the answer. Throws what `errors.ts` translates. */
    async providerReadDeposit(input: DepositInput & { absentMs: number }): Promise<DepositSeen> {
      const db = queriesOf(deps.pool);
      const subject = subjectOf(input);
      // Before the read begins: only these rows are done by it, and only an answer to this read counts.
      const waiting = await selectWaiting(db, subject);
      const ticket = await takeReadTicket(db);
      try {
        const statement = await readStatement(deps, input);
        if (statement === 'not_found') return await notFound(deps, input, waiting);
        const applied = await applyReads(deps, {
          source: input,
          statements: [statement],
          ticket,
          traceId: input.traceId,
          lockInbox: (tx) => lockWaiting(tx, waiting),
          alongside: (tx, [result]) => settleWaiting(tx, statement, { subject, waiting, result }),
        });
        return seenOf(deps, applied[0]);
      } catch (error) {
        const decided = ownFault(error) === null ? null : await unread(deps, input, { waiting, shown: 'unreadable' });
        if (decided) return decided;
        const dead = await countRowFault(deps, waiting, { error, traceId: input.traceId });
        if (dead) return deadLetter();
        throw error;
      }
    },

    /** Pages a custodian's changes from the kept position; each page's effects and the position commit together. */
    async pageDepositChanges(input: DepositReconcileInput): Promise<DepositPages> {
      const total = { pages: 0, items: 0, changed: 0, unmatched: 0, unreadable: 0, more: true };
      const beganAt = new Date();
      const until = beganAt.getTime() + deps.config.SVERKA_PAGE_TURN;
      while (total.more && Date.now() < until) {
        const page = await applyNextPage(deps, input);
        total.pages += 1;
        total.items += page.items;
        total.changed += page.changed;
        total.unmatched += page.unmatched;
        total.unreadable += page.unreadable;
        total.more = page.more;
        heartbeat();
        // The worker stops: what is read is committed, another attempt goes on from there.
        cancellationSignal().throwIfAborted();
      }
      if (!total.more) {
        const name = `deposit_reconcile:${input.provider}:${input.account}`;
        await noteCheckRun(queriesOf(deps.pool), { name, beganAt, findings: 0, detail: total });
      }
      return total;
    },
  };
}

async function readStatement(deps: ActivityDeps, input: DepositInput): Promise<DepositStatement | 'not_found'> {
  try {
    const record = await deps.custody(input).readDeposit(input.ref, { traceparent: makeTraceparent(input.traceId) });
    const statement = toStatement(record);
    if (statement === null) {
      throw new ProviderError({
        kind: 'garbage',
        provider: input.provider,
        operation: 'readDeposit',
        reason: AMOUNT_OUT_OF_RANGE,
        countsForBreaker: false,
      });
    }
    return statement;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not_found') return 'not_found';
    throw error;
  }
}

/** Tried often enough: a person looks at the dead letter, and a replay, or the next notification, reads again. */
function deadLetter(): DepositSeen {
  const [state, reason] = ['dead_letter', 'unreadable_record'];
  return { state, depositId: null, merchantId: null, reason, needsOperator: true, ended: true, waitMs: null };
}

/** A 404 is never a rejection: asked again, and after a bound left to a person (CASES A08). */
async function notFound(
  deps: ActivityDeps,
  input: DepositInput & { absentMs: number },
  waiting: readonly WaitingRow[],
): Promise<DepositSeen> {
  const { config } = deps;
  const ended = input.absentMs >= config.SVERKA_UNMATCHED_ALERT_AGE;
  // Not swept, but done by the read that finds it; alerted on after a bound.
  const decided = await unread(deps, input, { waiting, shown: 'nothing' });
  if (decided) return decided;
  await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      await lockWaiting(tx, waiting);
      await noteAbsentDeposit(tx, input, { ref: input.ref, tooLong: ended, traceId: input.traceId });
      await markUnmatched(tx, waiting, { reason: 'not_at_provider', waitsFor: null });
    }),
  );
  // Twice as long each time, up to the longest.
  const { SVERKA_DEPOSIT_NOT_FOUND_INTERVAL: first, SVERKA_DEPOSIT_NOT_FOUND_INTERVAL_MAX: longest } = config;
  const waitMs = Math.min(Math.max(input.absentMs, first), longest);
  const reason = 'not_at_provider';
  return { state: 'not_found', depositId: null, merchantId: null, reason, needsOperator: ended, ended, waitMs };
}

/** What a person has decided needs no record to be settled; null when nobody has. */
async function unread(
  deps: ActivityDeps,
  input: DepositInput,
  { waiting, shown }: { waiting: readonly WaitingRow[]; shown: 'nothing' | 'unreadable' },
): Promise<DepositSeen | null> {
  const record = await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      await lockWaiting(tx, waiting);
      const decided = await decideUnread(tx, input, { ref: input.ref, shown, traceId: input.traceId });
      if (decided) await markDone(tx, waiting);
      return decided;
    }),
  );
  return record && seenOf(deps, { ref: input.ref, outcome: 'changed', before: null, record });
}

async function settleWaiting(
  tx: Tx,
  statement: DepositStatement,
  of: { subject: InboxSubject; waiting: readonly WaitingRow[]; result: AppliedDeposit | undefined },
): Promise<void> {
  const { subject, waiting, result } = of;
  if (result?.outcome === 'stale') return;
  if (result?.outcome !== 'unmatched') {
    await markDone(tx, waiting);
    return markBuriedDone(tx, subject, [subject.ref]);
  }
  await markUnmatched(tx, waiting, { reason: 'unknown_address', waitsFor: depositPlace(statement) });
}

function seenOf(deps: ActivityDeps, applied: AppliedDeposit | undefined): DepositSeen {
  const record = applied?.record;
  if (!record) {
    const [state, reason] = ['unmatched', 'unknown_address'];
    return { state, depositId: null, merchantId: null, reason, needsOperator: true, ended: true, waitMs: null };
  }
  const { state, flag, reason } = record;
  const ended = state === 'final' || state === 'rejected' || state === 'dropped';
  const waitMs = applied.outcome === 'stale' ? 1 : state === 'parked' ? null : deps.config.SVERKA_DEPOSIT_POLL_INTERVAL;
  return {
    state,
    depositId: record.id,
    merchantId: record.merchantId,
    reason: flag ?? reason,
    needsOperator: state === 'parked' || flag !== null,
    ended: ended && applied.outcome !== 'stale',
    waitMs,
  };
}
