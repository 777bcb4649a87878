import { startCardChange } from '../../../src/client/card-changes.js';
import { cardChangeWorkflowId } from '../../../src/contracts/ids.js';
import { cardLoadInput } from '../../support/card-rows.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import {
  allAtIssuer,
  allOfOurs,
  changeAgain,
  type DecidedChange,
  decideChange,
  loadDirectly,
  makeCards,
  tellDirectly,
} from '../card-truth.js';
import type { Flow } from '../flow.js';
import { resultOf } from '../result-of.js';

const ACTIVITIES = ['databaseSubmitCardChange', 'providerCreateCardChange'] as const;

/** A frozen card with a load on it is closed: told, confirmed, and what was on it returned once. */
export const cardChangeFlow: Flow = changeFlow('card-change', async (world, count) => {
  const cards = await makeCards(world, count);
  const loads = cards.map((card) => cardLoadInput(card, 'before the close', '1000'));
  await loadDirectly(world, loads);
  const changes: DecidedChange[] = [];
  for (const card of cards) {
    await tellDirectly(world, [await decideChange(world, card, 'freeze')]);
    changes.push(await decideChange(world, card, 'close'));
  }
  return changes;
});

/** Every other card is frozen, the others unfrozen: a state that is set and no money. */
export const cardFreezeFlow: Flow = changeFlow('card-freeze', async (world, count) => {
  const changes: DecidedChange[] = [];
  for (const [n, card] of (await makeCards(world, count)).entries()) {
    const freeze = await decideChange(world, card, 'freeze');
    if (n % 2 === 1) await tellDirectly(world, [freeze]);
    changes.push(n % 2 === 1 ? await decideChange(world, card, 'unfreeze') : freeze);
  }
  return changes;
});

export async function startChanges({ temporal }: WorkerWorld, changes: readonly DecidedChange[]): Promise<void> {
  for (const { input } of changes) await startCardChange(temporal, input);
}

export async function untilTold(world: WorkerWorld, changes: readonly DecidedChange[]): Promise<void> {
  const idOf = ({ input: { book, cardId, number } }: DecidedChange) => cardChangeWorkflowId({ book, cardId, number });
  await Promise.all(changes.map((change) => resultOf(world, idOf(change))));
}

function changeFlow(name: string, decide: (world: WorkerWorld, count: number) => Promise<DecidedChange[]>): Flow {
  const [truth, ours] = [allAtIssuer, allOfOurs];
  return { name, activities: ACTIVITIES, atOnce: 18, arrange, truth, ours };

  async function arrange(world: WorkerWorld, count: number) {
    const changes = await decide(world, count);
    return {
      start: () => startChanges(world, changes),
      finish: () => untilTold(world, changes),
      again: () => changeAgain(world, changes),
    };
  }
}
