import { uuid4 } from '@temporalio/workflow';
import type { CheckActivities } from '../activities/checks.js';
import { activitiesOf } from './options.js';

/** Each hour: rebuilds the balances of what changed since the last check; any difference is an alert. */
export async function driftCheck() {
  const { checkDrift } = activitiesOf<CheckActivities>(null, { summary: 'rebuild what changed' });
  return checkDrift({ traceId: uuid4().replaceAll('-', '') });
}
