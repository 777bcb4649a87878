import { continueAsNew, uuid4 } from '@temporalio/workflow';
import type { IssuanceReadActivities } from '../activities/issuance-reads.js';
import type { IssuancePages, IssuanceReconcileInput } from '../contracts/messages.js';
import { activitiesOf } from './options.js';

/** Activity turns in one run; more than that goes on in a fresh one. */
const TURNS_PER_RUN = 100;

/** Asks the issuer about every issuance that waits: settles what a lost webhook left. Again, it changes nothing. */
export async function issuanceReconcile(
  input: IssuanceReconcileInput & { after?: string | null },
): Promise<Omit<IssuancePages, 'after'>> {
  const { pageIssuances } = activitiesOf<IssuanceReadActivities>(input.provider, {
    summary: `ask about what waits at ${input.account}`,
  });
  const total = { read: 0, changed: 0, failed: 0 };
  const traceId = uuid4().replaceAll('-', '');
  let after = input.after ?? null;
  for (let turns = 0; ; turns += 1) {
    if (turns === TURNS_PER_RUN) return continueAsNew<typeof issuanceReconcile>({ ...input, after });
    const turn = await pageIssuances({ ...input, after, traceId });
    total.read += turn.read;
    total.changed += turn.changed;
    total.failed += turn.failed;
    after = turn.after;
    if (after === null) return total;
  }
}
