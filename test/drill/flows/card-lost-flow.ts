import { cardLoadInput } from '../../support/card-rows.js';
import {
  allAtIssuer,
  allOfOurs,
  changeAgain,
  type DecidedChange,
  decideChange,
  loadDirectly,
  makeCards,
} from '../card-truth.js';
import type { Flow } from '../flow.js';
import { losingAnswers, NOT_UNWELL } from '../lost-answers.js';
import { startChanges, untilTold } from './card-change-flow.js';
import { startLoads, untilLoaded } from './card-load-flow.js';

/** Loads and closes that were done and whose answers were lost: noted as not known, then the same again. */
export const cardLostFlow: Flow = {
  name: 'card-lost',
  activities: ['databaseSuspectCardLoad', 'databaseSuspectCardChange'],
  atOnce: 18,
  settings: NOT_UNWELL,
  async arrange(world, count) {
    const loads = (await makeCards(world, count)).map((card) => cardLoadInput(card, 'a load', '1000'));
    const closes: DecidedChange[] = [];
    for (const card of await makeCards(world, count)) closes.push(await decideChange(world, card, 'close'));
    const losing = losingAnswers(world, { path: '/v1/cards/*', count: 2 * count });
    return {
      start: () =>
        losing.during(async () => {
          await startLoads(world, loads);
          await startChanges(world, closes);
        }),
      async finish() {
        await losing.end();
        await Promise.all([untilLoaded(world, loads), untilTold(world, closes)]);
      },
      async again() {
        await loadDirectly(world, loads);
        await changeAgain(world, closes);
      },
    };
  },
  truth: allAtIssuer,
  ours: allOfOurs,
};
