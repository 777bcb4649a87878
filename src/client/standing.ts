import { ScheduleAlreadyRunning, type ScheduleOptions, ScheduleOverlapPolicy } from '@temporalio/client';
import type { Config } from '../config.js';
import { depositReconcileScheduleId, INBOX_SWEEP_WORKFLOW_ID } from '../contracts/ids.js';
import type { DepositReconcileInput } from '../contracts/messages.js';
import type { inboxSweep } from '../workflows/index.js';
import { searchAttributesOf, type Temporal } from './temporal.js';

/** A run missed in an outage is caught up within this window and not later: the next one repairs the same. */
const CATCHUP_WINDOW = '1h';

/** Makes what must always be there: standing workflows and schedules. Once, by any number of workers. */
export async function ensureStanding(temporal: Temporal, config: Config): Promise<void> {
  await temporal.client.workflow.start<typeof inboxSweep>('inboxSweep', {
    workflowId: INBOX_SWEEP_WORKFLOW_ID,
    taskQueue: temporal.taskQueue,
    args: [],
    workflowIdConflictPolicy: 'USE_EXISTING',
    staticSummary: 'Finds notifications that nobody came for',
  });
  for (const schedule of schedulesOf(temporal, config)) await ensureSchedule(temporal, schedule);
}

/** All schedules of this configuration: one reconciliation for each account at each custodian. */
export function schedulesOf(temporal: Temporal, config: Config): ScheduleOptions[] {
  return config.providers.map(({ provider, book, account }) => {
    const input: DepositReconcileInput = { book, provider, account };
    const scheduleId = depositReconcileScheduleId(input);
    return {
      scheduleId,
      spec: { intervals: [{ every: config.SVERKA_RECONCILE_INTERVAL }] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: CATCHUP_WINDOW },
      action: {
        type: 'startWorkflow',
        workflowType: 'depositReconcile',
        workflowId: scheduleId,
        taskQueue: temporal.taskQueue,
        args: [input],
        staticSummary: `Reconciles deposits at ${account}`,
        typedSearchAttributes: searchAttributesOf({ kind: 'deposit_reconcile', ref: account, book }),
      },
    };
  });
}

/** Creates it, or brings it up to date; an operator's pause survives. */
async function ensureSchedule({ client }: Temporal, options: ScheduleOptions): Promise<void> {
  try {
    await client.schedule.create(options);
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    await client.schedule.getHandle(options.scheduleId).update(({ state }) => ({ ...options, state }));
  }
}
