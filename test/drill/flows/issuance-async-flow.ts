import type { Flow } from '../flow.js';
import {
  cardsAtIssuer,
  cardsOfOurs,
  changeCards,
  issueAgain,
  notifyCards,
  startCards,
  untilCardState,
  untilIssued,
  wishCards,
} from '../issuance-truth.js';
import { withWorker } from '../with-worker.js';

/** A card of a slow issuer, pending until his webhook says that he has made it. */
export const issuanceAsyncFlow: Flow = {
  name: 'issuance-async',
  activities: ['providerReadIssuance'],
  atOnce: 18,
  async arrange(world, count) {
    const inputs = await wishCards(world, count, { product: 'async' });
    const rows = await withWorker(world, async () => {
      await startCards(world, inputs);
      return untilCardState(world, inputs, 'pending');
    });
    await changeCards(world, rows);
    return {
      start: () => notifyCards(world, rows),
      finish: () => untilIssued(world, inputs),
      again: () => issueAgain(world, inputs),
    };
  },
  truth: cardsAtIssuer,
  ours: cardsOfOurs,
};
