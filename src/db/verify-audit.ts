import type pg from 'pg';
import { AUDIT_CHECKS } from './audit-checks.js';
import { inTransaction, type Tx } from './transaction.js';

/** A sealed place of the audit: its hash covers everything before it. */
export interface AuditHead {
  readonly position: string;
  /** Hexadecimal. */
  readonly hash: string;
}

export interface AuditFinding {
  /** What is wrong, as named in docs/operating/audit.md. */
  readonly kind: string;
  readonly position: string | null;
  readonly auditId: string | null;
  readonly detail: string;
}

export interface AuditVerification {
  readonly checked: { readonly rows: number; readonly sealed: number };
  /** The last sealed place; null when nothing is sealed yet. */
  readonly head: AuditHead | null;
  /** The first place that does not fit stands first. Empty: the audit is whole. At most 1 000 of each check. */
  readonly findings: readonly AuditFinding[];
}

/** The role's own limit is for short statements; this reads every row of the audit. */
const TIME_LIMIT = '15min';

/**
 * Rebuilds the audit's chain in one snapshot and reads only. `kept`: a place that was noted outside of the database,
 * which is the only thing that shows a chain made anew from the first row to the last.
 */
export async function verifyAudit(pool: pg.Pool, kept: AuditHead | null): Promise<AuditVerification> {
  return inTransaction(
    pool,
    async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = '${TIME_LIMIT}'`);
      const [checked] = await tx.query<{ rows: number; sealed: number }>(
        `select (select count(*) from sverka.audit)::float8 as rows,
                (select count(*) from sverka.audit_seal)::float8 as sealed`,
      );
      const findings = kept === null ? [] : await compareKept(tx, kept);
      for (const sql of AUDIT_CHECKS) {
        findings.push(
          ...(await tx.query<AuditFinding>(
            `select f.kind, f.position::text, f.audit_id::text as "auditId", f.detail from (${sql}) f limit 1000`,
          )),
        );
      }
      const [head] = await tx.query<AuditHead>(`${PLACE} order by s.position desc limit 1`);
      return { checked: checked ?? { rows: 0, sealed: 0 }, head: head ?? null, findings };
    },
    'snapshot',
  );
}

const PLACE = `select s.position::text, encode(s.hash, 'hex') as hash from sverka.audit_seal s`;

async function compareKept(tx: Tx, kept: AuditHead): Promise<AuditFinding[]> {
  const [found] = await tx.query<AuditHead>(`${PLACE} where s.position = $1`, [kept.position]);
  if (found?.hash === kept.hash) return [];
  const said = found === undefined ? 'nothing is sealed there' : `there it is ${found.hash}`;
  const detail = `position ${kept.position} was noted with another hash: ${said}`;
  return [{ kind: 'audit_place_differs', position: kept.position, auditId: null, detail }];
}
