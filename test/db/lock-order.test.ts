import { acceptDeliveries } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { expectDepositInvariants } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let at: MadeAddress;

beforeEach(async () => {
  world = await openDepositWorld();
  at = await world.address();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
  await world.close();
});

/** While somebody holds the inbox, `work` waits there; answers what `free` finds meanwhile, then lets it go on. */
async function whileInboxIsHeld(work: () => Promise<unknown>, free: () => Promise<unknown>): Promise<void> {
  const other = await world.owner.connect();
  try {
    await other.query('begin; select from sverka.inbox for no key update');
    const working = work();
    for (let waiting = 0; waiting === 0; ) {
      const { rows } = await world.owner.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity
          where datname = current_database() and application_name = 'sverka-worker' and wait_event_type = 'Lock'`,
      );
      waiting = rows[0]?.n ?? 0;
    }
    await free();
    await other.query('rollback');
    await working;
  } finally {
    other.release();
  }
}
const notify = async (ref: string) => {
  const relay = createPool(world.database.urlFor('relay'), { max: 1, applicationName: 'test' });
  await acceptDeliveries(queriesOf(relay), [deliveryOf(ref)]);
  await relay.end();
};

it.each([
  ['a single read', (ref: string) => world.read(ref)],
  ['a page', () => world.page()],
])('%s that waits for a notification holds neither a deposit nor a wallet meanwhile', async (_, work) => {
  await world.arrive(at, { amount: '1' });
  const ref = await world.arrive(at, { amount: '2', status: 'confirming' });
  await world.page();
  await world.change(ref, { status: 'completed' });
  await notify(ref);
  await whileInboxIsHeld(
    () => work(ref),
    async () => {
      const locked = await world.owner.query('select from sverka.deposit for update nowait');
      expect(locked.rowCount).toBe(2);
      await world.owner.query('select from ledger.account for update nowait');
    },
  );
  expect(await walletOf(world, at)).toBe('3.000000');
});

it('a read that finds nothing and waits for a notification does not hold the deposit', async () => {
  const ref = await world.arrive(at, { amount: '2', status: 'confirming' });
  await world.read(ref);
  await notify(ref);
  await world.drive('POST', '/_sim/faults', { match: { reference: ref }, fault: 'not_found', times: 1 });
  await whileInboxIsHeld(
    () => world.read(ref),
    () => world.owner.query('select from sverka.deposit for update nowait'),
  );
});
