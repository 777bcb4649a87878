import { raiseAlert, resolveAlertsExcept } from '../db/alerts.js';
import { checkAgeMs, noteCheckRun } from '../db/check-runs.js';
import { findIlls } from '../db/health.js';
import { queriesOf } from '../db/transaction.js';
import { verifyLedger } from '../db/verify-ledger.js';
import type { ActivityDeps } from './deps.js';

export type CheckActivities = ReturnType<typeof createCheckActivities>;

/** Alerts of one check: more would tell a person nothing. */
const ALERTS_MAX = 50;
/** A check is overdue when it missed this many of its turns. */
const TURNS_MISSED_MAX = 2;
const DAY_MS = 86_400_000;

/** Proof that goes on by itself: each check notes that it ran, and what it finds is an alert. */
export function createCheckActivities(deps: ActivityDeps) {
  const db = queriesOf(deps.pool);
  const verify = async (name: 'drift_check' | 'full_check', input: { traceId: string }) => {
    const beganAt = new Date();
    const { checked, findings } = await verifyLedger(deps.pool, name === 'full_check' ? 'all' : 'changed');
    const alerts = findings.slice(0, ALERTS_MAX).map((finding) => ({
      key: `${name}:${finding.kind}:${finding.accountId ?? finding.movementId ?? 'books'}`,
      kind: 'drift',
      subject: { type: 'account', id: finding.accountId ?? 'none' },
      detail: `The books do not agree (${finding.kind}): ${finding.detail}. Stop money out; run \`sverka ledger verify\`.`,
      traceId: input.traceId,
    }));
    for (const alert of alerts) await raiseAlert(db, alert);
    // An incremental check looks at what changed only: what it no longer finds may still be wrong.
    if (name === 'full_check')
      await resolveAlertsExcept(
        db,
        ['drift'],
        alerts.map((alert) => alert.key),
      );
    await noteCheckRun(db, { name, beganAt, findings: findings.length, detail: checked });
    return { ...checked, findings: findings.length };
  };
  return {
    /** Rebuilds the balances of the accounts that changed since the last check. */
    pageDriftCheck: (input: { traceId: string }) => verify('drift_check', input),

    /** Rebuilds all balances from all entries. */
    pageFullCheck: (input: { traceId: string }) => verify('full_check', input),

    /** Each minute: bounds, stuck states, backlog, breakers, and checks that did not run. */
    async databaseWatchHealth(input: { traceId: string }): Promise<{ ills: number; waitMs: number }> {
      const { config } = deps;
      const found = await findIlls(db, { stuckMs: config.SVERKA_STUCK_AGE, pendingMs: config.SVERKA_STRANDED_AGE });
      const ills = [...found, ...(await overdue(deps))];
      for (const { key, kind, book, subjectType, subjectId, detail } of ills) {
        const subject = subjectType === null || subjectId === null ? undefined : { type: subjectType, id: subjectId };
        await raiseAlert(db, {
          key: `health:${key}`,
          kind,
          book: book ?? undefined,
          subject,
          detail,
          traceId: input.traceId,
        });
      }
      await resolveAlertsExcept(
        db,
        HEALTH_KINDS,
        ills.map((ill) => `health:${ill.key}`),
      );
      return { ills: ills.length, waitMs: config.SVERKA_HEALTH_INTERVAL };
    },
  };
}

const HEALTH_KINDS = [
  'balance_out_of_bounds',
  'collect_missing',
  'stuck',
  'inbox_backlog',
  'breaker_open',
  'check_overdue',
] as const;

async function overdue({ pool, config }: ActivityDeps) {
  const bounds = [
    { name: 'drift_check', everyMs: config.SVERKA_DRIFT_CHECK_INTERVAL },
    { name: 'full_check', everyMs: DAY_MS },
    ...config.providers.map(({ provider, account }) => ({
      name: `deposit_reconcile:${provider}:${account}`,
      everyMs: config.SVERKA_RECONCILE_INTERVAL,
    })),
  ];
  const ills = [];
  for (const { name, everyMs } of bounds) {
    // A check that never ran is measured from the start of this process: a new installation has time for its first.
    const age = (await checkAgeMs(queriesOf(pool), name)) ?? Date.now() - performance.timeOrigin;
    if (age <= everyMs * (TURNS_MISSED_MAX + 1)) continue;
    const detail = `The check ${name} has not run to its end for ${Math.round(age / 60_000)} minutes; see its schedule.`;
    ills.push({ key: name, kind: 'check_overdue', book: null, subjectType: 'check', subjectId: name, detail });
  }
  return ills;
}
