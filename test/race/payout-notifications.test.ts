import { queriesOf } from '../../src/db/transaction.js';
import { readWithdrawal } from '../../src/db/withdrawals.js';
import { expectMoneyInvariants } from '../support/money-invariants.js';
import { openProductWorld, type ProductWorld } from '../support/product-world.js';
import { eventually } from '../support/simulated-custody.js';
import { openTestDatabase, type TestDatabase } from '../support/test-database.js';
import { openWithdrawing, type Withdrawing } from '../support/withdrawal-rows.js';

let database: TestDatabase;
let world: ProductWorld;
let it: Withdrawing;
beforeAll(async () => {
  database = await openTestDatabase();
  // Nobody asks by himself how a payout stands: what completes it is the custodian's notification.
  world = await openProductWorld({ database, settings: { SVERKA_PAYOUT_POLL_INTERVAL: '1h' } });
  it = await openWithdrawing(database);
});
afterAll(async () => {
  await expectMoneyInvariants(it.owner, 'any');
  await it.close();
  await world.close();
  await database.close();
});

test('a payout’s notification is taken by the relay, wakes its withdrawal, and is done with its read', async () => {
  const id = await it.request();
  await it.decide(id, 'approve', { by: it.approver });
  const { payoutRef } = await eventually(async () => {
    const record = await readWithdrawal(queriesOf(it.owner), id);
    return record.state === 'completed' && record;
  });
  const notified = await eventually(async () => {
    const { rows } = await it.owner.query<{ status: string; reason: string | null }>(
      `select status, reason from sverka.inbox where subject_type = 'payout' and subject_ref = $1`,
      [payoutRef],
    );
    return rows.length > 0 && rows.every(({ status }) => status !== 'pending') && rows;
  });
  expect([...new Set(notified.map(({ status }) => status))]).toEqual(['done']);
  const { rowCount } = await it.owner.query('select from sverka.dead_letter');
  expect(rowCount).toBe(0);
});
