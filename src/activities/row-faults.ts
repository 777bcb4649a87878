import { raiseAlert } from '../db/alerts.js';
import { buryRow } from '../db/dead-letters.js';
import { BadValue, ConstraintViolation, UniqueViolation } from '../db/errors.js';
import { countFault, type WaitingRow } from '../db/inbox.js';
import { retrying } from '../db/retrying.js';
import { inTransaction } from '../db/transaction.js';
import { ProviderError } from '../providers/errors.js';
import type { ActivityDeps } from './deps.js';

/** A row that has failed for its own fault so often is dead: a person looks. */
const ATTEMPTS_MAX = 10;

/**
 * Counts a failed apply against the notifications that asked for it, if the fault is the record's own and not an
 * outage. True when all of them are dead letters now, so that nobody need try again.
 */
export async function countRowFault(
  deps: ActivityDeps,
  waiting: readonly WaitingRow[],
  { error, traceId }: { error: unknown; traceId: string },
): Promise<boolean> {
  const reason = ownFault(error);
  if (reason === null || waiting.length === 0) return false;
  const { SVERKA_FAULT_INTERVAL: firstMs, SVERKA_FAULT_INTERVAL_MAX: longestMs } = deps.config;
  return retrying(() =>
    inTransaction(deps.pool, async (tx) => {
      const rows = await countFault(tx, waiting, { reason, firstMs, longestMs });
      const dead = rows.filter((row) => row.attempts >= ATTEMPTS_MAX);
      for (const { id, book, attempts } of dead) {
        await buryRow(tx, { inboxId: id, reason, attempts }, traceId);
        await raiseAlert(tx, {
          key: `dead_letter:${id}`,
          kind: 'dead_letter',
          book,
          subject: { type: 'inbox', id },
          detail: `A notification failed ${attempts} times for its own fault (${reason}): \`sverka deadletters list\`.`,
          traceId,
        });
      }
      return rows.length > 0 && dead.length === rows.length;
    }),
  );
}

/** Why a record with an amount that fits no column of ours is refused. */
export const AMOUNT_OUT_OF_RANGE = 'amount: out of range';

/** The record itself is outside the contract, or refused by the database; any other failure may pass by itself. */
export function ownFault(error: unknown): string | null {
  if (error instanceof ProviderError) {
    if (error.kind !== 'garbage' || error.countsForBreaker) return null;
    return error.reason === AMOUNT_OUT_OF_RANGE ? 'amount_out_of_range' : 'unreadable_record';
  }
  return isRefusedRow(error) ? 'refused_by_database' : null;
}

/** True when a row's own values were refused, and would be again: never an outage, a lock or a right. */
export function isRefusedRow(error: unknown): boolean {
  return error instanceof ConstraintViolation || error instanceof BadValue || error instanceof UniqueViolation;
}
