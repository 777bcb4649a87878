import type { OpenDecision } from '../contracts/decision.js';
import { resolveAlert } from '../db/alerts.js';
import { choicesOf, decideDeadLetter, findDeadLetter, hashSeenDeadLetter, lockDeadLetter } from '../db/dead-letters.js';
import { closeDecision, openDecisions } from '../db/decisions.js';
import { retrying } from '../db/retrying.js';
import { inTransaction, type Tx } from '../db/transaction.js';
import { newTraceId } from '../telemetry/trace.js';
import type { ActivityDeps } from './deps.js';

/** Applies what people decided on dead letters; each in its own transaction, with what came of it. */
export async function applyDeadLetterDecisions(deps: ActivityDeps, db: Tx): Promise<void> {
  for (const decision of await openDecisions(db, { type: 'dead_letter', ids: null })) {
    await retrying(() => inTransaction(deps.pool, (tx) => applyOne(tx, decision)));
  }
}

async function applyOne(tx: Tx, decision: OpenDecision): Promise<void> {
  const traceId = decision.traceId ?? newTraceId();
  // Two sweeps at once: the second waits here, and then finds the decision closed.
  await lockDeadLetter(tx, decision.subjectId);
  const [open] = await openDecisions(tx, { type: 'dead_letter', ids: [decision.subjectId] });
  if (open?.id !== decision.id) return;
  const letter = await findDeadLetter(tx, decision.subjectId);
  const fits = letter !== null && letter.closedAt === null && hashSeenDeadLetter(letter).equals(decision.seenHash);
  if (!fits) return closeDecision(tx, decision, { outcome: 'void', detail: 'what was seen has changed', traceId });
  const choice = choicesOf(letter).find((possible) => possible === decision.choice);
  if (choice === undefined) {
    return closeDecision(tx, decision, {
      outcome: 'void',
      detail: 'it names nothing that could be read again',
      traceId,
    });
  }
  await decideDeadLetter(tx, letter.id, choice);
  await resolveAlert(tx, `dead_letter:${letter.inboxId}`);
  await closeDecision(tx, decision, { outcome: 'applied', detail: choice, traceId });
}
