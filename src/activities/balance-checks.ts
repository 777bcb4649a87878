import { toBalanceCheck } from '../contracts/balance.js';
import { raiseAlert, resolveAlert } from '../db/alerts.js';
import {
  beginBalanceCheck,
  type ComparedCurrency,
  compareBalances,
  endBalanceCheck,
  findOpenCheck,
  noteDifferences,
  type OpenBalanceCheck,
  takeOperatorCheck,
} from '../db/balance-checks.js';
import { findBalanceCheck } from '../db/balance-listing.js';
import {
  type BalanceSource,
  type BalanceSourceKey,
  lockBalanceSource,
  moveBalanceBase,
  noteBalanceAction,
  readBalanceSource,
  stateBalances,
} from '../db/balance-mirror.js';
import { findBalanceSource, hashSeenBalances, noteBalanceRebase } from '../db/balance-sources.js';
import { noteCheckRun } from '../db/check-runs.js';
import { closeDecision, openDecisions } from '../db/decisions.js';
import { insertEvents } from '../db/events.js';
import { retrying } from '../db/retrying.js';
import { moveCursor, readCursor } from '../db/sources.js';
import { inTransaction, queriesOf, type Tx } from '../db/transaction.js';
import type { BalanceCheckResult, BalanceCheckTrigger, BalanceSnapshot } from '../domain/balance.js';
import { balanceSourceKey } from '../domain/balance.js';
import { compareCursors } from '../providers/pert/cursor.js';
import { makeTraceparent, newTraceId } from '../telemetry/trace.js';
import { retryBadItems } from './balance-bad-items.js';
import { applyJournalPage, type BalancePage, journalOf, type PageTurn, type Reading } from './balance-pages.js';
import type { ActivityDeps } from './deps.js';

/** What one step of a check came to; `null` where there is no step to take now. `overtaken`: another worker took it. */
export type BalanceStep =
  | { readonly kind: 'begun' | 'overtaken' }
  | { readonly kind: 'page'; readonly page: BalancePage }
  | { readonly kind: 'ended'; readonly result: BalanceCheckResult };

/**
 * The next step towards the end of a check: its snapshot, a page, or the comparison. Null: none is due. Given the same
 * `turn` again, a page goes on where the one before it left off, and was read meanwhile.
 */
export async function takeBalanceStep(
  deps: ActivityDeps,
  key: BalanceSourceKey,
  turn?: PageTurn,
): Promise<BalanceStep | null> {
  const at = turn?.at;
  if (turn !== undefined) turn.at = undefined;
  if (at !== undefined) return page(deps, key, { ...at, turn });
  const db = queriesOf(deps.pool);
  const source = await readBalanceSource(db, key);
  if (source.notBefore !== null && source.notBefore > new Date()) return null;
  if (source.isDecided) return rebaseAsDecided(deps, key);
  const check = await findOpenCheck(db, source.id);
  if (check === null) {
    if (source.nextCheckAt > new Date()) return null;
    await retryBadItems(deps, key, source.id);
    return begin(deps, key, source);
  }
  const position = await readCursor(db, journalOf(key));
  const { cursor, minCursor } = check.snapshot;
  if (source.baseCursor === null || position === null) return rebase(deps, key, check);
  if (compareCursors(position, minCursor) < 0) return rebase(deps, key, check);
  if (compareCursors(position, cursor) >= 0) return compare(deps, key, { check, isRead: true });
  return page(deps, key, { check, position, turn });
}

/** A page towards the snapshot; where there is none, what follows from that. */
async function page(deps: ActivityDeps, key: BalanceSourceKey, of: Reading): Promise<BalanceStep> {
  const applied = await applyJournalPage(deps, key, of);
  if (applied.next === 'too_old') return rebase(deps, key, of.check);
  if (applied.next === 'more') return { kind: 'page', page: applied };
  return compare(deps, key, { check: of.check, isRead: applied.next === 'caught_up' });
}

async function begin(deps: ActivityDeps, key: BalanceSourceKey, was: BalanceSource): Promise<BalanceStep> {
  const traceId = newTraceId();
  const trigger: BalanceCheckTrigger = was.baseCursor === null ? 'first_load' : (was.asked ?? 'timer');
  const snapshot = await readSnapshot(deps, key, traceId);
  return retrying(() =>
    inTransaction(deps.pool, async (tx): Promise<BalanceStep> => {
      const source = await lockBalanceSource(tx, key);
      // Another check has ended meanwhile: this snapshot may be older than our position.
      if (source.baseNumber !== was.baseNumber || source.nextCheckAt > new Date()) return { kind: 'overtaken' };
      await beginBalanceCheck(tx, { sourceId: source.id, trigger, snapshot, traceId });
      return { kind: 'begun' };
    }),
  );
}

/** Whether it is still this check that is open; another worker may have ended it. Under the source's lock. */
async function isOpen(tx: Tx, source: BalanceSource, check: OpenBalanceCheck): Promise<boolean> {
  return (await findOpenCheck(tx, source.id))?.id === check.id;
}

function readSnapshot(deps: ActivityDeps, key: BalanceSourceKey, traceId: string): Promise<BalanceSnapshot> {
  return deps.pert(key).readCurrencies({ traceparent: makeTraceparent(traceId) });
}

/**
 * Too far behind, or never loaded: a fresh snapshot is the truth, and its cursor the position. The one that the check
 * began with may be as old as the journal is.
 */
async function rebase(deps: ActivityDeps, key: BalanceSourceKey, check: OpenBalanceCheck): Promise<BalanceStep> {
  const snapshot = await readSnapshot(deps, key, check.traceId);
  return retrying(() =>
    inTransaction(deps.pool, async (tx): Promise<BalanceStep> => {
      const source = await lockBalanceSource(tx, key);
      if (!(await isOpen(tx, source, check))) return { kind: 'overtaken' };
      return beginAnew(deps, tx, { key, source, check, snapshot });
    }),
  );
}

/** That snapshot is what our sums rest on, whatever they were, and the check ends so. */
async function beginAnew(
  deps: ActivityDeps,
  tx: Tx,
  of: { key: BalanceSourceKey; source: BalanceSource; check: OpenBalanceCheck; snapshot: BalanceSnapshot },
): Promise<BalanceStep> {
  const { key, source, check, snapshot } = of;
  const differing = await compareBalances(tx, { sourceId: source.id, snapshot, by: 'moved' });
  await settleOn(tx, { key, source, snapshot, isReset: true });
  await end(deps, tx, { key, source, check, result: 'rebased', differing, differences: 0, action: 'rebased' });
  await resolveAlert(tx, differenceKey(key));
  return { kind: 'ended', result: 'rebased' };
}

/**
 * A person has decided that it begins anew: what a reset does, in the check that is under way or in one of its own.
 * Void where what that person saw has changed.
 */
async function rebaseAsDecided(deps: ActivityDeps, key: BalanceSourceKey): Promise<BalanceStep> {
  const snapshot = await readSnapshot(deps, key, newTraceId());
  return retrying(() =>
    inTransaction(deps.pool, async (tx): Promise<BalanceStep> => {
      const source = await lockBalanceSource(tx, key);
      const seen = await findBalanceSource(tx, balanceSourceKey(key));
      const [decision] = seen ? await openDecisions(tx, { type: 'balance_source', ids: [seen.key] }) : [];
      // Another worker has applied it behind that lock.
      if (!seen || !decision) return { kind: 'overtaken' };
      const traceId = decision.traceId ?? newTraceId();
      if (!hashSeenBalances(seen).equals(decision.seenHash)) {
        await closeDecision(tx, decision, { outcome: 'void', detail: 'what was seen has changed', traceId });
        return { kind: 'begun' };
      }
      await noteBalanceRebase(tx, { decisionId: decision.id, traceId });
      const check = await takeOperatorCheck(tx, { sourceId: source.id, snapshot, traceId });
      await closeDecision(tx, decision, { outcome: 'applied', detail: decision.choice, traceId });
      return beginAnew(deps, tx, { key, source, check, snapshot });
    }),
  );
}

/**
 * Our sum against what the snapshot states. `isRead`: the journal was read up to it; else what lies between is still to
 * be read, whatever the sums say, and the position stays.
 */
async function compare(
  deps: ActivityDeps,
  key: BalanceSourceKey,
  { check, isRead }: { check: OpenBalanceCheck; isRead: boolean },
): Promise<BalanceStep> {
  const { snapshot } = check;
  const result = await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      const source = await lockBalanceSource(tx, key);
      if (!(await isOpen(tx, source, check))) return null;
      const differing = await compareBalances(tx, { sourceId: source.id, snapshot, by: 'moved' });
      if (differing.length > 0) return differs(deps, tx, { key, source, check, differing });
      if (isRead) await settleOn(tx, { key, source, snapshot, isReset: false });
      else await stateBalances(tx, source.id, snapshot.currencies);
      await noteDifferences(tx, source.id, []);
      const word = check.currencies.length === 0 ? ('equal' as const) : ('healed' as const);
      const ending = { key, source, check, differing: check.currencies };
      await end(deps, tx, { ...ending, result: word, differences: 0, action: lastOf(check) });
      await resolveAlert(tx, differenceKey(key));
      return word;
    }),
  );
  return result === null ? { kind: 'overtaken' } : { kind: 'ended', result };
}

interface Ending {
  readonly key: BalanceSourceKey;
  readonly source: BalanceSource;
  readonly check: OpenBalanceCheck;
  readonly differing: readonly ComparedCurrency[];
}

/** Fresh activity heals by itself; what has stayed for so many checks is told, and theirs is the truth. */
async function differs(deps: ActivityDeps, tx: Tx, of: Ending): Promise<BalanceCheckResult> {
  const { key, source, check, differing } = of;
  const differences = source.differences + 1;
  const lasts = differences >= deps.config.SVERKA_BALANCE_DIFFERENCE_CHECKS;
  await stateBalances(tx, source.id, check.snapshot.currencies);
  await noteDifferences(tx, source.id, differing);
  if (lasts) {
    await raiseAlert(tx, {
      key: differenceKey(key),
      kind: 'balance_difference',
      book: key.book,
      subject: { type: 'balance_check', id: check.id },
      detail: `Balances differed in ${differences} checks in a row; theirs is the truth now. Ask the provider why.`,
      traceId: check.traceId,
    });
    await settleOn(tx, { key, source, snapshot: check.snapshot, isReset: true });
  }
  const action = lasts ? 'accepted' : 'differs';
  const counts = { differences: lasts ? 0 : differences, counted: differences };
  await end(deps, tx, { ...of, ...counts, result: 'differs', action });
  return 'differs';
}

/** The snapshot is what our sums rest on, and the journal is read from its cursor. */
async function settleOn(
  tx: Tx,
  of: { key: BalanceSourceKey; source: BalanceSource; snapshot: BalanceSnapshot; isReset: boolean },
): Promise<void> {
  const { key, source, snapshot, isReset } = of;
  await stateBalances(tx, source.id, snapshot.currencies);
  await moveBalanceBase(tx, { sourceId: source.id, cursor: snapshot.cursor, isReset });
  await moveCursor(tx, journalOf(key), snapshot.cursor);
}

async function end(
  deps: ActivityDeps,
  tx: Tx,
  of: Ending & { result: BalanceCheckResult; differences: number; counted?: number; action: string },
): Promise<void> {
  const { source, check, result, differing, differences, action } = of;
  const { SVERKA_BALANCE_CHECK_INTERVAL, SVERKA_BALANCE_RECHECK_INTERVAL } = deps.config;
  const done = action === 'accepted' || action === 'rebased' ? ([action] as const) : [];
  await endBalanceCheck(tx, {
    ...{ id: check.id, result, currencies: differing, consecutive: of.counted ?? 0 },
    actions: [...check.actions, ...(check.actions.includes('backfilled') ? (['compared'] as const) : []), ...done],
  });
  const nextCheckMs = result === 'differs' ? SVERKA_BALANCE_RECHECK_INTERVAL : SVERKA_BALANCE_CHECK_INTERVAL;
  await noteBalanceAction(tx, { sourceId: source.id, action, differences, nextCheckMs });
  await noteCheckRun(tx, {
    ...{ name: `balance_check:${of.key.provider}:${of.key.account}`, beganAt: check.startedAt },
    ...{ findings: result === 'differs' ? differing.length : 0, detail: { result } },
  });
  if (result !== 'rebased' || source.merchantId === null || check.trigger === 'first_load') return;
  await tellRebased(tx, { key: of.key, merchantId: source.merchantId, check });
}

async function tellRebased(
  tx: Tx,
  { key, merchantId, check }: { key: BalanceSourceKey; merchantId: string; check: OpenBalanceCheck },
): Promise<void> {
  const record = await findBalanceCheck(tx, { book: key.book, merchantId, id: check.id });
  if (record === null) return;
  await insertEvents(tx, [
    {
      ...{ type: 'balance.rebased', book: key.book, merchantId, subjectType: 'balance_check', subjectId: check.id },
      ...{ version: 1, traceId: check.traceId, data: toBalanceCheck(record) },
    },
  ]);
}

/** What a check that found all equal did last. */
function lastOf({ actions }: OpenBalanceCheck): string {
  return actions.includes('backfilled') ? 'backfilled' : 'compared';
}

/** The alert of a difference that lasts. */
function differenceKey({ provider, account }: BalanceSourceKey): string {
  return `balance_difference:${provider}:${account}`;
}

/** The provider could not be asked: the check is over, and the next begins anew. */
export async function failBalanceCheck(deps: ActivityDeps, key: BalanceSourceKey): Promise<void> {
  await retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      const source = await lockBalanceSource(tx, key);
      const check = await findOpenCheck(tx, source.id);
      const nextCheckMs = deps.config.SVERKA_BALANCE_RECHECK_INTERVAL;
      await noteBalanceAction(tx, {
        ...{ sourceId: source.id, nextCheckMs, differences: source.differences },
        action: 'failed',
      });
      if (check === null) return;
      const { id, actions } = check;
      await endBalanceCheck(tx, { id, result: 'failed', actions, currencies: [], consecutive: source.differences });
    }),
  );
}
