import { uuid4 } from '@temporalio/workflow';
import type { CheckActivities } from '../activities/checks.js';
import { activitiesOf } from './options.js';

/** Each night: rebuilds every balance from all entries. */
export async function fullCheck() {
  const { checkAll } = activitiesOf<CheckActivities>(null, { summary: 'rebuild every balance' });
  return checkAll({ traceId: uuid4().replaceAll('-', '') });
}
