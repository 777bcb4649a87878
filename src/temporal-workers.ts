import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context } from '@temporalio/activity';
import {
  type ActivityInboundCallsInterceptor,
  type NativeConnection,
  Worker,
  type WorkflowBundleOption,
} from '@temporalio/worker';
import { createDataConverter, encrypts } from './client/data-converter.js';
import type { Config } from './config.js';
import { providerTaskQueue, WORKFLOW_NAMES } from './contracts/ids.js';
import { REPOSITORY } from './local/paths.js';
import { isStaleBundle } from './local/workflow-bundle.js';

/** Running activities get this long at a stop; a container's grace period must be longer. */
const SHUTDOWN_GRACE_MS = 8_000;
const SHUTDOWN_FORCE_MS = 12_000;
/**
 * A provider's own slots: a hanging one never stops the others. While it hangs it holds no connection (no transaction
 * is open during a call), so these may be more than the pool has.
 */
const PROVIDER_SLOTS = 20;
/**
 * How long one turn of a workflow may take. Past the SDK's 5 s, which a starved machine or a storm of nudges can reach,
 * its thread is ended in the middle of a promise, and the process with it. The SDK has no type for it; it is pinned.
 */
const TURN = { isolateExecutionTimeout: '60s' };
/** Connections left by the database activities, for the short queries around provider calls and for `/readyz`. */
const POOL_RESERVE = 4;

/** The worker of workflows and database activities, and one for each provider's calls. */
export async function createWorkers(options: {
  connection: NativeConnection;
  config: Config;
  activities: object;
  interceptor: (context: Context) => ActivityInboundCallsInterceptor;
  /** 0 replays every workflow at each of its tasks; left out, the SDK's own. */
  maxCachedWorkflows?: number;
}): Promise<Worker[]> {
  const { connection, config, activities, interceptor } = options;
  const dataConverter = createDataConverter(config);
  const common = {
    connection,
    dataConverter,
    namespace: config.TEMPORAL_NAMESPACE,
    activities,
    interceptors: { activity: [(context: Context) => ({ inbound: interceptor(context) })] },
    shutdownGraceTime: SHUTDOWN_GRACE_MS,
    shutdownForceTime: SHUTDOWN_FORCE_MS,
  };
  const workflows = await Worker.create({
    ...common,
    ...TURN,
    taskQueue: config.SVERKA_TASK_QUEUE,
    stickyQueueScheduleToStartTimeout: config.SVERKA_STICKY_TIMEOUT,
    maxConcurrentActivityTaskExecutions: Math.max(1, config.SVERKA_DATABASE_POOL - POOL_RESERVE),
    ...(options.maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows: options.maxCachedWorkflows }),
    ...(config.SVERKA_WORKFLOW_BUNDLE === undefined
      ? { workflowsPath: fileURLToPath(new URL('./workflows/index.ts', import.meta.url)) }
      : { workflowBundle: workflowBundle(config.SVERKA_WORKFLOW_BUNDLE, encrypts(dataConverter)) }),
  });
  const names = [...new Set(config.providers.map(({ provider }) => provider))];
  const providers = names.map((name) =>
    Worker.create({
      ...common,
      taskQueue: providerTaskQueue(config.SVERKA_TASK_QUEUE, name),
      maxConcurrentActivityTaskExecutions: PROVIDER_SLOTS,
    }),
  );
  return [workflows, ...(await Promise.all(providers))];
}

/** Said in front of a bundle: src/workflows/failure-converter.cjs then leaves failures readable. */
const IN_CLEAR = 'globalThis.sverkaFailuresInClear = true;';

/**
 * The bundle of that file, whose failures are encrypted only where payloads are. Throws for one of other sources than
 * those here, and, naming what is missing, when it lacks workflows (their runs would wait for ever, unseen) or the
 * converter of failures (their messages would stand in histories in clear, unseen).
 */
export function workflowBundle(
  codePath: string,
  encrypted: boolean,
  repository: string = REPOSITORY,
): WorkflowBundleOption {
  const code = readFileSync(codePath, 'utf8');
  if (isStaleBundle(code, repository)) {
    throw new Error(`${codePath} is of other sources than those here: bundle again, or unset SVERKA_WORKFLOW_BUNDLE.`);
  }
  const lacking = WORKFLOW_NAMES.filter((name) => !code.includes(`function ${name}(`)).map(
    (name) => `workflow ${name}`,
  );
  if (!code.includes('sverkaFailuresInClear')) lacking.push('failure converter');
  if (lacking.length > 0)
    throw new Error(`${codePath} has no ${lacking.join(', ')}: bundle again, or unset SVERKA_WORKFLOW_BUNDLE.`);
  return encrypted ? { codePath } : { code: `${IN_CLEAR}${code}` };
}
