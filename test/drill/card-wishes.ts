import { startCardChange } from '../../src/client/card-changes.js';
import { startCardLoad } from '../../src/client/loads.js';
import { findRequest } from '../../src/db/requests.js';
import type { CardChangeKind } from '../../src/domain/card-change.js';
import { cardLoadInput, decideCardChange, type OwnCard } from '../support/card-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import type { Random } from './random.js';

/** What a merchant asks for, again with the same key until he has been answered. */
export interface Wish {
  readonly what: string;
  ask(): Promise<unknown>;
}

/** Of the calls that the issuer is asked about a card, so many leave no answer. */
const FAULTY = 0.15;
/** Up to so much of a chance each: a load, a freeze, an unfreeze; the rest are closes. */
const KINDS = { load: 0.6, freeze: 0.78, unfreeze: 0.95 } as const;

/** A load or a change of one of the cards that are there by now; null when there is none yet. */
export async function wishOfCard(world: WorkerWorld, random: Random, key: string): Promise<Wish | null> {
  const [which, kind, faulty, cents] = [random(), random(), random(), 1 + Math.floor(random() * 5_000)];
  const { rows } = await world.owner.query<OwnCard>(
    `select id as "cardId", merchant_id as "merchantId" from sverka.card where state in ('active', 'frozen') order by id`,
  );
  const card = rows[Math.floor(which * rows.length)];
  if (card === undefined) return null;
  if (faulty < FAULTY) await loseAnswer(world, faulty < FAULTY / 2 ? 'lost_answer' : 'timeout_before');
  if (kind < KINDS.load) return loadWish(world, card, { key, cents });
  return changeWish(world, card, {
    key,
    kind: kind < KINDS.freeze ? 'freeze' : kind < KINDS.unfreeze ? 'unfreeze' : 'close',
  });
}

/** As the gateway does: a key that has led somewhere is answered by its row. */
function loadWish(world: WorkerWorld, card: OwnCard, { key, cents }: { key: string; cents: number }): Wish {
  const input = cardLoadInput(card, key, String(cents));
  const ask = async () => {
    if ((await findRequest(world.tx, input.request.id)) === null) await startCardLoad(world.temporal, input);
  };
  return { what: 'load', ask };
}

/** Decided by its row; a run that Temporal does not take now is begun by the sweep. */
function changeWish(world: WorkerWorld, card: OwnCard, { key, kind }: { key: string; kind: CardChangeKind }): Wish {
  const ask = async () => {
    const { answer, input } = await decideCardChange(world, card, { kind, key });
    if (answer === 'stale') throw new Error('The card was another one meanwhile: it is asked for again.');
    if (input !== null) await startCardChange(world.temporal, input).catch(() => undefined);
  };
  return { what: kind, ask };
}

async function loseAnswer({ issuer }: WorkerWorld, fault: 'lost_answer' | 'timeout_before'): Promise<void> {
  await issuer.drive('POST', '/_sim/faults', { fault, times: 1, match: { method: 'POST', path: '/v1/cards/*' } });
}
