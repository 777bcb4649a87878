import { continueAsNew, sleep, uuid4 } from '@temporalio/workflow';
import type { CheckActivities } from '../activities/checks.js';
import { activitiesOf } from './options.js';

const TURNS_PER_RUN = 200;

/** For ever, each minute: bounds of balances, stuck states, backlog, breakers, checks that did not run. */
export async function healthWatch(): Promise<never> {
  const { databaseWatchHealth } = activitiesOf<CheckActivities>(null);
  for (let turns = 0; turns < TURNS_PER_RUN; turns += 1) {
    const { waitMs } = await databaseWatchHealth({ traceId: uuid4().replaceAll('-', '') });
    await sleep(waitMs, { summary: 'until the next look' });
  }
  return continueAsNew<typeof healthWatch>();
}
