import { cardLoadWorkflowId } from '../contracts/ids.js';
import type { CardLoadInput, Refusal } from '../contracts/messages.js';
import { loadRefusal } from '../domain/load.js';
import { holdLoad, loadMovementId } from './book-load.js';
import { lockCard } from './cards.js';
import { insertLoad } from './loads.js';
import { newId } from './new-id.js';
import type { Tx } from './transaction.js';

/**
 * A load and its money set aside, in one commit with whatever `keep` writes (the request); answers its id, or why the
 * card takes none, decided under the card's lock. Throws `HoldRefused` when the wallet does not cover it or its owner
 * owes: then nothing of this may stay.
 */
export async function reserveLoad(
  tx: Tx,
  input: CardLoadInput,
  keep: (loadId: string) => Promise<void>,
): Promise<string | Refusal> {
  const { book, merchantId, cardId, asset, provider, account: providerAccount, traceId } = input;
  const { state } = await lockCard(tx, cardId);
  const code = loadRefusal(state);
  if (code !== null) return { code, detail: `The card is ${state}.` };
  const id = newId('load');
  const money = { id, cardId, book, merchantId, provider, providerAccount, asset, amount: BigInt(input.amount) };
  const workflowId = cardLoadWorkflowId({ book, merchantId, requestId: input.request.id });
  const movementId = loadMovementId(money, 'hold');
  await insertLoad(tx, { ...money, movementId, workflowId, actor: `merchant:${merchantId}`, traceId });
  await keep(id);
  await holdLoad(tx, money, traceId);
  return id;
}
