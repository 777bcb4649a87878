import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants, expectNothingChanges } from '../support/money-invariants.js';
import { eventually } from '../support/simulated-custody.js';
import { startSweep } from '../support/worker-inbox.js';
import type { RunningWorker } from '../support/worker-world.js';

const SETTINGS = { SVERKA_SWEEP_INTERVAL: '100ms', SVERKA_SWEEP_GRACE: '1ms', SVERKA_ISSUANCE_POLL_INTERVAL: '100ms' };

let it: IssuanceWorld;
let worker: RunningWorker;
let sweep: string;
beforeAll(async () => {
  it = await openIssuanceWorld({ settings: SETTINGS });
  // Pending until the test says otherwise, and shown at once.
  await it.issuer.drive('POST', '/_sim/times', { lag_ms: 0, async_ms: 600_000 });
  worker = await it.world.startWorker();
  sweep = await startSweep(it.world);
});
afterAll(async () => {
  await it.world.temporal.client.workflow.getHandle(sweep).terminate('the test is over');
  await worker.stop();
  await it.close();
});
afterEach(() => expectMoneyInvariants(it.world.owner, 'any'));

async function pending(key: string, product: 'instant' | 'async' = 'async') {
  const answer = await it.issue(key, { product, prefer: 'respond-async' });
  await eventually(async () => (await it.card(answer.body.id)).issuance.state === 'pending');
  const { issuance } = await it.card(answer.body.id);
  const made = (await it.issuer.truth()).effects.find(({ reference }) => reference === issuance.id);
  return { cardId: answer.body.id, id: issuance.id, ref: made?.id ?? 'none' };
}

async function kindsOf(id: string): Promise<string[]> {
  const sql = 'select kind from ledger.movement where subject_id = $1 order by id';
  return (await it.world.tx.query<{ kind: string }>(sql, [id])).map(({ kind }) => kind);
}

async function eventsOf(cardId: string): Promise<string[]> {
  const sql = 'select type from sverka.event where subject_id = $1 order by created_at';
  return (await it.world.tx.query<{ type: string }>(sql, [cardId])).map(({ type }) => type);
}

test('webhook, poll and two reconciliations finish it at once: one settle, the fee once [CASES G14]', async () => {
  const before = await it.available();
  const { cardId, id, ref } = await pending('all-at-once');
  await Promise.all([
    it.issuer.drive('PATCH', `/_sim/cards/${ref}`, { status: 'active' }),
    it.reconcile(),
    it.reconcile(),
  ]);
  await eventually(async () => (await it.card(cardId)).state === 'active');
  expect(await kindsOf(id)).toEqual(['issuance_hold', 'issuance_settle']);
  expect(before - (await it.available())).toBe(2_600n);
  expect(await eventsOf(cardId)).toEqual(['card.active']);
  await expectNothingChanges(it.world.owner, () => it.reconcile());
});

test('its failure comes by webhook, poll and reconciliation at once: one release, once [CASES G16]', async () => {
  const before = await it.available();
  const { cardId, id, ref } = await pending('declined-late');
  await Promise.all([
    it.issuer.drive('PATCH', `/_sim/cards/${ref}`, { status: 'declined' }),
    it.reconcile(),
    it.reconcile(),
  ]);
  await eventually(async () => (await it.card(cardId)).state === 'failed');
  expect((await kindsOf(id)).filter((kind) => kind !== 'collect')).toEqual(['issuance_hold', 'issuance_release']);
  expect(await it.available()).toBe(before);
  expect(await eventsOf(cardId)).toEqual(['card.failed']);
  await expectNothingChanges(it.world.owner, () => it.reconcile());
  // Its key keeps leading to it: declined, with where to look.
  const again = await it.issue('declined-late', { product: 'async' });
  expect([again.status, again.body.code, again.headers.get('location')]).toEqual([
    402,
    'issuer_declined',
    `/v1/cards/${cardId}`,
  ]);
});

test.each([
  ['load', { load: { amount: '24.99', asset: 'USD' }, status: 'active' }, 'amount_mismatch'],
  ['asset', { load: { amount: '25.00', asset: 'EUR' }, status: 'active' }, 'amount_mismatch'],
  ['product', { product: 'instant', status: 'active' }, 'product_mismatch'],
])(
  'a record of another %s settles nothing and is for a person, until it is as asked for',
  async (name, wrong, flag) => {
    const { cardId, id, ref } = await pending(`other-${name}`);
    await it.issuer.drive('PATCH', `/_sim/cards/${ref}`, wrong);
    await eventually(async () => (await it.card(cardId)).issuance.reason === flag);
    expect([(await it.card(cardId)).state, await kindsOf(id)]).toEqual(['pending', ['issuance_hold']]);
    await it.issuer.drive('PATCH', `/_sim/cards/${ref}`, { load: { amount: '25.00', asset: 'USD' }, product: 'async' });
    await eventually(async () => (await it.card(cardId)).state === 'active');
    expect(await kindsOf(id)).toEqual(['issuance_hold', 'issuance_settle']);
    expect(await it.alerts('issuance_needs_person')).toBe(0);
  },
);

test('a record of another reference is not ours: nobody knows of a card, and the hold stays', async () => {
  const { cardId, id, ref } = await pending('other-reference');
  await it.issuer.drive('PATCH', `/_sim/cards/${ref}`, { reference: 'somebody-else', status: 'active' });
  await it.reconcile();
  expect([(await it.card(cardId)).state, await kindsOf(id)]).toEqual(['pending', ['issuance_hold']]);
});
