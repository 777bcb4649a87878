import { startCardLoad } from '../../../src/client/loads.js';
import { cardLoadWorkflowId } from '../../../src/contracts/ids.js';
import type { CardLoadInput } from '../../../src/contracts/messages.js';
import { cardLoadInput } from '../../support/card-rows.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import { allAtIssuer, allOfOurs, loadDirectly, makeCards } from '../card-truth.js';
import type { Flow } from '../flow.js';
import { resultOf } from '../result-of.js';

/** A load of a card: reserved, submitted, made once, settled onto the card by the answer. */
export const cardLoadFlow: Flow = {
  name: 'card-load',
  activities: ['databaseReserveCardLoad', 'databaseSubmitCardLoad', 'providerCreateCardLoad'],
  atOnce: 18,
  async arrange(world, count) {
    const inputs = (await makeCards(world, count)).map((card) => cardLoadInput(card, 'a load', '1000'));
    return {
      start: () => startLoads(world, inputs),
      finish: () => untilLoaded(world, inputs),
      again: () => loadDirectly(world, inputs),
    };
  },
  truth: allAtIssuer,
  ours: allOfOurs,
};

export async function startLoads({ temporal }: WorkerWorld, inputs: readonly CardLoadInput[]): Promise<void> {
  for (const input of inputs) await startCardLoad(temporal, input);
}

export async function untilLoaded(world: WorkerWorld, inputs: readonly CardLoadInput[]): Promise<void> {
  const idOf = ({ book, merchantId, request }: CardLoadInput) =>
    cardLoadWorkflowId({ book, merchantId, requestId: request.id });
  await Promise.all(inputs.map((input) => resultOf(world, idOf(input))));
}
