import { createLoadActivities, type OfLoad } from '../../src/activities/loads.js';
import { ProviderError } from '../../src/providers/errors.js';
import type { IssuerClient } from '../../src/providers/issuer/client.js';
import { cardLoadInput } from '../support/card-rows.js';
import type { WorkerWorld } from '../support/worker-world.js';
import { decideChange, loadDirectly, makeCards, tellDirectly } from './card-truth.js';
import type { Control } from './controls.js';
import { cardChangeFlow } from './flows/card-change-flow.js';
import { cardLoadFlow } from './flows/card-load-flow.js';
import { findViolations } from './invariants.js';
import { unguarded } from './unguarded.js';
import { oneAccount } from './with-worker.js';

type Plant = (world: WorkerWorld) => Promise<void>;

/** Faults of loads and changes, planted after a card was loaded, frozen, and another one closed; each by one line. */
export const CARD_FAULTS: readonly Control[] = [
  planted('the issuer has made another load', /only the provider says: load other put 500 on/, async (world) => {
    const { rows } = await world.owner.query<{ ref: string }>(
      `select provider_ref as ref from sverka.card where state = 'active'`,
    );
    await world.issuer.loadCard(rows[0]?.ref ?? 'none', { reference: 'other', amount: '5.00' });
  }),
  planted(
    'a load that was made says that it failed',
    /load .* is failed with 1 holds, 1 settles, 0 releases/,
    (world) => unguarded(world, 'sverka.card_load', `update sverka.card_load set state = 'failed'`),
  ),
  planted('the event of a load is lost', /audit row .* of a load \(completed\) has 0 events/, (world) =>
    unguarded(world, 'sverka.event', `delete from sverka.event where type = 'load.completed'`),
  ),
  planted('a closed card is open at the issuer', /only the provider says: .* is active and gave back 0/, (world) =>
    patchClosed(world, { status: 'active' }),
  ),
  planted('more came back than was on a card', /only we say: .* is closed and gave back 2600 in 1/, (world) =>
    unguarded(
      world,
      'ledger.entry',
      `update ledger.entry e set amount = amount + 100 * sign(amount), balance = balance + 100 * sign(amount)
         from ledger.movement m where m.id = e.movement_id and m.kind = 'card_return'`,
    ),
  ),
  planted(
    'a card is not as its last change says',
    /card .* is active, and its last change of 1 was to close/,
    (world) => unguarded(world, 'sverka.card', `update sverka.card set state = 'active' where state = 'closed'`),
  ),
  planted('a change that was told is left out', /change 1 of card .* was told and is superseded/, (world) =>
    unguarded(world, 'sverka.card_change', `update sverka.card_change set outcome = 'superseded'`),
  ),
  careless('a load is settled that was never sent', /only we say: load /, (issuer) => ({
    createLoad: (id) => issuer.readCard(id) as ReturnType<IssuerClient['createLoad']>,
  })),
  careless('a lost load is taken for refused', /only the provider says: load /, (issuer) => ({
    createLoad: (...call) =>
      issuer.createLoad(...call).catch(() => {
        throw new ProviderError({ kind: 'rejected', provider: 'issuer', operation: 'createLoad' });
      }),
  })),
  careless('a lost load is sent under another reference', /only the provider says: load .*-again/, (issuer) => ({
    createLoad: async (id, load, context) => {
      const twice = { ...load, reference: `${load.reference}-again` };
      return issuer.createLoad(id, load, context).catch(() => issuer.createLoad(id, twice, context));
    },
  })),
];

function planted(name: string, caughtBy: RegExp, plant: Plant): Control {
  return {
    name,
    flow: cardChangeFlow,
    caughtBy,
    async play(world) {
      const [loaded, frozen, closed] = await makeCards(world, 3);
      if (!loaded || !frozen || !closed) throw new Error('The cards were not made.');
      await loadDirectly(world, [cardLoadInput(loaded, 'a load', '1000')]);
      await tellDirectly(world, [await decideChange(world, frozen, 'freeze')]);
      await tellDirectly(world, [await decideChange(world, closed, 'close')]);
      await expectWell(world);
      await plant(world);
    },
  };
}

/** A worker with that fault makes a load whose first answer is lost, and goes on as the workflow does. */
function careless(name: string, caughtBy: RegExp, fault: (issuer: IssuerClient) => Partial<IssuerClient>): Control {
  return {
    name,
    flow: cardLoadFlow,
    caughtBy,
    async play(world) {
      const [card] = await makeCards(world, 1);
      if (!card) throw new Error('The card was not made.');
      await expectWell(world);
      const deps = oneAccount(world.deps);
      const issuer: typeof deps.issuer = (of) => {
        const client = deps.issuer(of);
        return { ...client, ...fault(client) };
      };
      const activities = createLoadActivities({ ...deps, issuer });
      const input = cardLoadInput(card, 'a load', '1000');
      const { loadId: id } = await activities.databaseReserveCardLoad(input);
      if (id === null) throw new Error('The load was refused.');
      const of: OfLoad = { id, traceId: input.traceId, tries: 0 };
      await activities.databaseSubmitCardLoad({ ...of, runId: 'a run' });
      const match = { method: 'POST', path: '/v1/cards/*' };
      await world.issuer.drive('POST', '/_sim/faults', { fault: 'lost_answer', times: 1, match });
      const create = () => activities.providerCreateCardLoad(of);
      await create().catch(async () => {
        await activities.databaseSuspectCardLoad(of);
        await create();
      });
    },
  };
}

async function expectWell(world: WorkerWorld): Promise<void> {
  const before = await findViolations(world, cardLoadFlow);
  if (before.length > 0) throw new Error(`not well even before the fault: ${before.join('; ')}`);
}

async function patchClosed({ owner, issuer }: WorkerWorld, body: object): Promise<void> {
  const { rows } = await owner.query<{ ref: string }>(
    `select provider_ref as ref from sverka.card where state = 'closed'`,
  );
  await issuer.drive('PATCH', `/_sim/cards/${rows[0]?.ref}`, body);
}
