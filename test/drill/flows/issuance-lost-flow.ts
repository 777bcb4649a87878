import type { Flow } from '../flow.js';
import { cardsAtIssuer, cardsOfOurs, issueAgain, startCards, untilIssued, wishCards } from '../issuance-truth.js';
import { losingAnswers, NOT_UNWELL } from '../lost-answers.js';

/** A card that was made and whose answer was lost: noted as unknown, then found by our reference. */
export const issuanceLostFlow: Flow = {
  name: 'issuance-lost',
  activities: ['databaseSuspectIssuance', 'providerReadIssuance'],
  atOnce: 18,
  settings: NOT_UNWELL,
  async arrange(world, count) {
    const inputs = await wishCards(world, count);
    const losing = losingAnswers(world, { path: '/v1/cards', count });
    return {
      start: () => losing.during(() => startCards(world, inputs)),
      async finish() {
        await losing.end();
        await untilIssued(world, inputs);
      },
      again: () => issueAgain(world, inputs),
    };
  },
  truth: cardsAtIssuer,
  ours: cardsOfOurs,
};
