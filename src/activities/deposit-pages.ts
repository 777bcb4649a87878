import type { DepositPages, DepositReconcileInput } from '../contracts/messages.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { type AppliedDeposit, type DepositStatement, depositPlace } from '../db/apply-deposits.js';
import { type DueNudge, leaveDueNudges } from '../db/due-nudges.js';
import { lockWaiting, markBuriedDone, markDone, selectAllWaiting } from '../db/inbox.js';
import { takeReadTicket } from '../db/read-tickets.js';
import { lockCursor, moveCursor, readCursor, type SourceKey } from '../db/sources.js';
import { queriesOf, type Tx } from '../db/transaction.js';
import type { CustodyDepositItem, CustodyDepositPage } from '../providers/custody/schema.js';
import { makeTraceparent, newTraceId } from '../telemetry/trace.js';
import { applyReads, toStatement } from './apply-reads.js';
import type { ActivityDeps } from './deps.js';
import { isRefusedRow } from './row-faults.js';

const PAGE_LIMIT = 200;

/** What one page came to. */
type PageCounts = Omit<DepositPages, 'pages'>;

/** Reads the next page of a custodian's changes and applies it; its effects and the position commit together. */
export async function applyNextPage(deps: ActivityDeps, input: DepositReconcileInput): Promise<PageCounts> {
  const db = queriesOf(deps.pool);
  const key: SourceKey = { ...input, feed: 'deposits' };
  const after = await readCursor(db, key);
  // Before the read, as for a single one: only what waited then is done by it.
  const of = { book: input.book, provider: input.provider, endpoint: input.account, type: 'deposit' };
  const waiting = await selectAllWaiting(db, of);
  const ticket = await takeReadTicket(db);
  const traceId = newTraceId();
  const page = await deps
    .custody(input)
    .readDepositChanges({ after, limit: PAGE_LIMIT }, { traceparent: makeTraceparent(traceId) });

  const read = page.items.map(sortItem);
  const refs = new Set(read.map(({ ref }) => ref));
  const spokenOf = waiting.filter(({ ref }) => refs.has(ref));
  const unreadable = read.filter((item) => !item.ok).length;
  const apply = (statements: readonly DepositStatement[]) =>
    applyReads(deps, {
      source: input,
      statements,
      ticket,
      traceId,
      // Another reader has moved the position meanwhile: this page is thrown away.
      before: (tx) => lockCursor(tx, key, after),
      lockInbox: (tx) => lockWaiting(tx, spokenOf),
      alongside: async (tx, results) => {
        const settled = new Set(results.filter(isRead).map(({ ref }) => ref));
        await markDone(
          tx,
          spokenOf.filter(({ ref }) => settled.has(ref)),
        );
        await markBuriedDone(tx, of, [...settled]);
        await leaveDueNudges(tx, { of, ticket, traceId }, dueNudges(read, results));
        await tellUnreadable(tx, input, { count: unreadable, traceId });
        await moveOn(tx, key, { page, after, traceId });
      },
    });
  const statements = read.flatMap((item) => (item.ok ? [item.statement] : []));
  // The database refuses one of them, and which is not known: each comes again alone, so that only that one dies.
  const applied = await apply(statements).catch((error: unknown) => {
    if (isRefusedRow(error)) return apply([]);
    throw error;
  });
  for (const { ref, before } of applied.filter((item) => followed(item))) {
    await deps.nudgeDeposit({ ...input, ref, traceId }, { start: before === null });
  }
  return {
    items: page.items.length,
    changed: applied.filter((item) => item.outcome === 'changed').length,
    unmatched: applied.filter((item) => item.outcome === 'unmatched').length,
    unreadable,
    more: page.hasMore && nextOf(page, after) !== null,
  };
}

/** The page said what the custodian says of it now. */
function isRead({ outcome }: AppliedDeposit): boolean {
  return outcome === 'changed' || outcome === 'unchanged';
}

type ReadItem =
  | { readonly ok: true; readonly ref: string; readonly statement: DepositStatement }
  | { readonly ok: false; readonly ref: string | null; readonly reason: 'unreadable_record' | 'amount_out_of_range' };

function sortItem(item: CustodyDepositItem): ReadItem {
  if (!item.ok) return { ok: false, ref: item.id, reason: 'unreadable_record' };
  const statement = toStatement(item.record);
  if (statement === null) return { ok: false, ref: item.record.id, reason: 'amount_out_of_range' };
  return { ok: true, ref: statement.ref, statement };
}

/** What the page could not apply now comes again as a nudge, left in the page's commit; then the cursor may pass. */
function dueNudges(read: readonly ReadItem[], results: readonly AppliedDeposit[]): DueNudge[] {
  const outcomes = new Map(results.map(({ ref, outcome }) => [ref, outcome]));
  return read.flatMap((item): DueNudge[] => {
    const { ref } = item;
    if (ref === null) return [];
    const due = { ref, status: 'pending', waitsFor: null } as const;
    if (!item.ok) return [{ ...due, reason: item.reason }];
    const outcome = outcomes.get(ref);
    if (outcome === undefined) return [{ ...due, reason: 'applied_alone' }];
    if (outcome === 'stale') return [{ ...due, reason: 'stale_answer' }];
    if (outcome !== 'unmatched') return [];
    return [{ ref, status: 'unmatched', reason: 'unknown_address', waitsFor: depositPlace(item.statement) }];
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
    detail: `${count} record(s) of a page are outside the contract: each is tried again alone. Tell the provider.`,
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
