import { createCheckActivities } from './checks.js';
import { createDepositAddressActivities } from './deposit-addresses.js';
import { createDepositActivities } from './deposits.js';
import type { ActivityDeps } from './deps.js';
import { createInboxActivities } from './inbox.js';

/** All activities of the worker, by registered name. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createDepositActivities(deps),
    ...createDepositAddressActivities(deps),
    ...createInboxActivities(deps),
    ...createCheckActivities(deps),
  };
}
