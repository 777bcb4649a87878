import { raiseAlert, resolveAlert } from '../db/alerts.js';
import { notePageOfCheck, type OpenBalanceCheck } from '../db/balance-checks.js';
import {
  type BalanceSource,
  type BalanceSourceKey,
  lockBalanceSource,
  type Mirrored,
  mirrorTransactions,
  quarantineBalanceItems,
} from '../db/balance-mirror.js';
import { retrying } from '../db/retrying.js';
import { lockCursor, moveCursor, type SourceKey } from '../db/sources.js';
import { inTransaction, type Tx } from '../db/transaction.js';
import { balanceSourceKey } from '../domain/balance.js';
import type { PertChanges } from '../providers/pert/client.js';
import { compareCursors } from '../providers/pert/cursor.js';
import { makeTraceparent } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';

/** As in the provider's own example; at most 1 000. A transaction of ours with so many items takes some 30 ms. */
const PAGE_LIMIT = 500;

type Page = Extract<PertChanges, { readonly tooOld: false }>;

/** What a page of the journal came to. */
export interface BalancePage extends Mirrored {
  readonly items: number;
  readonly bad: number;
  /**
   * `caught_up`: nothing lies between our position and the snapshot; `stuck`: something may, and the page did not say
   * where it goes on; `too_old`: the journal does not reach back so far.
   */
  readonly next: 'more' | 'caught_up' | 'stuck' | 'too_old';
}

/** What a page hands to the page after it, within one turn of an activity. */
export interface PageTurn {
  /** Where it left off, so that nothing is read twice: its commit holds only from that position (`lockCursor`). */
  at?: PagePosition | undefined;
  /** The page behind, read while it was applied: entries of a journal never change. */
  next?: { readonly position: string; readonly page: Promise<PertChanges> } | undefined;
}

/** A position of the journal on the way to a check's snapshot. */
interface PagePosition {
  readonly check: OpenBalanceCheck;
  readonly position: string;
}

/** The page that is read there, in a turn or by itself. */
export type Reading = PagePosition & { readonly turn?: PageTurn | undefined };

const NOTHING: Omit<BalancePage, 'next'> = { items: 0, bad: 0, stored: 0, moved: 0, stale: 0, conflicts: 0, gaps: 0 };

/** Where the position of a source's journal is kept. */
export function journalOf(key: BalanceSourceKey): SourceKey {
  return { ...key, feed: 'changes' };
}

/**
 * Reads the next page of the journal towards the snapshot of a check, never beyond it, and applies it: effects and
 * position commit together.
 */
export async function applyJournalPage(deps: ActivityDeps, key: BalanceSourceKey, of: Reading): Promise<BalancePage> {
  const { check, position } = of;
  const read = await readTowards(deps, key, of);
  if (read === 'too_old') return { ...NOTHING, next: 'too_old' };
  if (read === null) return { ...NOTHING, next: 'caught_up' };
  const { page, limit } = read;
  const { cursor, isBack, isStuck } = whereItLeads(page, { position, limit });
  const good = page.items.flatMap((item) => (item.ok ? [item.transaction] : []));
  const bad = page.items.flatMap((item) => (item.ok ? [] : [item]));
  const applied = await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      // First of all, as everywhere: who takes these locks in another order meets a reset in a deadlock.
      const source = await lockBalanceSource(tx, key);
      // Another reader has moved the position meanwhile: this page is thrown away.
      if (!(await lockCursor(tx, journalOf(key), position))) return null;
      const mirroring = mirrorTransactions(tx, { sourceId: source.id, fromJournal: !isBack }, good);
      // The database works on what was just sent: meanwhile the page behind is read.
      if (cursor !== null) readAhead(deps, key, { ...of, position: cursor, page });
      const mirrored = await mirroring;
      await keepBad(tx, { key, source, sinceCursor: position, limit, traceId: check.traceId }, bad);
      await notePageOfCheck(tx, { id: check.id, items: page.items.length });
      await moveOn(tx, key, { next: cursor, isEmpty: page.items.length === 0, traceId: check.traceId });
      return { mirrored, isDecided: source.isDecided };
    }),
  );
  if (applied === null) return { ...NOTHING, next: 'more' };
  // What a person has decided comes before the next page.
  const goesOn = cursor !== null && isBefore(cursor, check) && !applied.isDecided;
  if (of.turn !== undefined && goesOn) of.turn.at = { check, position: cursor };
  const next = cursor !== null ? 'more' : isStuck ? 'stuck' : 'caught_up';
  return { ...applied.mirrored, items: page.items.length, bad: bad.length, next };
}

/**
 * `cursor`: the next position; null keeps the old one. One that does not lead on may be that of the page before
 * (`isBack`): what it holds may be in our sums already, so it is shown and never counted.
 */
function whereItLeads(
  { nextCursor, items, hasMore }: Page,
  { position, limit }: { position: string; limit: number },
): { cursor: string | null; isBack: boolean; isStuck: boolean } {
  if (nextCursor === null) return { cursor: null, isBack: false, isStuck: hasMore || items.length >= limit };
  if (compareCursors(nextCursor, position) > 0) return { cursor: nextCursor, isBack: false, isStuck: false };
  return { cursor: null, isBack: true, isStuck: items.length > 0 };
}

/**
 * The longest page that does not pass the snapshot: only at its own cursor can our sum be compared with it. A page that
 * would pass is asked for again, shorter: that cursor is a place between two items. Null when none fits.
 */
async function readTowards(
  deps: ActivityDeps,
  key: BalanceSourceKey,
  of: Reading,
): Promise<{ page: Page; limit: number } | 'too_old' | null> {
  const { cursor: goal } = of.check.snapshot;
  const fits = ({ nextCursor }: Page) => nextCursor === null || compareCursors(nextCursor, goal) <= 0;
  const whole = await readWhole(deps, key, of);
  if (whole.tooOld) return 'too_old';
  if (fits(whole)) return { page: whole, limit: PAGE_LIMIT };
  let best: { page: Page; limit: number } | null = null;
  for (let [least, most] = [1, whole.items.length - 1]; least <= most; ) {
    const limit = Math.ceil((least + most) / 2);
    const page = await readChanges(deps, key, { ...of, limit });
    if (page.tooOld) return 'too_old';
    if (fits(page)) {
      best = { page, limit };
      if (page.nextCursor === goal) return best;
      least = limit + 1;
    } else {
      most = limit - 1;
    }
  }
  return best;
}

/** The page at the position: the one that was read ahead, or read now. */
async function readWhole(deps: ActivityDeps, key: BalanceSourceKey, of: Reading): Promise<PertChanges> {
  const { position, turn } = of;
  const next = turn?.next;
  if (turn !== undefined) turn.next = undefined;
  return next?.position === position ? next.page : readChanges(deps, key, { ...of, limit: PAGE_LIMIT });
}

/** Begins to read the page at that position, where the page before says that there is one before the snapshot. */
function readAhead(deps: ActivityDeps, key: BalanceSourceKey, of: Reading & { readonly page: Page }): void {
  const { check, position, turn, page } = of;
  if (turn === undefined || turn.next !== undefined || !page.hasMore || !isBefore(position, check)) return;
  const next = readChanges(deps, key, { check, position, limit: PAGE_LIMIT });
  // Whoever takes it hears of its failure; nobody may.
  next.catch(() => undefined);
  turn.next = { position, page: next };
}

/** Something lies between that position and the check's snapshot. */
function isBefore(position: string, check: OpenBalanceCheck): boolean {
  return compareCursors(position, check.snapshot.cursor) < 0;
}

function readChanges(
  deps: ActivityDeps,
  key: BalanceSourceKey,
  { check, position, limit }: PagePosition & { readonly limit: number },
): Promise<PertChanges> {
  const by = { traceparent: makeTraceparent(check.traceId) };
  return deps.pert(key).readChanges({ sinceCursor: position, limit }, by);
}

async function keepBad(
  tx: Tx,
  of: { key: BalanceSourceKey; source: BalanceSource; sinceCursor: string; limit: number; traceId: string },
  bad: readonly { readonly id: string | null; readonly raw: string; readonly reason: string }[],
): Promise<void> {
  const { key, source, sinceCursor, limit, traceId } = of;
  const place = { sourceId: source.id, sinceCursor, limit, baseNumber: source.baseNumber };
  if ((await quarantineBalanceItems(tx, place, bad)) === 0) return;
  await raiseAlert(tx, {
    key: badItemsKey(key),
    kind: 'unreadable_record',
    book: key.book,
    subject: { type: 'balance_source', id: balanceSourceKey(key) },
    detail: 'Items of the journal are outside the contract: kept, passed by, and tried again. Tell the provider.',
    traceId,
  });
}

/** The alert of a source's items that cannot be read. */
export function badItemsKey({ provider, account }: BalanceSourceKey): string {
  return `bad_items:${provider}:${account}`;
}

/** A page without a next cursor, or that leads back to itself, keeps the old position (R3). */
async function moveOn(
  tx: Tx,
  key: BalanceSourceKey,
  { next, isEmpty, traceId }: { next: string | null; isEmpty: boolean; traceId: string },
): Promise<void> {
  const alertKey = `cursor_missing:${key.provider}:${key.account}:changes`;
  const missing = await moveCursor(tx, journalOf(key), next);
  if (missing > 1 && !isEmpty) {
    const detail = 'A page came without a next cursor again; its items were stored and the old position kept (R3).';
    const subject = { type: 'balance_source', id: balanceSourceKey(key) };
    await raiseAlert(tx, { key: alertKey, kind: 'cursor_missing', book: key.book, subject, detail, traceId });
  } else if (missing === 0) {
    await resolveAlert(tx, alertKey);
  }
}
