import { eventually } from '../../support/simulated-custody.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import type { Flow } from '../flow.js';
import { cardsAtIssuer, cardsOfOurs, issueAgain, startCards, untilIssued, wishCards } from '../issuance-truth.js';

/** A card that was made and whose answer was lost: noted as unknown, then found by our reference. */
export const issuanceLostFlow: Flow = {
  name: 'issuance-lost',
  activities: ['databaseSuspectIssuance', 'providerReadIssuance'],
  atOnce: 18,
  // The issuer is not unwell: each lost answer would count against him.
  settings: { SVERKA_BREAKER_FAILURES: '1000' },
  async arrange(world, count) {
    const inputs = await wishCards(world, count);
    let fault: string | null = null;
    return {
      async start() {
        const before = await posts(world);
        fault = (await world.issuer.drive('POST', '/_sim/faults', { fault: 'lost_answer', match: POST_CARDS })).id;
        await startCards(world, inputs);
        await eventually(async () => (await posts(world)) >= before + count);
      },
      async finish() {
        if (fault !== null) await world.issuer.drive('DELETE', `/_sim/faults/${fault}`);
        fault = null;
        await untilIssued(world, inputs);
      },
      again: () => issueAgain(world, inputs),
    };
  },
  truth: cardsAtIssuer,
  ours: cardsOfOurs,
};

const POST_CARDS = { method: 'POST', path: '/v1/cards' } as const;

async function posts({ issuer }: WorkerWorld): Promise<number> {
  return (await issuer.truth()).requests['POST /v1/cards'] ?? 0;
}
