import type { Flow } from '../flow.js';
import { cardsAtIssuer, cardsOfOurs, issueAgain, startCards, untilIssued, wishCards } from '../issuance-truth.js';

/** A card of a quick issuer: reserved, submitted, made once, settled by the answer. */
export const issuanceFlow: Flow = {
  name: 'issuance',
  activities: ['databaseReserveIssuance', 'databaseSubmitIssuance', 'providerCreateIssuance'],
  atOnce: 18,
  async arrange(world, count) {
    const inputs = await wishCards(world, count);
    return {
      start: () => startCards(world, inputs),
      finish: () => untilIssued(world, inputs),
      again: () => issueAgain(world, inputs),
    };
  },
  truth: cardsAtIssuer,
  ours: cardsOfOurs,
};
