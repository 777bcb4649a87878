import { cancellationSignal } from '@temporalio/activity';
import type { Config, ProviderName } from '../config.js';
import { raiseAlert, resolveAlert, resolveAlertsExcept } from '../db/alerts.js';
import { checkAges, noteCheckRun } from '../db/check-runs.js';
import { findIlls, type Ill } from '../db/health.js';
import { queriesOf } from '../db/transaction.js';
import { type LedgerFinding, verifyLedger } from '../db/verify-ledger.js';
import type { ActivityDeps } from './deps.js';

export type CheckActivities = ReturnType<typeof createCheckActivities>;

/** Alerts of one run: more would tell a person nothing. */
const ALERTS_MAX = 50;

/** Proof that goes on by itself: each check notes that it ran, and what it finds is an alert. */
export function createCheckActivities(deps: ActivityDeps) {
  return {
    /** Rebuilds the balances of the accounts that changed since the last check. */
    checkDrift: (input: { traceId: string }) => verify(deps, 'drift_check', input.traceId),

    /** Rebuilds all balances from all entries. */
    checkAll: (input: { traceId: string }) => verify(deps, 'full_check', input.traceId),

    /** Each minute: bounds, stuck states, backlog, breakers, and checks that did not run. */
    async databaseWatchHealth({ traceId }: { traceId: string }): Promise<{ ills: number; waitMs: number }> {
      const { config } = deps;
      const db = queriesOf(deps.pool);
      const found = await findIlls(db, { stuckMs: config.SVERKA_STUCK_AGE, pendingMs: config.SVERKA_STRANDED_AGE });
      const ills = [...found, ...(await lateChecks(deps))];
      for (const { key, kind, book, subjectType, subjectId, detail } of ills) {
        const subject = subjectType === null || subjectId === null ? undefined : { type: subjectType, id: subjectId };
        await raiseAlert(db, { key: `health:${key}`, kind, book: book ?? undefined, subject, detail, traceId });
      }
      const keys = ills.map((ill) => `health:${ill.key}`);
      await resolveAlertsExcept(db, HEALTH_KINDS, keys);
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
  'check_late',
  'relay_silent',
  'webhooks_refused',
] as const;

async function verify(deps: ActivityDeps, name: 'drift_check' | 'full_check', traceId: string) {
  const signal = cancellationSignal();
  const db = queriesOf(deps.pool);
  const beganAt = new Date();
  const failedKey = `check_failed:${name}`;
  try {
    const all = name === 'full_check';
    const { checked, findings } = await verifyLedger(deps.pool, all ? 'all' : 'changed', { subjects: all, signal });
    for (const finding of findings.slice(0, ALERTS_MAX)) await raiseAlert(db, { ...alertOf(finding), traceId });
    // An incremental check looks at what changed only: what it no longer finds may still be wrong.
    if (name === 'full_check') await resolveAlertsExcept(db, ['drift'], findings.map(keyOf));
    await noteCheckRun(db, { name, beganAt, findings: findings.length, detail: checked });
    await resolveAlert(db, failedKey);
    return { ...checked, findings: findings.length };
  } catch (error) {
    const detail = `The check ${name} could not run to its end; it is tried again. The worker's log has the reason.`;
    const subject = { type: 'check', id: name };
    await raiseAlert(db, { key: failedKey, kind: 'check_failed', subject, detail, traceId }).catch(() => {
      deps.log.error('an alert could not be raised', { code: 'check_failed' });
    });
    throw error;
  }
}

/** The same for both checks: what one has found, the other finds under the same key. */
function keyOf({ kind, accountId, movementId }: LedgerFinding): string {
  return `drift:${kind}:${accountId ?? movementId ?? 'books'}`;
}

function alertOf(finding: LedgerFinding) {
  const { kind, accountId, movementId } = finding;
  const where = accountId === null ? (movementId ?? 'the books') : `account ${accountId}`;
  const subject =
    accountId !== null
      ? { type: 'account', id: accountId }
      : movementId !== null
        ? { type: 'movement', id: movementId }
        : undefined;
  const detail = `The books do not agree: ${kind} in ${where}. Stop money out; run \`sverka ledger verify --full\`.`;
  return { key: keyOf(finding), kind: 'drift', subject, detail };
}

/** What has to end for each account of a provider, and how often. */
function checkOfProvider(config: Config): Record<ProviderName, { check: string; everyMs: number }> {
  return {
    custody: { check: 'deposit_reconcile', everyMs: config.SVERKA_RECONCILE_INTERVAL },
    issuer: { check: 'issuance_reconcile', everyMs: config.SVERKA_ISSUANCE_RECONCILE_INTERVAL },
    pert: { check: 'balance_check', everyMs: config.SVERKA_BALANCE_CHECK_INTERVAL },
  };
}

async function lateChecks({ pool, config }: ActivityDeps): Promise<Ill[]> {
  const expected = [
    { name: 'drift_check', everyMs: config.SVERKA_DRIFT_CHECK_INTERVAL },
    { name: 'inbox_sweep', everyMs: config.SVERKA_SWEEP_INTERVAL },
    { name: 'full_check', everyMs: config.SVERKA_FULL_CHECK_INTERVAL },
    ...config.providers.map(({ provider, account }) => {
      const { check, everyMs } = checkOfProvider(config)[provider];
      return { name: `${check}:${provider}:${account}`, everyMs };
    }),
  ];
  const ages = await checkAges(
    queriesOf(pool),
    expected.map(({ name }) => name),
  );
  return expected.flatMap(({ name, everyMs }, n) => {
    const age = ages[n] ?? 0;
    // A run takes its time: past its next turn by no more than this, a check is not late.
    if (age <= 2 * everyMs + config.SVERKA_CHECK_GRACE) return [];
    const minutes = Math.round(age / 60_000);
    const detail = `The check ${name} has not run to its end for ${minutes} minutes; see its schedule.`;
    return [{ key: `check:${name}`, kind: 'check_late', book: null, subjectType: 'check', subjectId: name, detail }];
  });
}
