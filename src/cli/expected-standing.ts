import {
  balanceSyncWorkflowId,
  DRIFT_CHECK_SCHEDULE_ID,
  depositReconcileScheduleId,
  FULL_CHECK_SCHEDULE_ID,
  HEALTH_WATCH_WORKFLOW_ID,
  INBOX_SWEEP_WORKFLOW_ID,
  issuanceReconcileScheduleId,
} from '../contracts/ids.js';
import type { Profile } from './profile.js';

/** Workflows that run for ever: each worker makes sure of them when it starts, then each minute. */
export function expectedWorkflows(profile: Profile): string[] {
  const mirrored = (profile.run?.hooks ?? []).filter(({ provider }) => provider === 'pert');
  const mirrors = mirrored.map(({ book, endpoint }) => balanceSyncWorkflowId({ book, account: endpoint }));
  return [INBOX_SWEEP_WORKFLOW_ID, HEALTH_WATCH_WORKFLOW_ID, ...mirrors];
}

const RECONCILED = { custody: depositReconcileScheduleId, issuer: issuanceReconcileScheduleId } as const;

/** The schedules that the workers of this profile make; none are known where it names no accounts. */
export function expectedSchedules(profile: Profile): string[] {
  const hooks = profile.run?.hooks ?? [];
  const reconciled = hooks.flatMap(({ book, provider }) =>
    provider === 'pert' ? [] : [RECONCILED[provider]({ book, provider })],
  );
  return [...reconciled, DRIFT_CHECK_SCHEDULE_ID, FULL_CHECK_SCHEDULE_ID];
}
