import { decideAs, makePerson } from '../../support/decisions.js';
import type { IssuanceFacts } from '../../support/issuance-rows.js';
import type { WorkerWorld } from '../../support/worker-world.js';
import type { Flow, Subjects } from '../flow.js';
import {
  BY_HAND,
  cardsAtIssuer,
  cardsOfOurs,
  issueAgain,
  nudgeCards,
  startCards,
  untilCardState,
  untilIssued,
  wishCards,
} from '../issuance-truth.js';
import { NOT_UNWELL } from '../lost-answers.js';
import { withWorker } from '../with-worker.js';

/** A create of which nobody knows the end: a person declares it failed. */
export const issuanceDecisionFlow = decisionFlow('issuance-decision', declareFailed);

/** The same, and the person names the card that it is. */
export const issuanceLinkFlow = decisionFlow('issuance-link', link);

function decisionFlow(name: string, decide: (world: WorkerWorld, row: IssuanceFacts) => Promise<void>): Flow {
  const [truth, ours] = [cardsAtIssuer, cardsOfOurs];
  return { name, activities: ['providerReadIssuance'], atOnce: 18, settings: NOT_UNWELL, arrange, truth, ours };

  async function arrange(world: WorkerWorld, count: number): Promise<Subjects> {
    const inputs = await wishCards(world, count);
    const match = { method: 'POST', path: '/v1/cards' };
    const { id } = await world.issuer.drive('POST', '/_sim/faults', { fault: 'status', status: 500, match });
    const rows = await withWorker(world, async () => {
      await startCards(world, inputs);
      return untilCardState(world, inputs, 'unknown');
    });
    await world.issuer.drive('DELETE', `/_sim/faults/${id}`);
    for (const row of rows) await decide(world, row);
    return {
      start: () => nudgeCards(world, rows),
      finish: () => untilIssued(world, inputs),
      again: () => issueAgain(world, inputs),
    };
  }
}

async function link(world: WorkerWorld, { id }: IssuanceFacts): Promise<void> {
  const holder = { first_name: 'Ada', last_name: 'Koch', birth_date: '1990-02-28', country: 'DE', document: 'X1' };
  const load = { amount: '25.00', asset: 'USD' };
  const card = await world.issuer.makeCard({ reference: BY_HAND + id, product: 'instant', holder, load });
  const userId = await makePerson(world.owner, `links-${id}`);
  await decideAs(world.owner, { type: 'issuance', id, choice: 'link', argument: card.id, userId });
}

async function declareFailed(world: WorkerWorld, { id }: IssuanceFacts): Promise<void> {
  const userId = await makePerson(world.owner, `declares-${id}`);
  await decideAs(world.owner, { type: 'issuance', id, choice: 'declare_failed', userId });
}
