import type { DepositAddressInput, DepositInput, SweptInbox } from '../contracts/messages.js';
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
/** A claimed row that nobody marked as done comes again after this long. */
const LEASE_MS = 60_000;
const SEALED_PER_SWEEP = 1_000;
/** Subjects that may fail in one turn before Temporal itself is taken to be away. */
const FAILURES_PER_SWEEP = 3;

/** Finding what nobody came for. */
export function createInboxActivities(deps: ActivityDeps) {
  return {
    /** One turn of the sweep: numbering, decisions, overdue notifications, lost workflows, opening balances. */
    async databaseSweepInbox(): Promise<SweptInbox> {
      const { config } = deps;
      const db = queriesOf(deps.pool);
      // First what needs no other party.
      const sealed = await seal(db, SEALED_PER_SWEEP);
      await alertUnmatched(db, config.SVERKA_UNMATCHED_ALERT_AGE);
      await applyDeadLetterDecisions(deps, db);
      await closeAppliedDeadLetters(db);
      await resolveUnreadable(db);
      const attempt = createAttempts(deps);
      const limits = { most: ROWS_PER_SWEEP, graceMs: config.SVERKA_SWEEP_GRACE, leaseMs: LEASE_MS };
      const decided = await claimDecided(db, limits);
      const rows = await claimPending(db, limits);
      const nudged = await nudgeEach(deps, [...decided, ...rows], attempt);
      const restarted = await restartDeposits(deps, db, attempt);
      await restartAddresses(deps, db, attempt);
      await applyLedgerImport(deps);
      // At once again while a turn was full.
      const full = rows.length === ROWS_PER_SWEEP || sealed >= SEALED_PER_SWEEP;
      return {
        claimed: rows.length,
        closed: [...nudged, ...restarted],
        waitMs: full ? 0 : config.SVERKA_SWEEP_INTERVAL,
      };
    },
  };
}

/** Runs one call to Temporal; null for one that failed, so that one subject never stops the sweep of the others. */
type Attempt = <T>(call: () => Promise<T>) => Promise<T | null>;

function createAttempts(deps: ActivityDeps): Attempt {
  let failures = 0;
  return async (call) => {
    try {
      return await call();
    } catch (error) {
      failures += 1;
      // Then it is Temporal and not the subject: the turn is tried again.
      if (failures > FAILURES_PER_SWEEP) throw error;
      deps.log.warn('a swept subject could not be passed on', {
        code: error instanceof Error ? error.name : 'unknown',
      });
      return null;
    }
  };
}

/** Nudges each subject once; answers those whose workflow is closed, which the sweep itself reads (R13). */
async function nudgeEach(deps: ActivityDeps, rows: readonly ClaimedRow[], attempt: Attempt): Promise<DepositInput[]> {
  const closed: DepositInput[] = [];
  const bySubject = new Map(rows.map((row) => [`${row.book} ${row.endpoint} ${row.subjectRef}`, row]));
  for (const row of bySubject.values()) {
    if (row.subjectType !== 'deposit' || row.provider !== 'custody') continue;
    const { book, endpoint: account, subjectRef: ref } = row;
    const input: DepositInput = { book, provider: 'custody', account, ref, traceId: row.traceId ?? newTraceId() };
    const outcome = await attempt(() => deps.nudgeDeposit(input, { start: true }));
    // What the provider does not show has been absent since we heard of it.
    if (outcome === 'closed') closed.push({ ...input, absentSince: row.receivedAt.getTime() });
  }
  return closed;
}

/** The rows are the truth: a waiting deposit whose workflow was lost gets one again, or is read by the sweep. */
async function restartDeposits(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<DepositInput[]> {
  const closed: DepositInput[] = [];
  for (const { book, provider, account, ref } of await strandedDeposits(db, deps.config.SVERKA_STRANDED_AGE)) {
    if (provider !== 'custody') continue;
    const input: DepositInput = { book, provider, account, ref, traceId: newTraceId() };
    const outcome = await attempt(() => deps.nudgeDeposit(input, { start: true, leaveRunning: true }));
    if (outcome === 'closed') closed.push(input);
  }
  return closed;
}

/** The same for an address: it is made from its row and the request behind it. */
async function restartAddresses(deps: ActivityDeps, db: Tx, attempt: Attempt): Promise<void> {
  for (const { id, requestId } of await strandedDepositAddresses(db, deps.config.SVERKA_STRANDED_AGE)) {
    const address = await readDepositAddress(db, id);
    const request = await findRequest(db, requestId);
    if (!request || address.provider !== 'custody') continue;
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
  }
}
