import { balanceSyncWorkflowId } from '../contracts/ids.js';
import type { BalanceCheckResult, BalanceCheckTrigger } from '../domain/balance.js';
import type { Tx } from './transaction.js';

/** A comparison of mirrored balances. */
export interface BalanceCheckItem {
  readonly kind: 'balance_check';
  readonly at: Date;
  readonly id: string;
  readonly trigger: BalanceCheckTrigger;
  /** Null while it is under way. */
  readonly result: BalanceCheckResult | null;
  readonly changesRead: number;
  readonly subject: { readonly type: string; readonly id: string };
  readonly traceId: string | null;
}

/** What leads to everything about a source or a comparison. */
interface BalanceScope {
  readonly subjects: readonly string[];
  readonly traceIds: readonly string[];
  readonly workflowIds: readonly string[];
}

/** A mirrored account by its key: decisions, alerts and audit about it, and who mirrors it. */
export function scopeOfBalanceSource(key: string): BalanceScope {
  const [book = '', , ...account] = key.split(':');
  return {
    ...{ subjects: [key], traceIds: [] },
    workflowIds: [balanceSyncWorkflowId({ book, account: account.join(':') })],
  };
}

/** A comparison of balances, and what has the same trace: the decision, the event, the audit of a rebase. */
export async function scopeOfBalanceCheck(tx: Tx, id: string): Promise<BalanceScope> {
  const [row] = await tx.query<{ key: string; traceId: string | null }>(
    `select s.key, c.trace_id as "traceId"
     from sverka.balance_check c join sverka.balance_source s on s.id = c.source_id where c.id = $1`,
    [id],
  );
  if (!row) return { subjects: [id], traceIds: [], workflowIds: [] };
  const { workflowIds } = scopeOfBalanceSource(row.key);
  return { subjects: [id], traceIds: row.traceId === null ? [] : [row.traceId], workflowIds };
}

/** Those that are named, that have such a trace, or in which a named source began anew. */
export async function readBalanceChecks(
  tx: Tx,
  scope: {
    readonly subjects: readonly string[];
    readonly traceIds: readonly string[];
    readonly book: string | null;
    readonly limit: number;
  },
): Promise<BalanceCheckItem[]> {
  return tx.query<BalanceCheckItem>(
    `select 'balance_check' as kind, c.started_at as at, c.id, c.trigger, c.result, c.changes_read as "changesRead",
       c.trace_id as "traceId", json_build_object('type', 'balance_source', 'id', s.key) as subject
     from sverka.balance_check c join sverka.balance_source s on s.id = c.source_id
     where c.id in (
         select id from sverka.balance_check where id = any ($1)
         union select id from sverka.balance_check where trace_id = any ($2)
         union select r.id from sverka.balance_check r join sverka.balance_source o on o.id = r.source_id
           where r.result = 'rebased' and o.key = any ($1))
       and ($3::text is null or s.book = $3)
     order by c.started_at desc, c.id desc limit $4`,
    [scope.subjects, scope.traceIds, scope.book, scope.limit],
  );
}
