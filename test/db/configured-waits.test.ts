import { createDepositAddressActivities } from '../../src/activities/deposit-addresses.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { queriesOf } from '../../src/db/transaction.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { expectDepositInvariants } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld } from '../support/deposit-world.js';

let world: DepositWorld;
let at: MadeAddress;

beforeAll(async () => {
  world = await openDepositWorld({
    env: {
      ...{ SVERKA_FAULT_INTERVAL: '1m', SVERKA_FAULT_INTERVAL_MAX: '200s' },
      ...{ SVERKA_UNKNOWN_ALERT_LOOKS: '2', SVERKA_CREATE_RETRY_INTERVAL_MAX: '3s' },
    },
  });
  at = await world.address();
});
afterEach(() => expectDepositInvariants(world.owner));
afterAll(() => world.close());

/** Reads it so often that each read counts a fault; answers the seconds it is to wait after each. */
async function waitsOf(ref: string, times: number): Promise<number[]> {
  await acceptDeliveries(queriesOf(world.owner), [deliveryOf(ref)]);
  const waits: number[] = [];
  for (let n = 0; n < times; n += 1) {
    await world.read(ref).catch(() => undefined);
    const { rows } = await world.owner.query<{ seconds: number }>(
      `select extract(epoch from next_attempt_at - clock_timestamp())::float as seconds
         from sverka.inbox where subject_ref = $1`,
      [ref],
    );
    waits.push(rows[0]?.seconds ?? 0);
  }
  return waits;
}

it('a notification waits twice as long after each fault, from the first wait to the longest', async () => {
  const waits = await waitsOf(await world.arrive(at, { amount: '1e3' }), 4);
  const bounds = [60, 120, 200, 200];
  const within = waits.map((seconds, n) => seconds > 0.7 * (bounds[n] ?? 0) && seconds <= (bounds[n] ?? 0));
  expect(within).toEqual(Array(4).fill(true));
});

it('a record whose amount fits no column dies by that name', async () => {
  await waitsOf(await world.arrive(at, { amount: '9'.repeat(50) }), 10);
  const { rows } = await world.owner.query('select reason, attempts from sverka.dead_letter');
  expect(rows).toEqual([{ reason: 'amount_out_of_range', attempts: 10 }]);
});

it('a create is sent again at least so often, and is a person’s after so many looks without a find', async () => {
  const activities = createDepositAddressActivities(world.deps);
  const traceId = 'a'.repeat(32);
  const accepted = await activities.databaseReserveDepositAddress(world.wish({ customerRef: 'configured' }));
  const id = accepted.resource?.id ?? '';
  const match = { method: 'POST', path: '/v1/addresses' };
  await world.drive('POST', '/_sim/faults', { match, fault: 'status', status: 429, times: 1 });
  expect(await activities.providerCreateDepositAddress({ id, traceId, tries: 20 })).toMatchObject({ waitMs: 3_000 });
  await activities.databaseSuspectDepositAddress({ id, traceId });
  const looks = [];
  for (const n of [1, 2]) looks.push(await activities.providerReadDepositAddress({ id, traceId, looks: n }));
  expect(looks.map((look) => look.needsOperator)).toEqual([false, true]);
  expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'active' });
});
