import type {
  BalanceCheckAction,
  BalanceCheckResult,
  BalanceCheckTrigger,
  BalanceSnapshot,
} from '../domain/balance.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** A comparison that is under way; its snapshot is what it compares with, however long the paging takes. */
export interface OpenBalanceCheck {
  readonly id: string;
  readonly trigger: BalanceCheckTrigger;
  readonly snapshot: BalanceSnapshot;
  /** What differed before a page was read, by what webhooks told; nothing: `equal`, else `healed` if it ends so. */
  readonly currencies: readonly ComparedCurrency[];
  readonly actions: readonly BalanceCheckAction[];
  readonly changesRead: number;
  readonly traceId: string;
  readonly startedAt: Date;
}

/** A currency in which our sum is not theirs. */
export interface ComparedCurrency {
  readonly currency: string;
  readonly ours: string;
  readonly theirs: string;
  /** Ours less theirs. */
  readonly difference: string;
}

/** The open check of a source; null when none is. */
export async function findOpenCheck(db: Tx, sourceId: number): Promise<OpenBalanceCheck | null> {
  const [row] = await db.query<Omit<OpenBalanceCheck, 'snapshot'> & SnapshotRow>(
    `select id, trigger, cursor, min_cursor as "minCursor", theirs, currencies, actions,
       changes_read as "changesRead", trace_id as "traceId", started_at as "startedAt"
     from sverka.balance_check where source_id = $1 and finished_at is null`,
    [sourceId],
  );
  if (!row) return null;
  const { cursor, minCursor, theirs, ...rest } = row;
  return { ...rest, snapshot: { cursor, minCursor, currencies: theirs } };
}

interface SnapshotRow {
  readonly cursor: string;
  readonly minCursor: string;
  readonly theirs: BalanceSnapshot['currencies'];
}

/** Opens one with its snapshot; false when another is open. Under the source's lock. */
export async function beginBalanceCheck(
  tx: Tx,
  of: { sourceId: number; trigger: BalanceCheckTrigger; snapshot: BalanceSnapshot; traceId: string },
): Promise<boolean> {
  const { sourceId, trigger, snapshot, traceId } = of;
  const differing = await compareBalances(tx, { sourceId, snapshot, by: 'seen' });
  const rows = await tx.query(
    `insert into sverka.balance_check
       (id, source_id, trigger, cursor, min_cursor, theirs, currencies, actions, trace_id)
     values ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, '{compared}', $8) on conflict do nothing returning 1`,
    [
      ...[newId('balanceCheck'), sourceId, trigger, snapshot.cursor, snapshot.minCursor],
      ...[JSON.stringify(snapshot.currencies), JSON.stringify(differing), traceId],
    ],
  );
  return rows.length > 0;
}

/** A person's own check: the one that is under way becomes it, or it begins now. Under the source's lock. */
export async function takeOperatorCheck(
  tx: Tx,
  of: { readonly sourceId: number; readonly snapshot: BalanceSnapshot; readonly traceId: string },
): Promise<OpenBalanceCheck> {
  if (!(await beginBalanceCheck(tx, { ...of, trigger: 'operator' }))) {
    await tx.query(
      `update sverka.balance_check set trigger = 'operator', trace_id = $2 where source_id = $1 and finished_at is null`,
      [of.sourceId, of.traceId],
    );
  }
  const check = await findOpenCheck(tx, of.sourceId);
  if (check === null) throw new Error('A check that was just begun is gone, although its source is locked.');
  return check;
}

/** A page was read for it. */
export async function notePageOfCheck(tx: Tx, of: { readonly id: string; readonly items: number }): Promise<void> {
  await tx.query(
    `update sverka.balance_check set changes_read = changes_read + $2,
       actions = case when 'backfilled' = any (actions) then actions else actions || 'backfilled'::text end
     where id = $1 and finished_at is null`,
    [of.id, of.items],
  );
}

/** The currencies in which our sum is not the snapshot's; one that either does not name counts as nothing. */
export async function compareBalances(
  db: Tx,
  of: { readonly sourceId: number; readonly snapshot: BalanceSnapshot; readonly by: 'moved' | 'seen' },
): Promise<ComparedCurrency[]> {
  return db.query<ComparedCurrency>(
    `select currency, trim_scale(ours)::text as ours, trim_scale(theirs)::text as theirs,
       trim_scale(ours - theirs)::text as difference
     from (select coalesce(c.currency, t.currency) as currency, coalesce(c.base + c.${of.by}, 0) as ours,
             coalesce(t.balance, 0) as theirs
           from (select * from sverka.balance_currency where source_id = $1) c
             full join unnest($2::text[], $3::numeric[]) t(currency, balance) on t.currency = c.currency) x
     where ours <> theirs order by currency`,
    [
      of.sourceId,
      of.snapshot.currencies.map(({ currency }) => currency),
      of.snapshot.currencies.map(({ balance }) => balance),
    ],
  );
}

/** Since when each currency differs: what does no longer, has no since. Under the source's lock. */
export async function noteDifferences(tx: Tx, sourceId: number, differing: readonly ComparedCurrency[]): Promise<void> {
  await tx.query(
    `update sverka.balance_currency set differs_since =
       case when currency = any ($2) then coalesce(differs_since, clock_timestamp()) end
     where source_id = $1 and (differs_since is not null or currency = any ($2))`,
    [sourceId, differing.map(({ currency }) => currency)],
  );
}

/** Its end, which stays as it is. */
export async function endBalanceCheck(
  tx: Tx,
  of: {
    readonly id: string;
    readonly result: BalanceCheckResult;
    readonly actions: readonly BalanceCheckAction[];
    readonly currencies: readonly ComparedCurrency[];
    readonly consecutive: number;
  },
): Promise<void> {
  await tx.query(
    `update sverka.balance_check set result = $2, actions = $3, currencies = $4::jsonb, consecutive_differences = $5,
       finished_at = clock_timestamp() where id = $1 and finished_at is null`,
    [of.id, of.result, of.actions, JSON.stringify(of.currencies), of.consecutive],
  );
}
