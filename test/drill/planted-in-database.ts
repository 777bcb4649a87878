import { CANARY_CARD } from '../support/deposit-world.js';
import { plantFault } from '../support/planted-fault.js';
import type { WorkerWorld } from '../support/worker-world.js';
import type { Control } from './controls.js';
import type { Flow, Subjects } from './flow.js';
import { depositFlow } from './flows/deposit-flow.js';
import { issuanceFlow } from './flows/issuance-flow.js';
import { findViolations } from './invariants.js';
import { unguarded } from './unguarded.js';
import { withWorker } from './with-worker.js';

/** Faults of the database and of providers, each planted after two deposits, or two cards, have gone well. */
export const DATABASE_FAULTS: readonly Control[] = [
  control('the unique key is dropped, and what was credited is forgotten', async (world, subjects) => {
    await forgetDeposits(world);
    await subjects.again();
    // With the key in place the journal refuses what it has: nothing is credited twice.
    const twice = (await findViolations(world, depositFlow)).filter((line) => line.startsWith('only we say: mer'));
    if (twice.length > 2) throw new Error(`credited twice although the key is there: ${twice.join('; ')}`);
    await world.owner.query('alter table ledger.movement drop constraint movement_key_key cascade');
    await plantFault(
      world.database.url,
      ['where m.key = any (keys) loop', 'where false loop'],
      ['on conflict (key) do nothing', 'on conflict do nothing'],
    );
    await forgetDeposits(world);
    await subjects.again();
    const { rows } = await world.owner.query(
      `select 1 from ledger.movement where kind = 'deposit_credit' group by key having count(*) > 1`,
    );
    if (rows.length !== 2) throw new Error(`${rows.length} of 2 deposits were credited twice`);
  }),
  control('a credit without its counterpart', (world) =>
    unguarded(
      world,
      'ledger.entry',
      `update ledger.entry set amount = amount + 1, balance = balance + 1
      where amount > 0`,
    ),
  ),
  control('a balance beside its entries', (world) =>
    unguarded(world, 'ledger.entry', 'update ledger.entry set balance = balance + 1 where amount > 0'),
  ),
  control('an event is lost', (world) =>
    unguarded(world, 'sverka.event', `delete from sverka.event where type = 'deposit.final'`),
  ),
  control('an audit row is written anew', (world) =>
    unguarded(world, 'sverka.audit', `update sverka.audit set actor = 'nobody' where to_state = 'final'`),
  ),
  control('an audit row is lost', (world) =>
    unguarded(world, 'sverka.audit', `delete from sverka.audit where to_state = 'credited'`),
  ),
  control('a card number is kept', async ({ owner }) => {
    await owner.query(`select sverka.raise_alert('canary', 'canary', 'live', null, null, $1, null)`, [CANARY_CARD]);
  }),
  control('the provider never said it', async ({ custody }) => {
    const { objects } = await custody.truth();
    for (const { id } of objects.deposits ?? [])
      await custody.drive('PATCH', `/_sim/deposits/${id}`, { status: 'failed' });
  }),
  control('the provider says another amount', async ({ custody }) => {
    const { objects } = await custody.truth();
    for (const { id } of objects.deposits ?? []) await custody.drive('PATCH', `/_sim/deposits/${id}`, { amount: '26' });
  }),
  cardControl('a second card is made for one issuance', async ({ issuer }) => {
    const holder = { first_name: 'Ada', last_name: 'Koch', birth_date: '1990-02-28', country: 'DE', document: 'X1' };
    const load = { amount: '25.00', asset: 'USD' };
    const [made] = (await issuer.truth()).effects;
    await issuer.makeCard({ reference: made?.reference, product: 'instant', holder, load });
  }),
  cardControl('the issuer has put another load on a card', async ({ issuer }) => {
    const [made] = (await issuer.truth()).effects;
    await issuer.drive('PATCH', `/_sim/cards/${made?.id}`, { load: { amount: '26.00', asset: 'USD' } });
  }),
  cardControl('a settled issuance says that it failed', (world) =>
    unguarded(world, 'sverka.issuance', `update sverka.issuance set state = 'failed', reason = 'declared_failed'`),
  ),
];

/** A fault that is planted after two subjects of the flow have gone well. */
export function planted(name: string, flow: Flow, plant: Plant): Control {
  return {
    name,
    flow,
    async play(world) {
      const subjects = await flow.arrange(world, 2);
      await withWorker(world, async () => {
        await subjects.start();
        await subjects.finish();
      });
      const before = await findViolations(world, flow);
      if (before.length > 0) throw new Error(`not well even before the fault: ${before.join('; ')}`);
      await plant(world, subjects);
    },
  };
}

type Plant = (world: WorkerWorld, subjects: Subjects) => Promise<void>;

function control(name: string, plant: Plant): Control {
  return planted(name, depositFlow, plant);
}

function cardControl(name: string, plant: Plant): Control {
  return planted(name, issuanceFlow, plant);
}

/** The states as in a backup of before; the journal stays. */
async function forgetDeposits(world: WorkerWorld): Promise<void> {
  await unguarded(world, 'sverka.deposit', 'delete from sverka.deposit');
}
