import {
  ActivityFailure,
  allHandlersFinished,
  condition,
  continueAsNew,
  isCancellation,
  log,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow';
import type { DepositActivities } from '../activities/deposits.js';
import type { InboxActivities } from '../activities/inbox.js';
import type { IssuanceReadActivities } from '../activities/issuance-reads.js';
import type { PayoutActivities } from '../activities/payouts.js';
import { depositWorkflowId } from '../contracts/ids.js';
import type { DepositInput, IssuanceRef, PayoutRef, SweptPart } from '../contracts/messages.js';
import { activitiesOf } from './options.js';

/** Turns in one run: of 41 events at most, below what Temporal suggests to leave at. */
const TURNS_PER_RUN = 90;
/** Closed deposits read at the same time; what is over comes again. */
const READS_MAX = 200;
/** Tries of a part before its failure is an alert and its turn is over. */
const TRIES = 3;

const PARTS = [
  'databaseSeal',
  'databaseSweepDeadLetters',
  'databaseNudgeOverdue',
  'databaseRestartStranded',
  'databaseApplyLedgerImport',
] as const satisfies readonly (keyof InboxActivities)[];

/** For ever: finds notifications that nobody came for and subjects whose workflow is lost, and numbers what is new. */
export async function inboxSweep(): Promise<never> {
  const { databaseEndSweep } = activitiesOf<InboxActivities>(null);
  const reading = new Map<string, Promise<void>>();
  for (let turns = 0; turns < TURNS_PER_RUN && !workflowInfo().continueAsNewSuggested; turns += 1) {
    const beganAt = Date.now();
    const parts = await Promise.all(PARTS.map(sweepPart));
    const failed = PARTS.filter((_, n) => parts[n] === null);
    const found = parts.filter((part) => part !== null);
    // Not waited for: a hanging provider must not stop the sweep of the others.
    const read = (id: string, ask: () => Promise<void>) => {
      if (reading.has(id) || reading.size >= READS_MAX) return;
      reading.set(
        id,
        ask().finally(() => reading.delete(id)),
      );
    };
    for (const { closed, closedCards = [], payouts = [] } of found) {
      for (const input of closed) read(depositWorkflowId(input), () => readClosed(input));
      for (const of of payouts) read(`payout:${of.book}:${of.account}:${of.ref}`, () => readPayout(of));
      for (const of of closedCards) read(`card:${of.book}:${of.account}:${of.ref}`, () => readClosedCard(of));
    }
    const full = found.some((part) => part.full);
    const { waitMs } = await databaseEndSweep({ beganAt, failed, full, traceId: uuid4().replaceAll('-', '') });
    if (waitMs > 0) await sleep(waitMs, { summary: 'until the next sweep' });
  }
  await Promise.all(reading.values());
  await condition(allHandlersFinished);
  return continueAsNew<typeof inboxSweep>();
}

/** One part, beside the others; null when it failed, which is told and tried again in the next turn. */
async function sweepPart(part: (typeof PARTS)[number]): Promise<SweptPart | null> {
  try {
    return await activitiesOf<InboxActivities>(null, { tries: TRIES })[part]();
  } catch (error) {
    if (!(error instanceof ActivityFailure) || isCancellation(error)) throw error;
    log.warn('a part of the sweep failed', { code: 'sweep_part_failed', part });
    return null;
  }
}

/** Applied through the same function; never a second run of a payment's id (R13). */
async function readClosed(input: DepositInput): Promise<void> {
  const { providerReadDeposit } = activitiesOf<DepositActivities>(input.provider, { tries: 1 });
  const absentMs = input.absentSince == null ? 0 : Date.now() - input.absentSince;
  await triedOnce(providerReadDeposit({ ...input, absentMs }), 'deposit', input.traceId);
}

async function readClosedCard(of: IssuanceRef): Promise<void> {
  const { providerReadIssuanceOf } = activitiesOf<IssuanceReadActivities>(of.provider, { tries: 1 });
  await triedOnce(providerReadIssuanceOf(of), 'card', of.traceId);
}

async function readPayout(of: PayoutRef): Promise<void> {
  const { providerReadPayoutOf } = activitiesOf<PayoutActivities>('custody', { tries: 1 });
  await triedOnce(providerReadPayoutOf(of), 'payout', of.traceId);
}

async function triedOnce(read: Promise<unknown>, subject: string, traceId: string): Promise<void> {
  try {
    await read;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    // The row comes again when its lease is over.
    log.warn(`a swept ${subject} could not be read`, { code: 'sweep_read_failed', trace_id: traceId });
  }
}
