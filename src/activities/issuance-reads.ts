import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { IssuancePages, IssuanceReconcileInput, IssuanceRef, IssuanceSeen } from '../contracts/messages.js';
import { noteCheckRun } from '../db/check-runs.js';
import { failIssuance, suspectIssuance } from '../db/finish-issuance.js';
import { findIssuanceOf, issuancesToRead, readIssuance } from '../db/issuances.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, queriesOf } from '../db/transaction.js';
import { RUN_LOST } from '../domain/issuance.js';
import { ProviderError } from '../providers/errors.js';
import type { ActivityDeps } from './deps.js';
import { type OfIssuance, seen, whereItStands } from './issuance-seen.js';
import { keepUnmatched, readAndApply } from './read-issuance.js';

export type IssuanceReadActivities = ReturnType<typeof createIssuanceReadActivities>;

const ACTOR = 'worker:issuer';
/** Issuances asked about in one page of the reconciliation. */
const PAGE = 50;

/** Asking the issuer about an issuance: by its workflow, by the sweep, by the reconciliation. */
export function createIssuanceReadActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  return {
    /** Reads it by our reference and applies the answer, with what a person has decided. */
    async providerReadIssuance(of: OfIssuance & { looks: number }): Promise<IssuanceSeen> {
      const record = await readIssuance(db, of.id);
      const { applied, absent } = await readAndApply(deps, record, of);
      if (applied.outcome === 'stale') return seen(applied.record, { next: 'look', waitMs: null });
      return whereItStands(deps, applied.record, absent ? of.looks : undefined);
    },

    /** The same for a notification that nobody follows any more (R13); one that names nothing of ours is kept. */
    async providerReadIssuanceOf(of: IssuanceRef): Promise<{ state: string }> {
      const record = await findIssuanceOf(db, of);
      if (!record) return { state: await keepUnmatched(deps, of) };
      // Of a run that has ended before it sent anything nobody will: nothing was made. After that nobody knows.
      if (record.state === 'reserved') {
        const lost = { id: record.id, reason: RUN_LOST, actor: ACTOR, traceId: of.traceId };
        const { state } = await retrying(() => inTransaction(deps.pool, (tx) => failIssuance(tx, lost)));
        return { state };
      }
      const who = { id: record.id, actor: ACTOR, traceId: of.traceId };
      if (record.state === 'submitted')
        await retrying(() => inTransaction(deps.pool, (tx) => suspectIssuance(tx, who)));
      const { applied } = await readAndApply(deps, record, { traceId: of.traceId, looks: 0, ref: of.ref });
      return { state: applied.record.state };
    },

    /** Asks about every issuance that waits, page by page from `after`; one that cannot be read stops no other. */
    async pageIssuances(
      input: IssuanceReconcileInput & { after: string | null; traceId: string },
    ): Promise<IssuancePages> {
      const turn: IssuancePages = { read: 0, changed: 0, failed: 0, after: input.after };
      const beganAt = new Date();
      const until = beganAt.getTime() + deps.config.SVERKA_PAGE_TURN;
      while (Date.now() < until) {
        const lateMs = deps.config.SVERKA_FOUND_LATE_AGE;
        const ids = await issuancesToRead(db, { ...input, after: turn.after, limit: PAGE, lateMs });
        for (const id of ids) await readOne(deps, { id, traceId: input.traceId }, turn);
        turn.after = ids.length < PAGE ? null : (ids.at(-1) ?? null);
        if (turn.after === null) break;
      }
      if (turn.after === null) {
        const name = `issuance_reconcile:${input.provider}:${input.account}`;
        await noteCheckRun(db, { name, beganAt, findings: turn.failed, detail: turn });
      }
      return turn;
    },
  };
}

/** One look of the reconciliation; what went wrong with it is counted, and the next one is looked at. */
async function readOne(deps: ActivityDeps, of: OfIssuance, turn: IssuancePages): Promise<void> {
  heartbeat();
  // The worker stops: what is read is committed, another attempt begins again.
  cancellationSignal().throwIfAborted();
  try {
    const record = await readIssuance(queriesOf(deps.pool), of.id);
    const { applied } = await readAndApply(deps, record, { ...of, looks: record.looks });
    turn.read += 1;
    if (applied.outcome === 'changed') turn.changed += 1;
  } catch (error) {
    // Wrong for all of them, or not called at all: the schedule comes again.
    if (error instanceof ProviderError && (error.kind === 'misconfigured' || error.kind === 'breaker_open'))
      throw error;
    turn.failed += 1;
    const code = error instanceof ProviderError ? error.kind : error instanceof Error ? error.name : 'unknown';
    deps.log.warn('an issuance could not be read', { issuance_id: of.id, trace_id: of.traceId, code });
  }
}
