import type pg from 'pg';
import { CHECKS, SCOPES } from './ledger-checks.js';
import { movementId } from './new-id.js';
import { inTransaction } from './transaction.js';
import type { LedgerFinding, LedgerVerification } from './verify-ledger.js';

/** The role's own limit is for short statements. */
const TIME_LIMIT = '15min';

/**
 * What changed since the last hourly check, rebuilt in one snapshot, and the marks left where they are: for a role that
 * may read the journal and nothing else. `verifyLedger` also moves the marks, which the worker alone may.
 */
export async function checkLedgerSinceMarks(db: pg.Pool): Promise<LedgerVerification> {
  return inTransaction(
    db,
    async (tx) => {
      await tx.query(`SET LOCAL statement_timeout = '${TIME_LIMIT}'`);
      const [counts] = await tx.query<Record<'accounts' | 'movements' | 'entries', bigint>>(
        `with ${SCOPES.changed} select (select count(*) from seen) as accounts,
           (select count(*) from touched) as movements, (select count(*) from fresh) as entries`,
      );
      const findings: LedgerFinding[] = [];
      for (const sql of CHECKS) {
        const rows = await tx.query<FindingRow>(
          `with ${SCOPES.changed}, found as (${sql})
           select found.kind, found.account_id as "accountId", m.key, found.detail
             from found left join ledger.movement m on m.id = found.movement_id
             order by found.account_id, found.movement_id limit 1000`,
        );
        findings.push(...rows.map(toFinding));
      }
      const checked = {
        accounts: Number(counts?.accounts ?? 0),
        movements: Number(counts?.movements ?? 0),
        entries: Number(counts?.entries ?? 0),
      };
      return { checked, findings };
    },
    'snapshot',
  );
}

interface FindingRow {
  readonly kind: string;
  readonly accountId: bigint | null;
  readonly key: Buffer | null;
  readonly detail: string;
}

function toFinding({ kind, accountId, key, detail }: FindingRow): LedgerFinding {
  const blamed = key !== null && key.length >= 16;
  return { kind, detail, accountId: accountId?.toString() ?? null, movementId: blamed ? movementId(key) : null };
}
