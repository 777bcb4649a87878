import { condition, continueAsNew, defineSignal, setHandler } from '@temporalio/workflow';
import type { DepositActivities } from '../activities/deposits.js';
import { type DepositInput, type DepositSeen, NUDGE_SIGNAL, type Nudge } from '../contracts/messages.js';
import { activitiesOf } from './options.js';
import { isRunLong } from './run-length.js';
import { createShow } from './show.js';

const nudge = defineSignal<[Nudge]>(NUDGE_SIGNAL);

/** Reads in one run; a deposit that confirms for days goes on in a fresh one. */
const READS_PER_RUN = 100;

/**
 * Follows one deposit until nothing is left to follow: reads the custodian's record, which applies it, then waits for
 * a nudge or for its time. A nudge carries no facts; a lost one costs only time.
 */
export async function deposit(input: DepositInput): Promise<DepositSeen> {
  const summary = `read ${input.ref} at ${input.account} and apply it`;
  const { providerReadDeposit } = activitiesOf<DepositActivities>(input.provider, { summary });
  const show = createShow();
  let traceId = input.traceId;
  let nudged = false;
  setHandler(
    nudge,
    (by) => {
      traceId = by.traceId;
      nudged = true;
    },
    { description: 'Look again: the custodian notified, or a person decided.' },
  );

  let absentSince: number | null = input.absentSince ?? null;
  for (let reads = 0; ; reads += 1) {
    if (reads === READS_PER_RUN || (reads > 0 && isRunLong()))
      return continueAsNew<typeof deposit>({ ...input, traceId, absentSince });
    // Cleared before the read: a nudge that arrives during it asks for another.
    nudged = false;
    const absentMs = absentSince === null ? 0 : Date.now() - absentSince;
    const seen = await providerReadDeposit({ ...input, traceId, absentMs });
    absentSince = seen.state === 'not_found' ? (absentSince ?? Date.now()) : null;
    show({
      ...seen,
      facts: [
        ['deposit', seen.depositId],
        ['reason', seen.reason ?? 'none'],
      ],
    });
    if (seen.ended) return seen;
    if (seen.waitMs === null) await condition(() => nudged);
    else await condition(() => nudged, seen.waitMs);
  }
}
