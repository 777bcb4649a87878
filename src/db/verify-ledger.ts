import type pg from 'pg';
import { CHECKS, HEADS, SCOPES, type VerifyScope } from './ledger-checks.js';
import { movementId } from './new-id.js';
import { SUBJECT_CHECKS } from './subject-checks.js';
import { inTransaction, type Tx } from './transaction.js';

export interface LedgerFinding {
  /** What is wrong, as named in docs/concepts/journal.md. */
  readonly kind: string;
  readonly accountId: string | null;
  /** `mov_…`, null where no movement is to blame or the movement itself is gone. */
  readonly movementId: string | null;
  readonly detail: string;
}

export interface LedgerVerification {
  readonly checked: { readonly accounts: number; readonly movements: number; readonly entries: number };
  /** Empty: the books are whole. At most 1 000 of each check. */
  readonly findings: readonly LedgerFinding[];
}

/**
 * Rebuilds what the journal says from its entries, in one snapshot, with SQL that shares nothing with `ledger.post`;
 * any finding is an alert. `changed` goes on from the marks of the last `changed` check and moves them forward over the
 * accounts it found whole (the worker's role only); `all` starts at the first entry and reads only. `subjects` also
 * holds the state tables and the audit's chain against it (a role that may read them). `signal` cancels the statement
 * that runs. Throws `Retryable` when it was cancelled or took longer than 15 minutes in all.
 */
export async function verifyLedger(
  db: pg.Pool,
  scope: VerifyScope = 'all',
  options: { readonly subjects?: boolean; readonly signal?: AbortSignal } = {},
): Promise<LedgerVerification> {
  const checks = options.subjects ? [...CHECKS, ...SUBJECT_CHECKS] : CHECKS;
  const work = (tx: Tx) => cancelledBy(db, { tx, signal: options.signal }, () => check(tx, scope, checks));
  const { heads, ...verification } = await inTransaction(db, work, 'snapshot');
  if (scope === 'changed') await moveMarks(db, heads, verification.findings);
  return verification;
}

/** The role's own limit is for short statements; of all of them together, shorter than the activity may take. */
const TIME_LIMIT_MS = 15 * 60_000;

/** Cancels the statement that runs when the signal comes: nobody would read its answer. */
async function cancelledBy<T>(
  db: pg.Pool,
  { tx, signal }: { tx: Tx; signal: AbortSignal | undefined },
  work: () => Promise<T>,
): Promise<T> {
  if (!signal) return work();
  signal.throwIfAborted();
  const [backend] = await tx.query<{ pid: number }>('select pg_backend_pid() as pid');
  const cancel = () => {
    // It ends by its own limit when this does not arrive.
    db.query('select pg_cancel_backend($1)', [backend?.pid]).catch(() => undefined);
  };
  signal.addEventListener('abort', cancel);
  try {
    return await work();
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

async function check(
  tx: Tx,
  scope: VerifyScope,
  checks: readonly string[],
): Promise<LedgerVerification & { heads: Head[] }> {
  const until = Date.now() + TIME_LIMIT_MS;
  const limit = () => tx.query(`SET LOCAL statement_timeout = ${Math.max(1, until - Date.now())}`);
  await limit();
  const scoped = SCOPES[scope];
  const [counts] = await tx.query<Record<'accounts' | 'movements' | 'entries', bigint>>(
    `with ${scoped} select (select count(*) from seen) as accounts, (select count(*) from touched) as movements,
                           (select count(*) from fresh) as entries`,
  );
  const findings: LedgerFinding[] = [];
  for (const sql of checks) {
    await limit();
    const rows = await tx.query<FindingRow>(
      `with ${scoped}, found as (${sql})
       select found.kind, found.account_id, m.key, found.detail from found
         left join ledger.movement m on m.id = found.movement_id
         order by found.account_id, found.movement_id limit 1000`,
    );
    findings.push(...rows.map(toFinding));
  }
  await limit();
  const heads = scope === 'all' ? [] : await tx.query<Head>(`with ${scoped} ${HEADS}`);
  const checked = {
    accounts: Number(counts?.accounts ?? 0),
    movements: Number(counts?.movements ?? 0),
    entries: Number(counts?.entries ?? 0),
  };
  return { checked, findings, heads };
}

async function moveMarks(db: pg.Pool, heads: readonly Head[], findings: readonly LedgerFinding[]): Promise<void> {
  // A finding without an account spoils the whole round: which accounts it concerns is not known.
  if (findings.some((finding) => finding.accountId === null)) return;
  const bad = new Set(findings.map((finding) => finding.accountId));
  const whole = heads.filter((head) => !bad.has(String(head.account_id)));
  if (whole.length === 0) return;
  await inTransaction(db, (tx) =>
    tx.query('select ledger.mark_verified($1::bigint[], $2::bigint[], $3::numeric[])', [
      whole.map((head) => head.account_id),
      whole.map((head) => head.seq),
      whole.map((head) => head.balance),
    ]),
  );
}

interface Head {
  readonly account_id: bigint;
  readonly seq: bigint;
  readonly balance: string;
}

interface FindingRow {
  readonly kind: string;
  readonly account_id: bigint | null;
  readonly key: Buffer | null;
  readonly detail: string;
}

function toFinding(row: FindingRow): LedgerFinding {
  return {
    kind: row.kind,
    accountId: row.account_id === null ? null : String(row.account_id),
    movementId: row.key === null || row.key.length < 16 ? null : movementId(row.key),
    detail: row.detail,
  };
}
