import type { Flow } from '../flow.js';
import { cardsAtIssuer, cardsOfOurs, issueAgain, startCards, untilIssued, wishCards } from '../issuance-truth.js';

/** A card that the issuer refuses to make: what was held goes back, once. */
export const issuanceDeclinedFlow: Flow = {
  name: 'issuance-declined',
  activities: ['providerCreateIssuance'],
  atOnce: 18,
  async arrange(world, count) {
    const inputs = await wishCards(world, count, { document: 'DECLINE:fraud' });
    return {
      start: () => startCards(world, inputs),
      finish: () => untilIssued(world, inputs),
      again: () => issueAgain(world, inputs),
    };
  },
  truth: cardsAtIssuer,
  ours: cardsOfOurs,
};
