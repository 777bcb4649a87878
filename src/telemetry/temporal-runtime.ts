import { DefaultLogger, type RuntimeOptions } from '@temporalio/worker';
import type { Log } from './log.js';

/** The SDK's own log goes into ours, its metrics to an exporter of their own, and it installs no signal handlers. */
export function runtimeOptions({ log, metricsAddress }: { log: Log; metricsAddress: string }): RuntimeOptions {
  const logger = new DefaultLogger('INFO', ({ level, message, meta = {} }) => {
    const fields = {
      workflow_id: meta.workflowId,
      run_id: meta.runId,
      workflow_type: meta.workflowType,
      activity: meta.activityType,
      attempt: meta.attempt,
      task_queue: meta.taskQueue,
      code: meta.code,
      ...(meta.error instanceof Error && { error: meta.error }),
      ...(typeof meta.trace_id === 'string' && { trace_id: meta.trace_id }),
    };
    // A provider's worker runs activities only, on purpose.
    const expected = message.startsWith('No workflows registered');
    if (expected) log.debug(message, fields);
    else if (level === 'ERROR') log.error(message, fields);
    else if (level === 'WARN') log.warn(message, fields);
    else if (level === 'INFO') log.info(message, fields);
    else log.debug(message, fields);
  });
  return {
    logger,
    shutdownSignals: [],
    telemetryOptions: {
      metrics: {
        prometheus: {
          bindAddress: metricsAddress,
          countersTotalSuffix: true,
          unitSuffix: true,
          useSecondsForDurations: true,
        },
      },
    },
  };
}
