import type { PayoutRef, WithdrawalSeen } from '../contracts/messages.js';
import type { WithdrawalRecord } from '../contracts/withdrawal.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { markDone, markUnmatched, selectWaiting, type WaitingRow } from '../db/inbox.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import {
  applyWithdrawalPayout,
  type PayoutAnswer,
  submitWithdrawal,
  suspectWithdrawal,
} from '../db/withdrawal-doors.js';
import { findWithdrawal, readWithdrawalForCall } from '../db/withdrawals.js';
import { decimalsOf } from '../domain/assets.js';
import { formatAmount } from '../domain/money.js';
import { isWithdrawalDone } from '../domain/withdrawal.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent } from '../telemetry/trace.js';
import { custodianOf, payoutSubject, readPayoutOf, toPayoutReading } from './custody-payouts.js';
import type { ActivityDeps } from './deps.js';
import { NothingSent } from './errors.js';
import { paceMs } from './pace.js';
import { type OfWithdrawal, whereWithdrawalStands, withdrawalSeen } from './withdrawal-seen.js';
import { changeWithdrawal } from './withdrawals.js';

export type PayoutActivities = ReturnType<typeof createPayoutActivities>;

/** A refusal of the create by the custodian, for good. */
const CUSTODIAN_DECLINED = 'custodian_declined';

/** Paying a withdrawal by the custodian: commit the intent, create once, then ask until it is certain (DESIGN 6). */
export function createPayoutActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Commits the intent, before anything is sent. Only the run that did so may send the create. */
    async databaseSubmitWithdrawal(of: OfWithdrawal & { after: string | null }): Promise<WithdrawalSeen> {
      const record = await changeWithdrawal(deps, of, (tx) => submitWithdrawal(tx, of));
      const mine = record.state === 'submitted' && record.submittedBy === of.runId && record.payoutRef === null;
      return mine ? withdrawalSeen(record, { next: 'create', waitMs: null }) : whereWithdrawalStands(deps, record, of);
    },

    /** One POST, outside any transaction. What proves that nothing was paid leaves it to be sent again. */
    async providerCreatePayout(of: OfWithdrawal & { tries: number }): Promise<WithdrawalSeen> {
      const waitMs = paceMs(deps.config, of.tries, deps.config.SVERKA_CREATE_RETRY_INTERVAL_MAX);
      const { record, ticket, custodian } = await prepare(deps, of).catch((cause: unknown) => {
        throw new NothingSent(waitMs, { cause });
      });
      if (record.state !== 'submitted' || record.payoutRef !== null) return whereWithdrawalStands(deps, record, of);
      // A reset run: what the run before it has sent, nobody knows.
      if (record.submittedBy !== of.runId) return suspect(deps, of);
      const { asset, network, address, tag } = record;
      const amount = formatAmount(record.amount, decimalsOf(asset));
      const request = { reference: record.id, network, asset, address, tag, amount };
      try {
        const payout = await custodian.createPayout(request, { traceparent: makeTraceparent(of.traceId) });
        const after = await apply(deps, of, { ticket, payout: await toPayoutReading(deps, record, payout) });
        await resolveAlert(db, misconfiguredKey(record));
        return whereWithdrawalStands(deps, after, of);
      } catch (error) {
        if (!(error instanceof ProviderError) || !error.provesNothingMade) throw error;
        if (error.kind !== 'rejected') return notSent(deps, record, { error, waitMs, traceId: of.traceId });
        return whereWithdrawalStands(deps, await apply(deps, of, { ticket, declined: CUSTODIAN_DECLINED }), of);
      }
    },

    /** Notes that nobody knows whether it was paid: it is looked up by our reference. */
    async databaseSuspectWithdrawal(of: OfWithdrawal): Promise<WithdrawalSeen> {
      return suspect(deps, of);
    },

    /** Asks the custodian about the payout under our reference, and applies the answer. */
    async providerReadPayout(of: OfWithdrawal): Promise<WithdrawalSeen> {
      const { record, ticket } = await readWithdrawalForCall(db, of.id);
      if (record.route !== 'custody' || (isWithdrawalDone(record.state) && record.state !== 'failed'))
        return whereWithdrawalStands(deps, record, of);
      // Before the read begins: only these rows are done by it.
      const { payoutRef: ref } = record;
      const waiting = ref === null ? [] : await selectWaiting(db, payoutSubject(deps, record, ref));
      const { payout, transfer } = await readPayoutOf(deps, record, of.traceId);
      const needsPerson = payout === null && of.looks >= deps.config.SVERKA_UNKNOWN_ALERT_LOOKS;
      const after = await apply(deps, of, { ticket, payout, transfer, needsPerson, done: waiting });
      return whereWithdrawalStands(deps, after, of);
    },

    /** The same for a notification of a payout that no withdrawal waits for. */
    async providerReadPayoutOf(of: PayoutRef): Promise<{ state: string }> {
      return readUnknownPayout(deps, of);
    },
  };
}

/**
 * The custodian's record names the withdrawal, which may have ended. One that names none of ours is kept.
 */
async function readUnknownPayout(deps: ActivityDeps, of: PayoutRef): Promise<{ state: string }> {
  const db = queriesOf(deps.pool);
  const subject = { book: of.book, provider: 'custody', endpoint: of.account, type: 'payout', ref: of.ref };
  const waiting = await selectWaiting(db, subject);
  const ticket = await takeReadTicket(db);
  const by = { traceparent: makeTraceparent(of.traceId) };
  const shown = await deps.custody(of).readPayout(of.ref, by);
  // Not shown yet: the notification comes again.
  if (shown === null) return { state: 'not_shown' };
  const record = await findWithdrawal(db, shown.reference);
  if (record?.book !== of.book) {
    const why = { reason: 'unknown_payout', waitsFor: null };
    await retrying(() => inTransaction(deps.pool, (tx) => markUnmatched(tx, waiting, why)));
    return { state: 'unmatched' };
  }
  const { payout, transfer } = await readPayoutOf(deps, record, of.traceId);
  const ours = { id: record.id, traceId: of.traceId };
  const after = await apply(deps, ours, { ticket, payout, transfer, done: waiting });
  return { state: after.state };
}

/** What fails in here fails although nothing can have been sent. */
async function prepare(deps: ActivityDeps, { id }: OfWithdrawal) {
  const { record, ticket } = await readWithdrawalForCall(queriesOf(deps.pool), id);
  return { record, ticket, custodian: custodianOf(deps, record) };
}

async function suspect(deps: ActivityDeps, of: OfWithdrawal): Promise<WithdrawalSeen> {
  const record = await changeWithdrawal(deps, of, (tx) => suspectWithdrawal(tx, of));
  return whereWithdrawalStands(deps, record, { ...of, looks: 0 });
}

async function apply(
  deps: ActivityDeps,
  of: Pick<OfWithdrawal, 'id' | 'traceId'>,
  { done = [], ...answer }: Pick<PayoutAnswer, 'ticket'> & Partial<PayoutAnswer> & { done?: readonly WaitingRow[] },
): Promise<WithdrawalRecord> {
  const nothing = { payout: null, transfer: null, declined: null, needsPerson: false };
  return changeWithdrawal(deps, of, async (tx) => {
    // Notifications before subjects (DESIGN 10).
    await markDone(tx, done);
    await applyWithdrawalPayout(tx, { ...nothing, ...answer, id: of.id, traceId: of.traceId });
  });
}

/** Nothing was sent: to be mended by a person, or to be sent again. */
async function notSent(
  deps: ActivityDeps,
  record: WithdrawalRecord,
  { error, waitMs, traceId }: { error: ProviderError; waitMs: number; traceId: string },
): Promise<WithdrawalSeen> {
  const misconfigured = error.kind === 'misconfigured';
  if (misconfigured) {
    await raiseAlert(queriesOf(deps.pool), {
      key: misconfiguredKey(record),
      kind: 'provider_misconfigured',
      book: record.book,
      subject: { type: 'provider', id: 'custody' },
      detail: error.message,
      traceId,
    });
  }
  const later = misconfigured ? deps.config.SVERKA_MISCONFIGURED_INTERVAL : (error.retryAfterMs ?? waitMs);
  return withdrawalSeen({ ...record, needsOperator: misconfigured }, { next: 'create', waitMs: later });
}

/** One alert for an account, whatever number of withdrawals meets it. */
function misconfiguredKey({ book }: WithdrawalRecord): string {
  return `provider:custody:payouts:${book}`;
}
