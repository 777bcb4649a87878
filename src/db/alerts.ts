import type { Tx } from './transaction.js';

/** What a person must see. One row per key, opened again in place. */
export interface Alert {
  readonly key: string;
  readonly kind: string;
  readonly book?: string | undefined;
  readonly subject?: { readonly type: string; readonly id: string } | undefined;
  /** What happened and what to do next; no names, amounts of others, or provider bodies. */
  readonly detail: string;
  readonly traceId?: string | undefined;
}

export async function raiseAlert(db: Tx, alert: Alert): Promise<void> {
  await db.query('select sverka.raise_alert($1, $2, $3, $4, $5, $6, $7)', [
    alert.key,
    alert.kind,
    alert.book ?? null,
    alert.subject?.type ?? null,
    alert.subject?.id ?? null,
    alert.detail,
    alert.traceId ?? null,
  ]);
}

export async function resolveAlert(db: Tx, key: string): Promise<void> {
  await db.query('select sverka.resolve_alert($1)', [key]);
}

/** Resolves the open alerts of these kinds whose key is not among those that hold now. */
export async function resolveAlertsExcept(db: Tx, kinds: readonly string[], keys: readonly string[]): Promise<void> {
  await db.query(
    `select sverka.resolve_alert(a.key) from sverka.alert a
      where a.state = 'open' and a.kind = any ($1) and not a.key = any ($2)`,
    [kinds, keys],
  );
}
