import { startCardChange } from '../../src/client/card-changes.js';
import { requestIssuance } from '../../src/client/issuances.js';
import { requestCardLoad } from '../../src/client/loads.js';
import { toChangedCard } from '../../src/contracts/card.js';
import { cardChangeWorkflowId, cardLoadWorkflowId } from '../../src/contracts/ids.js';
import type { CardLoadInput } from '../../src/contracts/messages.js';
import { requestCardChange } from '../../src/db/card-changes.js';
import { readCard } from '../../src/db/cards.js';
import type { CardChangeKind } from '../../src/domain/card-change.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { type Buyer, issuanceInput, issuanceOf, makeBuyer, requestOf, workflowIdOf } from './issuance-rows.js';
import type { WorkerWorld } from './worker-world.js';

const WITHIN_MS = 10_000;
const AT = { book: 'live', provider: 'issuer', account: 'main-live' } as const;

/** Runs each path of loads and changes of a card once; answers workflow ids by name of the history. */
export async function playCards(world: WorkerWorld): Promise<Record<string, string>> {
  const buyer = await makeBuyer(world);
  const cardId = await issuedCard(world, buyer);
  return {
    'card-load-made': await load(world, { buyer, cardId, key: 'made' }),
    'card-load-lost': await load(world, { buyer, cardId, key: 'lost', fault: { fault: 'lost_answer' } }),
    'card-load-declined': await load(world, { buyer, cardId, key: 'no', fault: { fault: 'status', status: 422 } }),
    'card-load-refused': await load(world, { buyer, cardId, key: 'dear', amount: '99999999' }),
    'card-change-confirmed': await change(world, { buyer, cardId, kind: 'freeze' }),
    'card-change-told-again': await change(world, { buyer, cardId, kind: 'unfreeze', fault: { fault: 'lost_answer' } }),
    'card-change-closed': await change(world, { buyer, cardId, kind: 'close' }),
  };
}

interface OfCard {
  readonly buyer: Buyer;
  readonly cardId: string;
  readonly fault?: object;
}

async function issuedCard(world: WorkerWorld, buyer: Buyer): Promise<string> {
  const input = issuanceInput(buyer, 'for-cards');
  await requestIssuance(world.temporal, input, WITHIN_MS);
  await world.temporal.client.workflow.getHandle(workflowIdOf(input)).result();
  return (await issuanceOf(world, input)).cardId;
}

async function load(world: WorkerWorld, of: OfCard & { key: string; amount?: string }): Promise<string> {
  const { buyer, cardId, key, amount = '500', fault } = of;
  await plant(world, fault);
  const { merchantId } = buyer;
  const request = requestOf(merchantId, `load-${key}`, `/v1/cards/${cardId}/loads`);
  const input: CardLoadInput = { ...AT, merchantId, request, cardId, asset: 'USD', amount, traceId: newTraceId() };
  await requestCardLoad(world.temporal, input, WITHIN_MS);
  const workflowId = cardLoadWorkflowId({ book: 'live', merchantId, requestId: request.id });
  await world.temporal.client.workflow.getHandle(workflowId).result();
  return workflowId;
}

async function change(world: WorkerWorld, of: OfCard & { kind: CardChangeKind }): Promise<string> {
  const { buyer, cardId, kind, fault } = of;
  await plant(world, fault);
  const { merchantId } = buyer;
  const card = await readCard(world.tx, cardId);
  const request = requestOf(merchantId, kind, `/v1/cards/${cardId}/${kind}`);
  const wanted = { cardId, kind, book: 'live', merchantId, seenVersion: card.version, request } as const;
  const traceId = newTraceId();
  const { number } = await requestCardChange(world.tx, { ...wanted, traceId, shown: toChangedCard(card, kind) });
  if (number === null) throw new Error(`The card was not asked to ${kind}.`);
  await startCardChange(world.temporal, { ...AT, merchantId, cardId, number, traceId });
  const workflowId = cardChangeWorkflowId({ book: 'live', cardId, number });
  await world.temporal.client.workflow.getHandle(workflowId).result();
  return workflowId;
}

async function plant(world: WorkerWorld, fault: object | undefined): Promise<void> {
  const match = { method: 'POST', path: '/v1/cards/*' };
  if (fault) await world.issuer.drive('POST', '/_sim/faults', { match, times: 1, ...fault });
}
