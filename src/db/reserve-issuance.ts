import { issuanceWorkflowId } from '../contracts/ids.js';
import type { IssuanceInput, Refusal } from '../contracts/messages.js';
import { CARDHOLDER_ERASED } from '../domain/issuance.js';
import { bookIssuance, issuanceMovementId } from './book-issuance.js';
import { cardTerms, insertCard } from './cards.js';
import { insertIssuance } from './issuances.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/** What a request for a card led to. */
export interface ReservedIssuance {
  readonly cardId: string;
  readonly issuanceId: string;
}

/**
 * A card that waits, its issuance, and load and fee set aside, in one commit with whatever `keep` writes (the request).
 * Answers the refusal of an erased identity. Throws `HoldRefused` when the wallet does not cover it or its owner owes:
 * then nothing of this may stay.
 */
export async function reserveIssuance(
  tx: Tx,
  input: IssuanceInput,
  keep: (made: ReservedIssuance) => Promise<void>,
): Promise<ReservedIssuance | Refusal> {
  const { book, merchantId, cardholderId, product, asset, provider, account, traceId } = input;
  const { revision, fee: feeAmount } = await cardTerms(tx, input);
  if (revision === null) return { code: CARDHOLDER_ERASED, detail: 'The identity of this cardholder was erased.' };
  if (feeAmount === null) throw new Error(`No fee is set for ${product} cards in ${asset}: sverka products set-fee.`);
  const made = { cardId: newId('card'), issuanceId: newId('issuance') };
  const base = { book, merchantId, cardholderId, product, asset, provider, account, traceId };
  const money = {
    ...{ id: made.issuanceId, cardId: made.cardId, book, merchantId, provider, providerAccount: account, asset },
    ...{ generation: 0, loadAmount: BigInt(input.load), feeAmount },
  };
  const actor = `merchant:${merchantId}`;
  await insertCard(tx, { ...base, id: made.cardId, actor });
  const movementId = issuanceMovementId(money, 'hold');
  const workflowId = issuanceWorkflowId({ book, merchantId, requestId: input.request.id, generation: 0 });
  await insertIssuance(tx, { ...money, ...base, cardholderRevision: revision, movementId, workflowId, actor });
  await keep(made);
  await bookIssuance(tx, { finish: null, hold: money }, traceId);
  return made;
}
