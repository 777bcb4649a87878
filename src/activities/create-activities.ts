import { createBalanceActivities } from './balances.js';
import { createCardChangeActivities } from './card-changes.js';
import { createCheckActivities } from './checks.js';
import { createDepositAddressActivities } from './deposit-addresses.js';
import { createDepositActivities } from './deposits.js';
import type { ActivityDeps } from './deps.js';
import { createInboxActivities } from './inbox.js';
import { createIssuanceReadActivities } from './issuance-reads.js';
import { createIssuanceActivities } from './issuances.js';
import { createLoadActivities } from './loads.js';
import { createPayoutActivities } from './payouts.js';
import { createWithdrawalActivities } from './withdrawals.js';

/** All activities of the worker, by registered name. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...createDepositActivities(deps),
    ...createDepositAddressActivities(deps),
    ...createInboxActivities(deps),
    ...createIssuanceActivities(deps),
    ...createIssuanceReadActivities(deps),
    ...createLoadActivities(deps),
    ...createCardChangeActivities(deps),
    ...createWithdrawalActivities(deps),
    ...createPayoutActivities(deps),
    ...createBalanceActivities(deps),
    ...createCheckActivities(deps),
  };
}
