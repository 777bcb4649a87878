import type { DepositInput, IssuanceRef, PayoutRef, SweepTurn, SweptPart } from '../contracts/messages.js';
import { raiseAlert, resolveAlertsExcept } from '../db/alerts.js';
import { listDecidedSources } from '../db/balance-sources.js';
import { noteCheckRun } from '../db/check-runs.js';
import { closeAppliedDeadLetters } from '../db/dead-letters.js';
import {
  alertUnmatched,
  type ClaimedRow,
  claimDecided,
  claimPending,
  resolveUnreadable,
  wakeKnownCards,
} from '../db/inbox.js';
import { findIssuanceOf } from '../db/issuances.js';
import { seal } from '../db/seal.js';
import { queriesOf } from '../db/transaction.js';
import { findPayoutFollower } from '../db/withdrawals.js';
import { newTraceId } from '../telemetry/trace.js';
import { type Attempt, createAttempts, eachOf } from './attempts.js';
import { applyDeadLetterDecisions } from './decisions.js';
import type { ActivityDeps } from './deps.js';
import { applyLedgerImport } from './ledger-imports.js';
import {
  restartAddresses,
  restartCardChanges,
  restartDeposits,
  restartIssuances,
  restartLoads,
  restartWithdrawals,
} from './restart-stranded.js';

export type InboxActivities = ReturnType<typeof createInboxActivities>;

const ROWS_PER_SWEEP = 100;
const SEALED_PER_SWEEP = 1_000;

/** Finding what nobody came for: one activity for each part of the sweep, so that none stops another. */
export function createInboxActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Numbers what is new. */
    async databaseSeal(): Promise<SweptPart> {
      return { full: (await seal(db, SEALED_PER_SWEEP)) >= SEALED_PER_SWEEP, claimed: 0, closed: [] };
    },

    /** What people decided on dead letters, and the alerts of notifications. */
    async databaseSweepDeadLetters(): Promise<SweptPart> {
      await alertUnmatched(db, deps.config.SVERKA_UNMATCHED_ALERT_AGE);
      await applyDeadLetterDecisions(deps, db);
      await closeAppliedDeadLetters(db);
      await resolveUnreadable(db);
      return DONE;
    },

    /** Overdue notifications, and what people decided on deposits and on mirrored balances. */
    async databaseNudgeOverdue(): Promise<SweptPart> {
      const { SVERKA_SWEEP_GRACE: graceMs, SVERKA_SWEEP_LEASE: leaseMs } = deps.config;
      const limits = { most: ROWS_PER_SWEEP, graceMs, leaseMs };
      await wakeKnownCards(db);
      const decided = await claimDecided(db, limits);
      await nudgeDecidedBalances(deps, createAttempts(deps));
      const rows = await claimPending(db, limits);
      const ended = await nudgeEach(deps, [...decided, ...rows], createAttempts(deps));
      return { full: rows.length === ROWS_PER_SWEEP, claimed: rows.length, ...ended };
    },

    /** Waiting subjects whose workflow is lost. */
    async databaseRestartStranded(): Promise<SweptPart> {
      const attempt = createAttempts(deps);
      const closed = await restartDeposits(deps, db, attempt);
      await restartAddresses(deps, db, attempt);
      const closedCards = await restartIssuances(deps, db, attempt);
      await restartLoads(deps, db, attempt);
      await restartCardChanges(deps, db, attempt);
      await restartWithdrawals(deps, db, attempt);
      return { full: false, claimed: 0, closed, closedCards };
    },

    /** The oldest file of opening balances that waits. */
    async databaseApplyLedgerImport(): Promise<SweptPart> {
      await applyLedgerImport(deps);
      return DONE;
    },

    /** Notes that a turn ran, with one alert for each part that failed in it, and answers when the next one is. */
    async databaseEndSweep(turn: SweepTurn): Promise<{ waitMs: number }> {
      const { failed, full, beganAt, traceId } = turn;
      for (const part of failed) {
        const detail = `A part of the sweep (${part}) fails while the others go on; the worker's log has the reason.`;
        const subject = { type: 'check', id: 'inbox_sweep' };
        await raiseAlert(db, { key: sweepAlertKey(part), kind: 'sweep_failed', subject, detail, traceId });
      }
      await resolveAlertsExcept(db, ['sweep_failed'], failed.map(sweepAlertKey));
      const run = { name: 'inbox_sweep', beganAt: new Date(beganAt), findings: failed.length };
      await noteCheckRun(db, { ...run, detail: { failed } });
      // At once again while a part was full.
      return { waitMs: full && failed.length === 0 ? 0 : deps.config.SVERKA_SWEEP_INTERVAL };
    },
  };
}

/** Whoever mirrors those balances applies the decision: the row is found also where the console's nudge was lost. */
async function nudgeDecidedBalances(deps: ActivityDeps, attempt: Attempt): Promise<void> {
  const decided = await listDecidedSources(queriesOf(deps.pool));
  await eachOf(decided, async (source) => void (await attempt(() => deps.nudgeBalances(source))));
}

const DONE: SweptPart = { full: false, claimed: 0, closed: [] };

const sweepAlertKey = (part: string) => `sweep_failed:${part}`;

/** Nudges each subject once; answers those whose workflow is closed, which the sweep itself reads (R13). */
async function nudgeEach(
  deps: ActivityDeps,
  rows: readonly ClaimedRow[],
  attempt: Attempt,
): Promise<{ closed: DepositInput[]; closedCards: IssuanceRef[]; payouts: PayoutRef[] }> {
  const payouts: PayoutRef[] = [];
  const closed: DepositInput[] = [];
  const closedCards: IssuanceRef[] = [];
  const bySubject = new Map(rows.map((row) => [`${row.book} ${row.provider} ${row.endpoint} ${row.subjectRef}`, row]));
  await eachOf(bySubject.values(), async (row) => {
    const { book, endpoint: account, subjectRef: ref } = row;
    const traceId = row.traceId ?? newTraceId();
    if (row.subjectType === 'deposit' && row.provider === 'custody') {
      const input: DepositInput = { book, provider: 'custody', account, ref, traceId };
      const outcome = await attempt(() => deps.nudgeDeposit(input, { start: true }));
      // What the provider does not show has been absent since we heard of it.
      if (outcome === 'closed') closed.push({ ...input, absentSince: row.receivedAt.getTime() });
    }
    if (row.subjectType === 'payout' && row.provider === 'custody') {
      const follower = await findPayoutFollower(queriesOf(deps.pool), { book, ref });
      if (follower === null) payouts.push({ book, account, ref, traceId });
      else await attempt(() => deps.nudgeWithdrawal({ book, ...follower, traceId }));
    }
    if (row.provider === 'pert') await attempt(() => deps.nudgeBalances({ book, provider: 'pert', account }));
    if (row.subjectType === 'card' && row.provider === 'issuer') {
      const of: IssuanceRef = { book, provider: 'issuer', account, ref, traceId };
      const record = await findIssuanceOf(queriesOf(deps.pool), of);
      const workflowId = record?.workflowId;
      const outcome =
        workflowId === undefined ? 'closed' : await attempt(() => deps.nudgeIssuance({ workflowId, traceId }));
      if (outcome === 'closed') closedCards.push(of);
    }
  });
  return { closed, closedCards, payouts };
}
