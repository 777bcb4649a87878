import { createPool } from '../../src/db/pool.js';
import { seal } from '../../src/db/seal.js';
import { queriesOf } from '../../src/db/transaction.js';
import { verifyLedger } from '../../src/db/verify-ledger.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { eventually } from '../support/simulated-custody.js';

let world: DepositWorld;
let ref: string;

beforeEach(async () => {
  world = await openDepositWorld();
  const at = await world.address();
  ref = await world.arrive(at, { amount: '12.5' });
  await world.read(ref);
  await world.read(await world.arrive(at, { amount: '1', status: 'confirming' }));
  await eventually(async () => {
    await seal(queriesOf(world.pool), 1_000);
    const { rows } = await world.owner.query(
      'select from sverka.audit a where not exists (select from sverka.audit_seal s where s.audit_id = a.id)',
    );
    return rows.length === 0;
  });
});
afterEach(async () => {
  await world.close();
});

/** As the console's role, which the command line uses. */
async function findings(): Promise<string[]> {
  const console_ = createPool(world.database.urlFor('console'), { max: 1, applicationName: 'test' });
  try {
    const { findings: found } = await verifyLedger(console_, 'all', { subjects: true });
    return [...new Set(found.map(({ kind }) => kind))].toSorted();
  } finally {
    await console_.end();
  }
}

/** What nobody can do in production: every trigger off, and a row altered behind the back of all rules. */
async function behindTheBack(sql: string): Promise<void> {
  const client = await world.owner.connect();
  try {
    await client.query("set session_replication_role = 'replica'");
    for (const table of ['sverka.deposit', 'sverka.audit', 'ledger.entry', 'ledger.movement']) {
      await client.query(`alter table ${table} disable trigger all`);
    }
    expect((await client.query(sql)).rowCount).toBeGreaterThan(0);
  } finally {
    client.release(true);
  }
}

test('what was credited, its movement, its states and their audit agree', async () => {
  expect(await findings()).toEqual([]);
});

test.each([
  [
    'an amount of a deposit',
    'update sverka.deposit set credited_amount = 1 where credited_amount is not null',
    ['deposit_without_movement'],
  ],
  [
    'the owner of a credited deposit',
    `with m as (insert into sverka.merchant (id, name) values ('mer_${'0'.repeat(26)}', 'x') returning id)
     update sverka.deposit set merchant_id = (select id from m) where credited_amount is not null`,
    ['deposit_without_movement'],
  ],
  [
    'a state that nothing walked to',
    `update sverka.deposit set state = 'confirming' where state = 'final'`,
    ['movement_without_deposit', 'state_without_audit'],
  ],
  [
    'who made a move',
    `update sverka.audit set actor = 'user:somebody' where to_state = 'final'`,
    ['audit_chain_broken'],
  ],
  [
    'why a move was made',
    `update sverka.audit set reason = 'other' where to_state = 'confirming'`,
    ['audit_chain_broken'],
  ],
])('%s, altered as superuser, is named', async (_, sql, kinds) => {
  await behindTheBack(sql);
  expect(await findings()).toEqual(kinds);
});
