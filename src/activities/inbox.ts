import type { DepositAddressInput, DepositInput, SweepTurn, SweptPart } from '../contracts/messages.js';
import { raiseAlert, resolveAlertsExcept } from '../db/alerts.js';
import { noteCheckRun } from '../db/check-runs.js';
import { closeAppliedDeadLetters } from '../db/dead-letters.js';
import { readDepositAddress, strandedDepositAddresses } from '../db/deposit-addresses.js';
import { strandedDeposits } from '../db/deposits.js';
import { alertUnmatched, type ClaimedRow, claimDecided, claimPending, resolveUnreadable } from '../db/inbox.js';
import { findRequest } from '../db/requests.js';
import { seal } from '../db/seal.js';
import { queriesOf, type Tx } from '../db/transaction.js';
import { newTraceId } from '../telemetry/trace.js';
import { applyDeadLetterDecisions } from './decisions.js';
import type { ActivityDeps } from './deps.js';
import { applyLedgerImport } from './ledger-imports.js';

export type InboxActivities = ReturnType<typeof createInboxActivities>;

const ROWS_PER_SWEEP = 100;
const SEALED_PER_SWEEP = 1_000;
/** Calls to Temporal at the same time. */
const CALLS_AT_ONCE = 10;
/** Subjects that may fail in one part before Temporal itself is taken to be away. */
const FAILURES_PER_PART = 3;

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

    /** Overdue notifications and what people decided on deposits. */
    async databaseNudgeOverdue(): Promise<SweptPart> {
      const { SVERKA_SWEEP_GRACE: graceMs, SVERKA_SWEEP_LEASE: leaseMs } = deps.config;
      const limits = { most: ROWS_PER_SWEEP, graceMs, leaseMs };
      const decided = await claimDecided(db, limits);
      const rows = await claimPending(db, limits);
      const closed = await nudgeEach(deps, [...decided, ...rows], createAttempts(deps));
      return { full: rows.length === ROWS_PER_SWEEP, claimed: rows.length, closed };
    },

    /** Waiting subjects whose workflow is lost. */
    async databaseRestartStranded(): Promise<SweptPart> {
      const attempt = createAttempts(deps);
      const closed = await restartDeposits(deps, db, attempt);
      await restartAddresses(deps, db, attempt);
      return { full: false, claimed: 0, closed };
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

const DONE: SweptPart = { full: false, claimed: 0, closed: [] };

const sweepAlertKey = (part: string) => `sweep_failed:${part}`;

/** Runs one call to Temporal; null for one that failed, so that one subject never stops the sweep of the others. */
type Attempt = <T>(call: () => Promise<T>) => Promise<T | null>;

function createAttempts(deps: ActivityDeps): Attempt {
  let failures = 0;
  return async (call) => {
    if (failures > FAILURES_PER_PART) throw new Error('Temporal takes nothing now; the rest of this part is left.');
    try {
      return await call();
    } catch (error) {
      failures += 1;
      // Then it is Temporal and not the subject: the part is tried again.
      if (failures > FAILURES_PER_PART) throw error;
      deps.log.warn('a swept subject could not be passed on', {
        code: error instanceof Error ? error.name : 'unknown',
      });
      return null;
    }
  };
}

/** Works on all of them, so many at a time; throws the first error. */
async function eachOf<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: CALLS_AT_ONCE }, lane));
}

/** Nudges each subject once; answers those whose workflow is closed, which the sweep itself reads (R13). */
async function nudgeEach(deps: ActivityDeps, rows: readonly ClaimedRow[], attempt: Attempt): Promise<DepositInput[]> {
  const closed: DepositInput[] = [];
  const bySubject = new Map(rows.map((row) => [`${row.book} ${row.endpoint} ${row.subjectRef}`, row]));
  await eachOf(bySubject.values(), async (row) => {
    if (row.subjectType !== 'deposit' || row.provider !== 'custody') return;
    const { book, endpoint: account, subjectRef: ref } = row;
    const input: DepositInput = { book, provider: 'custody', account, ref, traceId: row.traceId ?? newTraceId() };
    const outcome = await attempt(() => deps.nudgeDeposit(input, { start: true }));
    // What the provider does not show has been absent since we heard of it.
    if (outcome === 'closed') closed.push({ ...input, absentSince: row.receivedAt.getTime() });
  });
  return closed;
}

/** The rows are the truth: a waiting deposit whose workflow was lost gets one again, or is read by the sweep. */
async function restartDeposits(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<DepositInput[]> {
  const closed: DepositInput[] = [];
  const stranded = await strandedDeposits(db, deps.config.SVERKA_STRANDED_AGE);
  await eachOf(stranded, async ({ book, provider, account, ref }) => {
    if (provider !== 'custody') return;
    const input: DepositInput = { book, provider, account, ref, traceId: newTraceId() };
    const outcome = await attempt(() => deps.nudgeDeposit(input, { start: true, leaveRunning: true }));
    if (outcome === 'closed') closed.push(input);
  });
  return closed;
}

/** The same for an address: it is made from its row and the request behind it. */
async function restartAddresses(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<void> {
  const stranded = await strandedDepositAddresses(db, deps.config.SVERKA_STRANDED_AGE);
  await eachOf(stranded, async ({ id, requestId }) => {
    const address = await readDepositAddress(db, id);
    const request = await findRequest(db, requestId);
    if (!request || address.provider !== 'custody') return;
    const { key, method, path } = request;
    const input: DepositAddressInput = {
      book: address.book,
      provider: 'custody',
      account: address.providerAccount,
      merchantId: address.merchantId,
      request: { id: requestId, key, method, path, fingerprint: request.fingerprint.toString('hex') },
      customerRef: address.customerRef,
      network: address.network,
      asset: address.asset,
      settlementMode: address.settlementMode,
      settlementAsset: address.settlementAsset,
      traceId: request.traceId ?? newTraceId(),
    };
    await attempt(() => deps.startDepositAddress(input));
  });
}
