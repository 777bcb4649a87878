import { continueAsNew } from '@temporalio/workflow';
import type { DepositActivities } from '../activities/deposits.js';
import type { DepositPages, DepositReconcileInput } from '../contracts/messages.js';
import { activitiesOf } from './options.js';

/** Activity turns in one run; a feed longer than that goes on in a fresh one. */
const TURNS_PER_RUN = 100;

/** One bounded run over a custodian's changes: repairs what the webhooks missed. Running it again changes nothing. */
export async function depositReconcile(input: DepositReconcileInput): Promise<DepositPages> {
  const { pageDepositChanges } = activitiesOf<DepositActivities>(input.provider, {
    summary: `page the changes of ${input.account}`,
  });
  const total: DepositPages = { pages: 0, items: 0, changed: 0, unmatched: 0, unreadable: 0, more: true };
  for (let turns = 0; total.more; turns += 1) {
    if (turns === TURNS_PER_RUN) return continueAsNew<typeof depositReconcile>(input);
    const turn = await pageDepositChanges(input);
    total.pages += turn.pages;
    total.items += turn.items;
    total.changed += turn.changed;
    total.unmatched += turn.unmatched;
    total.unreadable += turn.unreadable;
    total.more = turn.more;
  }
  return total;
}
