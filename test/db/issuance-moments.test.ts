import { createIssuanceActivities } from '../../src/activities/issuances.js';
import { applyIssuance } from '../../src/db/apply-issuance.js';
import { findCard } from '../../src/db/cards.js';
import { failIssuance } from '../../src/db/finish-issuance.js';
import { takeReadTicket } from '../../src/db/read-tickets.js';
import { inTransaction, type Tx } from '../../src/db/transaction.js';
import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { issuanceInput, issuanceOf, makeBuyer } from '../support/issuance-rows.js';
import { openWorkerWorld, type WorkerWorld } from '../support/worker-world.js';

let world: WorkerWorld;
beforeAll(async () => {
  world = await openWorkerWorld();
});
afterAll(async () => {
  await world.close();
});

test('a card and its issuance are read as of one moment, though it fails between two statements', async () => {
  const buyer = await makeBuyer(world);
  const input = issuanceInput(buyer, 'torn');
  await createIssuanceActivities(world.deps).databaseReserveIssuance(input);
  const { id, cardId } = await issuanceOf(world, input);
  const fail = { id, reason: 'test', actor: 'test', traceId: input.traceId };
  let statements = 0;
  // Another process commits as soon as the reader's first statement has its answer.
  const db: Tx = {
    async query(sql: string, params?: readonly unknown[]) {
      const rows = await world.tx.query(sql, params);
      statements += 1;
      if (statements === 1) await inTransaction(world.deps.pool, (tx) => failIssuance(tx, fail));
      return rows;
    },
  } as Tx;
  const of = { id: cardId, book: 'live', merchantId: buyer.merchantId } as const;

  const before = await findCard(db, of);
  expect([before?.state, before?.issuance.state]).toEqual(['pending', 'reserved']);
  const after = await findCard(db, of);
  expect([after?.state, after?.issuance.state]).toEqual(['failed', 'failed']);
});

test('a decision to link that comes while the issuer is asked waits for the read of its card', async () => {
  const activities = createIssuanceActivities(world.deps);
  const input = issuanceInput(await makeBuyer(world), 'decided meanwhile');
  await activities.databaseReserveIssuance(input);
  const { traceId } = input;
  const { id } = await issuanceOf(world, input);
  await activities.databaseSubmitIssuance({ id, runId: 'run', traceId });
  await activities.databaseSuspectIssuance({ id, traceId });
  const apply = async (of: { named?: { ref: string; card: null } }) => {
    const ticket = await takeReadTicket(world.tx);
    const read = { id, answer: { found: 'none' } as const, ticket, tooLong: false, actor: 'test', traceId, ...of };
    await inTransaction(world.deps.pool, (tx) => applyIssuance(tx, read));
  };
  const userId = await makePerson(world.owner, 'operator');
  const decision = await decideAs(world.owner, { type: 'issuance', id, choice: 'link', argument: 'icd_1', userId });

  await apply({});
  expect(await outcomeOf(world.owner, decision)).toBeNull();
  await apply({ named: { ref: 'icd_1', card: null } });
  expect(await outcomeOf(world.owner, decision)).toBe('void: the issuer shows no such card');
});
