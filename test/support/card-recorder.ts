import { startCardChange } from '../../src/client/card-changes.js';
import { requestIssuance } from '../../src/client/issuances.js';
import { requestCardLoad } from '../../src/client/loads.js';
import { cardChangeWorkflowId, cardLoadWorkflowId } from '../../src/contracts/ids.js';
import type { CardChangeInput } from '../../src/contracts/messages.js';
import { readCardChange } from '../../src/db/card-changes.js';
import type { CardChangeKind } from '../../src/domain/card-change.js';
import { cardLoadInput, decideCardChange, type OwnCard } from './card-rows.js';
import { type Buyer, issuanceInput, issuanceOf, makeBuyer, workflowIdOf } from './issuance-rows.js';
import { eventually } from './simulated-custody.js';
import { historyOf } from './worker-history.js';
import type { WorkerWorld } from './worker-world.js';

const WITHIN_MS = 10_000;

/** Runs each path of loads and changes of a card once; answers workflow ids by name of the history. */
export async function playCards(world: WorkerWorld): Promise<Record<string, string>> {
  const buyer = await makeBuyer(world);
  const card = await issuedCard(world, buyer, 'for-cards');
  return {
    'card-load-made': await load(world, { card, key: 'made' }),
    'card-load-lost': await load(world, { card, key: 'lost', fault: { fault: 'lost_answer' } }),
    'card-load-declined': await load(world, { card, key: 'no', fault: { fault: 'status', status: 422 } }),
    'card-load-refused': await load(world, { card, key: 'dear', amount: '99999999' }),
    'card-change-confirmed': await change(world, { card, kind: 'freeze' }),
    'card-change-told-again': await change(world, { card, kind: 'unfreeze', fault: { fault: 'lost_answer' } }),
    'card-change-closed': await change(world, { card, kind: 'close' }),
    'card-change-superseded': await superseded(world, await issuedCard(world, buyer, 'for-superseded')),
  };
}

interface OfCard {
  readonly card: OwnCard;
  readonly fault?: object;
}

async function issuedCard(world: WorkerWorld, buyer: Buyer, key: string): Promise<OwnCard> {
  const input = issuanceInput(buyer, key);
  await requestIssuance(world.temporal, input, WITHIN_MS);
  await world.temporal.client.workflow.getHandle(workflowIdOf(input)).result();
  return { merchantId: buyer.merchantId, cardId: (await issuanceOf(world, input)).cardId };
}

async function load(world: WorkerWorld, of: OfCard & { key: string; amount?: string }): Promise<string> {
  const { card, key, amount = '500', fault } = of;
  await plant(world, fault);
  const input = cardLoadInput(card, `load-${key}`, amount);
  await requestCardLoad(world.temporal, input, WITHIN_MS);
  const { merchantId, request } = input;
  const workflowId = cardLoadWorkflowId({ book: 'live', merchantId, requestId: request.id });
  await ended(world, workflowId);
  return workflowId;
}

async function change(world: WorkerWorld, { card, kind, fault }: OfCard & { kind: CardChangeKind }): Promise<string> {
  await plant(world, fault);
  const { workflowId } = await begin(world, card, kind);
  await ended(world, workflowId);
  return workflowId;
}

/** The second waits behind a first that the issuer does not take, and the third overtakes it. */
async function superseded(world: WorkerWorld, card: OwnCard): Promise<string> {
  const fault = await plant(world, { fault: 'status', status: 503, times: null });
  const first = await begin(world, card, 'freeze');
  await eventually(async () => (await readCardChange(world.tx, first)).submittedAt !== null);
  const second = await begin(world, card, 'unfreeze');
  await eventually(async () => (await historyOf(world, second.workflowId)).timers >= 1);
  const third = await begin(world, card, 'close');
  await world.issuer.drive('DELETE', `/_sim/faults/${fault}`);
  for (const { workflowId } of [first, second, third]) await ended(world, workflowId);
  return second.workflowId;
}

async function begin(
  world: WorkerWorld,
  card: OwnCard,
  kind: CardChangeKind,
): Promise<CardChangeInput & { workflowId: string }> {
  const { answer, input } = await decideCardChange(world, card, { kind, key: `${kind}-${card.cardId}` });
  if (input === null) throw new Error(`The card was not asked to ${kind}: ${answer}.`);
  await startCardChange(world.temporal, input);
  return { ...input, workflowId: cardChangeWorkflowId(input) };
}

async function ended({ temporal }: WorkerWorld, workflowId: string): Promise<void> {
  await temporal.client.workflow.getHandle(workflowId).result();
}

/** Once, unless it says otherwise; answers its name. */
async function plant(world: WorkerWorld, fault: object | undefined): Promise<string | null> {
  const match = { method: 'POST', path: '/v1/cards/*' };
  return fault ? (await world.issuer.drive('POST', '/_sim/faults', { match, times: 1, ...fault })).id : null;
}
