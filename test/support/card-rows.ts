import { toChangedCard } from '../../src/contracts/card.js';
import type { CardChangeInput, CardLoadInput } from '../../src/contracts/messages.js';
import { type CardChangeRequested, requestCardChange } from '../../src/db/card-changes.js';
import { readCard } from '../../src/db/cards.js';
import type { CardChangeKind } from '../../src/domain/card-change.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { requestOf } from './issuance-rows.js';
import type { WorkerWorld } from './worker-world.js';

/** A card and whose it is. */
export interface OwnCard {
  readonly merchantId: string;
  readonly cardId: string;
}

const AT = { book: 'live', provider: 'issuer', account: 'main-live' } as const;

/** What the gateway would hand over for `POST /v1/cards/{id}/loads` with that key; `amount` in cents. */
export function cardLoadInput({ merchantId, cardId }: OwnCard, key: string, amount: string): CardLoadInput {
  const request = requestOf(merchantId, key, `/v1/cards/${cardId}/loads`);
  return { ...AT, merchantId, request, cardId, asset: 'USD', amount, traceId: newTraceId() };
}

/** As the gateway commits a change with that key; `input` is for its workflow, null when there is nothing to tell. */
export async function decideCardChange(
  { tx }: Pick<WorkerWorld, 'tx'>,
  { merchantId, cardId }: OwnCard,
  { kind, key }: { kind: CardChangeKind; key: string },
): Promise<{ answer: CardChangeRequested['answer']; input: CardChangeInput | null }> {
  const card = await readCard(tx, cardId);
  const request = requestOf(merchantId, key, `/v1/cards/${cardId}/${kind}`);
  const wanted = { cardId, kind, book: 'live', merchantId, seenVersion: card.version, request } as const;
  const traceId = newTraceId();
  const shown = toChangedCard(card, kind);
  const { answer, number } = await requestCardChange(tx, { ...wanted, traceId, shown });
  return { answer, input: number === null ? null : { ...AT, merchantId, cardId, number, traceId } };
}
