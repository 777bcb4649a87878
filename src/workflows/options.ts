import { type ActivityFunction, type ActivityOptions, proxyActivities, workflowInfo } from '@temporalio/workflow';
import { providerTaskQueue } from '../contracts/ids.js';

/**
 * The classes of activities (DESIGN 6). A provider's calls and pages beat while they wait, so that a dead worker
 * is found in seconds; a create is made once, then asked about. A check may take as long as the statements of
 * `db/verify-ledger.ts` together may (15 minutes), and one that failed three times waits for its next turn.
 */
const CLASSES = {
  database: {
    startToCloseTimeout: '10s',
    retry: { initialInterval: '100ms', backoffCoefficient: 2, maximumInterval: '5s' },
  },
  providerRead: {
    startToCloseTimeout: '30s',
    heartbeatTimeout: '5s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  },
  providerCreate: { startToCloseTimeout: '30s', heartbeatTimeout: '5s', retry: { maximumAttempts: 1 } },
  page: {
    startToCloseTimeout: '2m',
    heartbeatTimeout: '5s',
    retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '1m' },
  },
  check: {
    startToCloseTimeout: '20m',
    heartbeatTimeout: '5s',
    retry: { initialInterval: '10s', backoffCoefficient: 2, maximumInterval: '1m', maximumAttempts: 3 },
  },
} as const satisfies Record<string, ActivityOptions>;

/** As a whole, tries and waits together. */
const BOUNDED_BY = '1m';

/** The activities of a subject, as the workflow sees them. */
type Proxies<Activities> = {
  [Name in keyof Activities]: Activities[Name] extends ActivityFunction ? Activities[Name] : never;
};

/**
 * Activities whose class is picked by the prefix of their name. Calls to a provider run on that provider's own task
 * queue, so that a hanging one never stops the others. `tries`: what failed so often, or had not ended within a minute,
 * is left to the caller; else its class decides. `summary` is what Temporal's UI shows beside each.
 */
export function activitiesOf<Activities extends object>(
  provider: string | null,
  options: { tries?: number; summary?: string } = {},
) {
  const proxies = (name: string) => {
    const kind = classOf(name);
    const taskQueue =
      kind === 'database' || provider === null
        ? workflowInfo().taskQueue
        : providerTaskQueue(workflowInfo().taskQueue, provider);
    const { retry } = CLASSES[kind];
    const bounds =
      options.tries === undefined
        ? { retry }
        : { retry: { ...retry, maximumAttempts: options.tries }, scheduleToCloseTimeout: BOUNDED_BY };
    const summary = options.summary === undefined ? {} : { summary: options.summary };
    return proxyActivities<Record<string, ActivityFunction>>({ ...CLASSES[kind], ...summary, ...bounds, taskQueue })[
      name
    ];
  };
  return new Proxy({} as Proxies<Activities>, { get: (_, name) => proxies(String(name)) });
}

/** Which class an activity belongs to; a name outside them is a bug. */
function classOf(name: string): keyof typeof CLASSES {
  const found = (Object.keys(CLASSES) as (keyof typeof CLASSES)[]).find((prefix) => name.startsWith(prefix));
  if (!found) throw new Error(`Activity ${name} needs a prefix: ${Object.keys(CLASSES).join(', ')}.`);
  return found;
}
