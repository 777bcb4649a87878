import { cancellationSignal, heartbeat } from '@temporalio/activity';
import type { DepositInput, DepositPages, DepositReconcileInput, DepositSeen } from '../contracts/messages.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { type AppliedDeposit, applyDeposits, type DepositStatement, depositPlace } from '../db/apply-deposits.js';
import { BookingRefused } from '../db/book-deposits.js';
import type { DepositSource } from '../db/deposits.js';
import {
  type DueNudge,
  type InboxSubject,
  leaveDueNudges,
  markDone,
  markUnmatched,
  selectWaiting,
} from '../db/inbox.js';
import { noteAbsentDeposit } from '../db/note-absent-deposit.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { lockCursor, moveCursor, readCursor, type SourceKey } from '../db/sources.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import { fitsReported } from '../domain/money.js';
import type { CustodyDeposit, CustodyDepositItem, CustodyDepositPage } from '../providers/custody/schema.js';
import { ProviderError } from '../providers/errors.js';
import { makeTraceparent, newTraceId } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';

export type DepositActivities = ReturnType<typeof createDepositActivities>;

/** A turn over the changes ends after so long, so that its counts reach the history; a few turns for 10 000 items. */
const TURN_MS = 60_000;
const PAGE_LIMIT = 200;

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
      const statement = await readStatement(deps, input);
      if (statement === 'not_found') return await notFound(deps, input, waiting);
      const applied = await applyInTransaction(deps, {
        source: input,
        statements: [statement],
        ticket,
        traceId: input.traceId,
        alongside: (tx, [result]) => settleWaiting(tx, statement, { waiting, result }),
      });
      return seenOf(deps, applied[0]);
    },

    /** Pages a custodian's changes from the kept position; each page's effects and the position commit together. */
    async pageDepositChanges(input: DepositReconcileInput): Promise<DepositPages> {
      const total = { pages: 0, items: 0, changed: 0, unmatched: 0, unreadable: 0, more: true };
      const until = Date.now() + TURN_MS;
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
      return total;
    },
  };
}

function subjectOf(input: DepositInput): InboxSubject {
  return { book: input.book, provider: input.provider, endpoint: input.account, type: 'deposit', ref: input.ref };
}

async function readStatement(deps: ActivityDeps, input: DepositInput): Promise<DepositStatement | 'not_found'> {
  try {
    const record = await deps.custody(input).readDeposit(input.ref, { traceparent: makeTraceparent(input.traceId) });
    const statement = toStatement(record);
    if (statement === null) {
      const reason = 'amount: out of range';
      throw new ProviderError({ kind: 'garbage', provider: input.provider, operation: 'readDeposit', reason });
    }
    return statement;
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'not_found') return 'not_found';
    throw error;
  }
}

function toStatement(record: CustodyDeposit): DepositStatement | null {
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

/** A 404 is never a rejection: asked again, and after a bound left to a person (CASES A08). */
async function notFound(
  deps: ActivityDeps,
  input: DepositInput & { absentMs: number },
  waiting: readonly string[],
): Promise<DepositSeen> {
  const { config } = deps;
  const ended = input.absentMs >= config.SVERKA_UNMATCHED_ALERT_AGE;
  // Not swept, but done by the read that finds it; alerted on after a bound.
  await inTransaction(deps.pool, async (tx) => {
    await noteAbsentDeposit(tx, input, { ref: input.ref, tooLong: ended, traceId: input.traceId });
    await markUnmatched(tx, waiting, { reason: 'not_at_provider', waitsFor: null });
  });
  // Twice as long each time, until once a minute.
  const waitMs = Math.min(Math.max(input.absentMs, config.SVERKA_DEPOSIT_NOT_FOUND_INTERVAL), 60_000);
  const reason = 'not_at_provider';
  return { state: 'not_found', depositId: null, merchantId: null, reason, needsOperator: ended, ended, waitMs };
}

interface ApplyRequest {
  readonly source: DepositSource;
  readonly statements: readonly DepositStatement[];
  readonly ticket: bigint;
  readonly traceId: string;
  /** What commits together with it: before (`true` to go on) and after the apply. */
  readonly before?: (tx: Tx) => Promise<boolean>;
  readonly alongside: (tx: Tx, applied: readonly AppliedDeposit[]) => Promise<void>;
}

/** One transaction; run again with those parked that the journal refused, so that they never spoil the others. */
async function applyInTransaction(deps: ActivityDeps, request: ApplyRequest): Promise<AppliedDeposit[]> {
  const refused = new Map<string, string>();
  const actor = `worker:${request.source.provider}`;
  for (;;) {
    try {
      return await inTransaction(deps.pool, async (tx) => {
        if (request.before && !(await request.before(tx))) return [];
        const applied = await applyDeposits(tx, { ...request, actor, refused });
        await request.alongside(tx, applied);
        return applied;
      });
    } catch (error) {
      const more = error instanceof BookingRefused ? [...error.reasons].filter(([ref]) => !refused.has(ref)) : [];
      // Each turn parks one more at least, so this ends.
      if (more.length === 0) throw error;
      for (const [ref, reason] of more) refused.set(ref, reason);
    }
  }
}

async function settleWaiting(
  tx: Tx,
  statement: DepositStatement,
  { waiting, result }: { waiting: readonly string[]; result: AppliedDeposit | undefined },
): Promise<void> {
  if (result?.outcome === 'stale') return;
  if (result?.outcome !== 'unmatched') return markDone(tx, waiting);
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

type PageCounts = Omit<DepositPages, 'pages'>;

async function applyNextPage(deps: ActivityDeps, input: DepositReconcileInput): Promise<PageCounts> {
  const db = queriesOf(deps.pool);
  const key: SourceKey = { ...input, feed: 'deposits' };
  const after = await readCursor(db, key);
  const ticket = await takeReadTicket(db);
  const traceId = newTraceId();
  const page = await deps
    .custody(input)
    .readDepositChanges({ after, limit: PAGE_LIMIT }, { traceparent: makeTraceparent(traceId) });

  const read = page.items.map(sortItem);
  const unreadable = read.flatMap((item) => (item.ok ? [] : [item]));
  const applied = await applyInTransaction(deps, {
    source: input,
    statements: read.flatMap((item) => (item.ok ? [item.statement] : [])),
    ticket,
    traceId,
    // Another reader has moved the position meanwhile: this page is thrown away.
    before: (tx) => lockCursor(tx, key, after),
    alongside: async (tx, results) => {
      await leaveDueNudges(tx, dueNudges(input, { read, results, traceId }));
      await tellUnreadable(tx, input, { count: unreadable.length, traceId });
      await moveOn(tx, key, { page, after, traceId });
    },
  });
  for (const { ref, before } of applied.filter((item) => followed(item))) {
    await deps.nudgeDeposit({ ...input, ref, traceId }, { start: before === null });
  }
  return {
    items: page.items.length,
    changed: applied.filter((item) => item.outcome === 'changed').length,
    unmatched: applied.filter((item) => item.outcome === 'unmatched').length,
    unreadable: unreadable.length,
    more: page.hasMore && nextOf(page, after) !== null,
  };
}

type ReadItem =
  | { readonly ok: true; readonly ref: string; readonly statement: DepositStatement }
  | { readonly ok: false; readonly ref: string | null };

function sortItem(item: CustodyDepositItem): ReadItem {
  const statement = item.ok ? toStatement(item.record) : null;
  const ref = item.ok ? item.record.id : item.id;
  return statement === null ? { ok: false, ref } : { ok: true, ref: statement.ref, statement };
}

/** What the page cannot apply now comes again as a nudge, left in the page's own commit; then the cursor may pass. */
function dueNudges(
  input: DepositReconcileInput,
  page: { read: readonly ReadItem[]; results: readonly AppliedDeposit[]; traceId: string },
): DueNudge[] {
  const results = new Map(page.results.map((result) => [result.ref, result]));
  return page.read.flatMap((item): DueNudge[] => {
    if (item.ref === null) return [];
    const due = { ...subjectOf({ ...input, ref: item.ref, traceId: page.traceId }), traceId: page.traceId };
    if (!item.ok) return [{ ...due, status: 'parked', reason: 'unreadable_record', waitsFor: null }];
    const outcome = results.get(item.ref)?.outcome;
    if (outcome === 'stale') return [{ ...due, status: 'pending', reason: 'stale_answer', waitsFor: null }];
    if (outcome !== 'unmatched') return [];
    return [{ ...due, status: 'unmatched', reason: 'unknown_address', waitsFor: depositPlace(item.statement) }];
  });
}

async function tellUnreadable(
  tx: Tx,
  input: DepositReconcileInput,
  { count, traceId }: { count: number; traceId: string },
): Promise<void> {
  if (count === 0) return;
  await raiseAlert(tx, {
    key: `unreadable:${input.provider}:${input.account}`,
    kind: 'unreadable_record',
    book: input.book,
    detail: `${count} record(s) of a page are outside the contract and were parked; show them to the provider.`,
    traceId,
  });
}

/** Where to read on; a page that says there is more and leads back to itself names nothing, like one without (R3). */
function nextOf(page: CustodyDepositPage, after: string | null): string | null {
  return page.hasMore && page.nextCursor === after ? null : page.nextCursor;
}

async function moveOn(
  tx: Tx,
  key: SourceKey,
  { page, after, traceId }: { page: CustodyDepositPage; after: string | null; traceId: string },
): Promise<void> {
  const alertKey = `cursor_missing:${key.provider}:${key.account}:${key.feed}`;
  const missing = await moveCursor(tx, key, nextOf(page, after));
  // An empty feed that was never read has nothing to point at.
  if (missing > 1 && (after !== null || page.items.length > 0)) {
    const detail = 'A page came without a next cursor again; its items were stored and the old position kept (R3).';
    await raiseAlert(tx, { key: alertKey, kind: 'cursor_missing', book: key.book, detail, traceId });
  } else if (missing === 0) {
    await resolveAlert(tx, alertKey);
  }
}

/** A new deposit that goes on needs its workflow; one that waited has a workflow that should look. */
function followed({ outcome, before, record }: AppliedDeposit): boolean {
  if (outcome !== 'changed' || record === null) return false;
  const goesOn = record.state === 'noticed' || record.state === 'confirming';
  return goesOn ? before === null : before !== null && before !== record.state;
}
