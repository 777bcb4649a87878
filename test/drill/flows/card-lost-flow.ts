import { cardLoadInput } from '../../support/card-rows.js';
import { eventually } from '../../support/simulated-custody.js';
import type { WorkerWorld } from '../../support/worker-world.js';
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
import { startChanges, untilTold } from './card-change-flow.js';
import { startLoads, untilLoaded } from './card-load-flow.js';

/** Loads and closes that were done and whose answers were lost: noted as not known, then the same again. */
export const cardLostFlow: Flow = {
  name: 'card-lost',
  activities: ['databaseSuspectCardLoad', 'databaseSuspectCardChange'],
  atOnce: 18,
  // The issuer is not unwell: each lost answer would count against him.
  settings: { SVERKA_BREAKER_FAILURES: '1000' },
  async arrange(world, count) {
    const loads = (await makeCards(world, count)).map((card) => cardLoadInput(card, 'a load', '1000'));
    const closes: DecidedChange[] = [];
    for (const card of await makeCards(world, count)) closes.push(await decideChange(world, card, 'close'));
    let fault: string | null = null;
    return {
      async start() {
        const before = await posts(world);
        fault = (await world.issuer.drive('POST', '/_sim/faults', { fault: 'lost_answer', match: POSTS })).id;
        await startLoads(world, loads);
        await startChanges(world, closes);
        await eventually(async () => (await posts(world)) >= before + 2 * count);
      },
      async finish() {
        if (fault !== null) await world.issuer.drive('DELETE', `/_sim/faults/${fault}`);
        fault = null;
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

const POSTS = { method: 'POST', path: '/v1/cards/*' } as const;

/** Of loads and changes: each is counted by its own path. */
async function posts({ issuer }: WorkerWorld): Promise<number> {
  const { requests } = await issuer.truth();
  return Object.entries(requests).reduce((sum, [to, n]) => sum + (to.startsWith('POST /v1/cards/') ? n : 0), 0);
}
