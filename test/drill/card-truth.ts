import { createCardChangeActivities } from '../../src/activities/card-changes.js';
import { createIssuanceReadActivities } from '../../src/activities/issuance-reads.js';
import { createLoadActivities } from '../../src/activities/loads.js';
import type { CardChangeInput, CardLoadInput } from '../../src/contracts/messages.js';
import { decimalsOf } from '../../src/domain/assets.js';
import type { CardChangeKind } from '../../src/domain/card-change.js';
import { parseAmount } from '../../src/domain/money.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { decideCardChange, type OwnCard } from '../support/card-rows.js';
import { issuanceOf } from '../support/issuance-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { cardsAtIssuer, cardsOfOurs, issueAgain, wishCards } from './issuance-truth.js';
import { oneAccount } from './with-worker.js';

interface CardObject {
  readonly id: string;
  readonly status: string;
  readonly load: { readonly amount: string; readonly asset: string };
}

interface LoadObject {
  readonly card_id: string;
  readonly reference: string;
  readonly amount: string;
}

/** Cards, each load that the issuer has made on one, and how each card stands there and what it gave back. */
export async function allAtIssuer(world: WorkerWorld): Promise<string[]> {
  const { objects } = (await world.issuer.truth()) as unknown as {
    objects: { cards?: CardObject[]; loads?: LoadObject[] };
  };
  const { cards = [], loads = [] } = objects;
  const assets = new Map(cards.map(({ id, load }) => [id, load.asset]));
  const minor = (cardId: string, amount: string) => {
    const parsed = parseAmount(amount, decimalsOf(assets.get(cardId) ?? 'USD'));
    if (typeof parsed !== 'bigint') throw new Error(`The issuer has ${amount} on ${cardId}: ${parsed}.`);
    return parsed;
  };
  return [
    ...(await cardsAtIssuer(world)),
    ...loads.map(({ reference, card_id, amount }) => `load ${reference} put ${minor(card_id, amount)} on ${card_id}`),
    ...cards.flatMap(({ id, status, load }) => {
      if (status === 'declined' || status === 'pending') return [];
      const on = [load.amount, ...loads.filter(({ card_id }) => card_id === id).map(({ amount }) => amount)];
      const rest = status === 'closed' ? on.reduce((sum, amount) => sum + minor(id, amount), 0n) : 0n;
      return [`${id} is ${status} and gave back ${rest} in ${rest > 0n ? 1 : 0}`];
    }),
  ];
}

/**
 * The same lines out of what we have: what the journal put on cards for loads, and took from them when they were
 * closed; also whatever is not at its end, which the issuer never says.
 */
export async function allOfOurs(world: WorkerWorld): Promise<string[]> {
  const cards = await cardsOfOurs(world);
  const { rows } = await world.owner.query<{ line: string }>(
    `select format('load %s put %s on %s', l.id, coalesce(e.amount, 0), c.provider_ref) as line
       from sverka.card_load l join sverka.card c on c.id = l.card_id
       left join ledger.movement m on m.subject_id = l.id and m.kind = 'load_settle'
       left join ledger.account a on a.kind = 'card' and a.ref = l.card_id
       left join ledger.entry e on e.movement_id = m.id and e.account_id = a.id
      where l.state = 'completed'
     union all
     select format('load %s is %s', l.id, l.state) from sverka.card_load l where l.state not in ('completed', 'failed')
     union all
     select format('%s is %s and gave back %s in %s', i.provider_ref, c.state, coalesce(sum(r.amount), 0),
              count(r.amount))
       from sverka.issuance i join sverka.card c on c.id = i.card_id
       left join lateral (
         select e.amount from ledger.movement m join ledger.entry e on e.movement_id = m.id
           join ledger.account a on a.id = e.account_id and a.kind = 'wallet'
          where m.subject_id = c.id and m.kind = 'card_return') r on true
      where i.state = 'active' group by i.provider_ref, c.state
     union all
     select format('%s is active and gave back 0 in 0', i.provider_ref)
       from sverka.issuance i where i.state = 'found_late'
     union all
     select format('change %s of %s is open', g.number, g.card_id) from sverka.card_change g where g.outcome is null`,
  );
  return [...cards, ...rows.map(({ line }) => line)];
}

/** Cards that are there, each of a merchant of its own. */
export async function makeCards(world: WorkerWorld, count: number): Promise<OwnCard[]> {
  const inputs = await wishCards(world, count);
  // Without a worker: their making is another flow's.
  await issueAgain(world, inputs);
  const cards: OwnCard[] = [];
  for (const input of inputs) {
    const { merchantId } = input;
    cards.push({ merchantId, cardId: (await issuanceOf(world, input)).cardId });
  }
  return cards;
}

/** Every activity of a load, once more if it has had its end: the rows answer. */
export async function loadDirectly(world: WorkerWorld, inputs: readonly CardLoadInput[]): Promise<void> {
  const activities = createLoadActivities(oneAccount(world.deps));
  for (const input of inputs) {
    const { loadId } = await activities.databaseReserveCardLoad(input);
    if (loadId === null) continue;
    const of = { id: loadId, traceId: input.traceId, tries: 0 };
    await activities.databaseSubmitCardLoad({ ...of, runId: 'another' });
    await activities.providerCreateCardLoad(of);
    await activities.databaseSuspectCardLoad(of);
  }
}

/** Every issuance is read once more, every load and every change tried once more. */
export async function readCardsAgain({ owner, deps }: WorkerWorld): Promise<void> {
  const { providerReadIssuance } = createIssuanceReadActivities(deps);
  const { providerCreateCardLoad } = createLoadActivities(deps);
  const { providerCreateCardChange } = createCardChangeActivities(deps);
  const by = { traceId: newTraceId(), tries: 0 };
  const { rows: cards } = await owner.query<{ id: string }>('select id from sverka.issuance');
  for (const { id } of cards) await providerReadIssuance({ ...by, id, looks: 0 });
  const { rows: loads } = await owner.query<{ id: string }>('select id from sverka.card_load');
  for (const { id } of loads) await providerCreateCardLoad({ ...by, id });
  const { rows: changes } = await owner.query<{ cardId: string; number: number }>(
    'select card_id as "cardId", number from sverka.card_change',
  );
  for (const change of changes) await providerCreateCardChange({ ...by, ...change });
}

/** A change that its merchant has decided, and the key it was decided under. */
export interface DecidedChange extends OwnCard {
  readonly kind: CardChangeKind;
  readonly key: string;
  readonly input: CardChangeInput;
}

/** Committed as by the gateway; nobody has told the issuer. */
export async function decideChange(world: WorkerWorld, card: OwnCard, kind: CardChangeKind): Promise<DecidedChange> {
  const key = `drill-${kind}`;
  const { answer, input } = await decideCardChange(world, card, { kind, key });
  if (input === null) throw new Error(`The card was not asked to ${kind}: ${answer}.`);
  return { ...card, kind, key, input };
}

/** Every activity of a change, once more if it has had its end. */
export async function tellDirectly(world: WorkerWorld, changes: readonly DecidedChange[]): Promise<void> {
  const activities = createCardChangeActivities(oneAccount(world.deps));
  for (const { input } of changes) {
    const { cardId, number, traceId } = input;
    const of = { cardId, number, traceId, tries: 0 };
    await activities.databaseSubmitCardChange(of);
    await activities.providerCreateCardChange(of);
    await activities.databaseSuspectCardChange(of);
  }
}

/** The merchant asks again with the same key, and every activity comes once more. */
export async function changeAgain(world: WorkerWorld, changes: readonly DecidedChange[]): Promise<void> {
  for (const change of changes) {
    const { answer } = await decideCardChange(world, change, change);
    if (answer !== 'kept') throw new Error(`Another call with the key of a change answered ${answer}.`);
  }
  await tellDirectly(world, changes);
}
