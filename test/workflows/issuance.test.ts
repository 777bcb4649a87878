import { type IssuanceWorld, openIssuanceWorld } from '../support/issuance-world.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import type { RunningWorker } from '../support/worker-world.js';

let it: IssuanceWorld;
let worker: RunningWorker;
beforeAll(async () => {
  it = await openIssuanceWorld();
  worker = await it.world.startWorker();
});
afterAll(async () => {
  await worker.stop();
  await it.close();
});

test('a quick issuer answers with the card, which costs its load and the fee, once', async () => {
  const before = await it.available();
  const answer = await it.issue('quick');
  expect([answer.status, answer.body]).toEqual([201, expect.objectContaining({ state: 'active', reason: null })]);
  const card = await it.card(answer.body.id);
  expect(card.loaded.amount).toBe('25.00');
  expect(card.issuance).toMatchObject({ state: 'active', fee: { amount: '1.00', asset: 'USD' }, generation: 0 });
  expect(card.masked_number).toBe(`************${card.last4}`);
  expect(before - (await it.available())).toBe(2_600n);
  expect((await it.issuer.truth()).effects.filter(({ reference }) => reference === card.issuance.id)).toHaveLength(1);
  await expectMoneyInvariants(it.world.owner, 'any');
});
