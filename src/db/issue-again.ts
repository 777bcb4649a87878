import type { IssuanceRecord } from '../contracts/card.js';
import { issuanceWorkflowId } from '../contracts/ids.js';
import { type IssuanceMoney, issuanceMovementId } from './book-issuance.js';
import { cardTerms, moveCard } from './cards.js';
import { insertIssuance } from './issuances.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** Why a card is not issued again; the caller's transaction has to roll back. */
export class AgainRefused extends Error {
  constructor(readonly why: string) {
    super(`The card is not issued again: ${why}.`);
    this.name = 'AgainRefused';
  }
}

/**
 * The next generation of a card, reserved with a load as before and the fee of now, by a person's decision on the one
 * before. Answers what has to be held. The sweep starts its workflow: the row is the truth.
 */
export async function issueAgain(
  tx: Tx,
  before: IssuanceRecord,
  by: { readonly userId: string; readonly traceId: string },
): Promise<IssuanceMoney> {
  const { revision, fee } = await cardTerms(tx, before);
  if (revision === null) throw new AgainRefused('the cardholder was erased');
  if (fee === null) throw new AgainRefused('the product is not offered any more');
  const generation = before.generation + 1;
  const next = { ...before, id: newId('issuance'), generation, feeAmount: fee };
  const workflowId = issuanceWorkflowId({ ...before, requestId: await requestOf(tx, before.cardId), generation });
  const who = { actor: `user:${by.userId}`, traceId: by.traceId };
  await insertIssuance(tx, {
    ...next,
    ...who,
    workflowId,
    account: before.providerAccount,
    cardholderRevision: revision,
    movementId: issuanceMovementId(next, 'hold'),
  });
  await moveCard(tx, before.cardId, { ...who, from: ['failed'], to: 'pending', reason: 'issued_again' });
  return next;
}

async function requestOf(tx: Tx, cardId: string): Promise<string> {
  const rows = await tx.query<{ id: string }>('select id from sverka.request where resource_id = $1 and made', [
    cardId,
  ]);
  if (!rows[0]) throw new Error(`Card ${cardId} was made by no request.`);
  return rows[0].id;
}
