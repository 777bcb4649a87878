import {
  createDepositAddressActivities,
  type DepositAddressActivities,
} from '../../src/activities/deposit-addresses.js';
import type { DepositAddressInput } from '../../src/contracts/messages.js';
import { findLiveDepositAddress, readDepositAddress } from '../../src/db/deposit-addresses.js';
import { queriesOf } from '../../src/db/transaction.js';
import type { CustodyAddress } from '../../src/providers/custody/schema.js';
import { expectDepositInvariants, inboxOf, openAlerts, pathOf } from '../support/deposit-facts.js';
import { type AddressWish, type DepositWorld, openDepositWorld, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let activities: DepositAddressActivities;
/** What the custodian's answer becomes on its way. */
let onTheWay: (made: CustodyAddress) => CustodyAddress = (made) => made;

beforeAll(async () => {
  world = await openDepositWorld({
    client: (real) => ({
      ...real,
      createAddress: async (...call) => onTheWay(await real.createAddress(...call)),
      async readAddressByReference(...call) {
        const found = await real.readAddressByReference(...call);
        return found && onTheWay(found);
      },
    }),
  });
  activities = createDepositAddressActivities(world.deps);
});
afterEach(async () => {
  onTheWay = (made) => made;
  await world.drive('POST', '/_sim/faults', { match: {}, fault: 'slow', ms: 0, times: 0 });
  for (const { id } of JSON.parse(JSON.stringify(await world.drive('GET', '/_sim/faults'))).faults ?? []) {
    await world.drive('DELETE', `/_sim/faults/${id}`);
  }
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await world.close();
});

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const fault = (kind: string, rest: Record<string, unknown> = {}) =>
  world.drive('POST', '/_sim/faults', {
    match: { method: 'POST', path: '/v1/addresses' },
    fault: kind,
    times: 1,
    ...rest,
  });
const read = (id: string) => readDepositAddress(queriesOf(world.pool), id);
const effects = async (id: string) => (await world.truth()).effects.filter((effect) => effect.reference === id).length;

async function reserve(wish: AddressWish): Promise<{ id: string; input: DepositAddressInput }> {
  const input = world.wish(wish);
  const accepted = await activities.databaseReserveDepositAddress(input);
  return { id: accepted.resource?.id ?? '', input };
}

describe('reserving', () => {
  it('keeps the request and the name in one commit, and answers every later run by that row', async () => {
    const input = world.wish({ customerRef: 'reserve' });
    const first = await activities.databaseReserveDepositAddress(input);
    expect(first).toEqual({
      fingerprint: input.request.fingerprint,
      resource: { type: 'deposit_address', id: expect.stringMatching(/^addr_/), made: true },
      refusal: null,
    });
    const before = await expectDepositInvariants(world.owner);
    expect(await activities.databaseReserveDepositAddress(input)).toEqual(first);
    expect(await expectDepositInvariants(world.owner)).toEqual(before);
    // Another body under the same key is answered by what the key led to; the caller compares the fingerprint.
    const other = { ...input, asset: 'ETH', request: { ...input.request, fingerprint: 'ab'.repeat(32) } };
    expect(await activities.databaseReserveDepositAddress(other)).toEqual(first);
  });

  it('of the same name and content under another key leads to the one that is there', async () => {
    const first = await reserve({ customerRef: 'same' });
    const second = await activities.databaseReserveDepositAddress(world.wish({ customerRef: 'same' }));
    expect(second.resource).toEqual({ type: 'deposit_address', id: first.id, made: false });
  });

  it('of the same name with another settlement is refused for ever', async () => {
    await reserve({ customerRef: 'other-settlement' });
    const input = world.wish({ customerRef: 'other-settlement', settleIn: 'EUR' });
    const refused = await activities.databaseReserveDepositAddress(input);
    expect(refused).toMatchObject({ resource: null, refusal: { code: 'already_exists' } });
    expect(await activities.databaseReserveDepositAddress(input)).toEqual(refused);
  });

  it('by ten callers at once, each with a key of his own, makes one customer and one address', async () => {
    const inputs = Array.from({ length: 10 }, () => world.wish({ customerRef: 'ten' }));
    const answers = await Promise.all(inputs.map((input) => activities.databaseReserveDepositAddress(input)));
    expect(new Set(answers.map((answer) => answer.resource?.id)).size).toBe(1);
    expect(answers.filter((answer) => answer.resource?.made)).toHaveLength(1);
    const { rows } = await world.owner.query(`select id from sverka.customer where ref = 'ten'`);
    expect(rows).toHaveLength(1);
  });

  it('by ten callers at once with one key keeps one request', async () => {
    const input = world.wish({ customerRef: 'one-key' });
    const answers = await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (;;) {
          try {
            return await activities.databaseReserveDepositAddress(input);
          } catch (error) {
            if (!(error instanceof Error) || error.name !== 'Retryable') throw error;
          }
        }
      }),
    );
    expect(new Set(answers.map((answer) => answer.resource?.id)).size).toBe(1);
    const { rows } = await world.owner.query('select id from sverka.request where id = $1', [input.request.id]);
    expect(rows).toHaveLength(1);
  });
});

describe('creating', () => {
  it('once makes it active with its address, and again makes nothing', async () => {
    const { id } = await reserve({ customerRef: 'create' });
    expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'active' });
    expect(await read(id)).toMatchObject({ state: 'active', version: 2, address: expect.stringMatching(/^T/) });
    expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'active' });
    expect(await effects(id)).toBe(1);
    expect(await pathOf(world.owner, id)).toEqual(['preparing', 'active']);
  });

  it.each(['lost_answer', 'truncated', 'garbage', 'timeout_after'])(
    'with an answer that is lost (%s) is unknown, and found by our reference',
    async (kind) => {
      const { id } = await reserve({ customerRef: `lost-${kind}` });
      await fault(kind);
      expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'unknown' });
      expect(await read(id)).toMatchObject({ state: 'preparing' });
      expect(await activities.databaseSuspectDepositAddress({ id, traceId })).toMatchObject({ outcome: 'absent' });
      expect(await read(id)).toMatchObject({ state: 'unknown', reason: 'create_unanswered' });
      expect(await activities.providerReadDepositAddress({ id, traceId, looks: 0 })).toMatchObject({
        outcome: 'active',
      });
      expect(await pathOf(world.owner, id)).toEqual(['preparing', 'unknown', 'active']);
      expect(await effects(id)).toBe(1);
    },
  );

  it('that never arrived stays unknown; past the custodian’s lag the same POST may go again', async () => {
    const { id } = await reserve({ customerRef: 'never' });
    await fault('timeout_before');
    expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'unknown' });
    await activities.databaseSuspectDepositAddress({ id, traceId });
    const looks = [];
    for (const n of [0, 1, 2]) looks.push(await activities.providerReadDepositAddress({ id, traceId, looks: n }));
    expect(looks.map((look) => [look.outcome, look.mayCreateAgain])).toEqual([
      ['absent', false],
      ['absent', false],
      ['absent', true],
    ]);
    expect(await read(id)).toMatchObject({ state: 'unknown' });
    expect(await activities.providerReadDepositAddress({ id, traceId, looks: 10 })).toMatchObject({
      needsOperator: true,
    });
    expect(await openAlerts(world.owner)).toContain(`outcome_unknown deposit_address:${id}`);
    expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'active' });
    expect(await openAlerts(world.owner)).not.toContain(`outcome_unknown deposit_address:${id}`);
  });

  it('with a wrong key sends nothing, tells a person, and goes on by itself once it is mended', async () => {
    const { id } = await reserve({ customerRef: 'unauthorized' });
    await fault('unauthorized');
    const tried = await activities.providerCreateDepositAddress({ id, traceId });
    expect(tried).toMatchObject({ outcome: 'not_sent', needsOperator: true });
    expect(tried.waitMs).toBeLessThanOrEqual(60_000);
    expect(await read(id)).toMatchObject({ state: 'preparing', needsOperator: true });
    expect(await openAlerts(world.owner)).toContain(`provider_misconfigured deposit_address:${id}`);
    expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'active' });
    expect(await read(id)).toMatchObject({ needsOperator: false });
    expect(await openAlerts(world.owner)).not.toContain(`provider_misconfigured deposit_address:${id}`);
  });

  it('too often waits for as long as the custodian asks', async () => {
    const { id } = await reserve({ customerRef: 'too-often' });
    await fault('status', { status: 429, retry_after: 7 });
    const tried = await activities.providerCreateDepositAddress({ id, traceId });
    expect(tried).toMatchObject({ outcome: 'not_sent', waitMs: 7_000, needsOperator: false });
    expect(await read(id)).toMatchObject({ state: 'preparing' });
    expect(await effects(id)).toBe(0);
  });

  it.each([400, 409, 422])(
    'that the custodian refuses (%d) fails, with an alert, and frees the name',
    async (status) => {
      const { id } = await reserve({ customerRef: `refused-${status}` });
      await fault('status', { status });
      expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'failed' });
      expect(await read(id)).toMatchObject({ state: 'failed', reason: 'rejected_by_provider', address: null });
      expect(await openAlerts(world.owner)).toContain(`deposit_address_failed deposit_address:${id}`);
      const next = await reserve({ customerRef: `refused-${status}` });
      expect(next.id).not.toBe(id);
      expect(await activities.providerCreateDepositAddress({ id: next.id, traceId })).toMatchObject({
        outcome: 'active',
      });
      // What has failed stays so, whoever comes late with an answer.
      expect(await activities.providerReadDepositAddress({ id, traceId, looks: 0 })).toMatchObject({
        outcome: 'failed',
      });
    },
  );

  it('never gives one address to two owners', async () => {
    const first = await world.address({ customerRef: 'first-owner' });
    const { id } = await reserve({ customerRef: 'second-owner' });
    onTheWay = (made) => ({ ...made, address: first.address });
    expect(await activities.providerCreateDepositAddress({ id, traceId })).toMatchObject({ outcome: 'failed' });
    expect(await read(id)).toMatchObject({ state: 'failed', reason: 'address_already_used' });
    const ref = await world.arrive(first, { amount: '3' });
    await world.read(ref);
    expect(await walletOf(world, first)).toBe('3.000000');
  });

  it('never takes an address that was made on other terms', async () => {
    const { id } = await reserve({ customerRef: 'other-terms', settleIn: 'EUR' });
    await fault('lost_answer');
    await activities.providerCreateDepositAddress({ id, traceId });
    await activities.databaseSuspectDepositAddress({ id, traceId });
    onTheWay = (made) => ({ ...made, settleIn: 'USD' });
    expect(await activities.providerReadDepositAddress({ id, traceId, looks: 0 })).toMatchObject({ outcome: 'failed' });
    expect(await read(id)).toMatchObject({ state: 'failed', reason: 'made_differently' });
  });
});

it('without the unique index a second owner would get the address: the index is the guard', async () => {
  const open = await openDepositWorld({
    client: (real) => ({
      ...real,
      createAddress: async (...call) => ({ ...(await real.createAddress(...call)), address: 'TSame' }),
    }),
  });
  try {
    await open.owner.query('drop index sverka.deposit_address_place');
    const made = [await open.address({ customerRef: 'a' }), await open.address({ customerRef: 'b' })];
    expect(made.map((each) => each.address)).toEqual(['TSame', 'TSame']);
  } finally {
    await open.close();
  }
});

it('what waited for an address is woken when it becomes active', async () => {
  const { id, input } = await reserve({ customerRef: 'woken' });
  await fault('lost_answer');
  await activities.providerCreateDepositAddress({ id, traceId });
  const { objects } = await world.truth();
  const address = JSON.parse(
    JSON.stringify(objects.addresses?.find((each) => JSON.stringify(each).includes(id))),
  ).address;
  const ref = await world.arrive(address, { amount: '4' });
  await world.page();
  const mine = () => inboxOf(world.owner, `subject_ref = '${ref}'`);
  expect(await mine()).toMatchObject([{ status: 'unmatched', waits: `address:${address}|` }]);
  await activities.databaseSuspectDepositAddress({ id, traceId });
  await activities.providerReadDepositAddress({ id, traceId, looks: 0 });
  expect(await mine()).toMatchObject([{ status: 'pending', waits: null }]);
  await world.read(ref);
  expect(await mine()).toMatchObject([{ status: 'done' }]);
  const live = await findLiveDepositAddress(queriesOf(world.pool), {
    ...input,
    customerId: (await read(id)).customerId,
  });
  expect(live?.id).toBe(id);
  expect(await walletOf(world, { customerId: live?.customerId ?? null })).toBe('4.000000');
});

it('what is found unmatched while its address becomes active is not left behind', async () => {
  const { id } = await reserve({ customerRef: 'race' });
  await fault('lost_answer');
  await activities.providerCreateDepositAddress({ id, traceId });
  const { objects } = await world.truth();
  const address = JSON.parse(
    JSON.stringify(objects.addresses?.find((each) => JSON.stringify(each).includes(id))),
  ).address;
  const ref = await world.arrive(address, { amount: '4' });
  // Stops the page behind its look at the addresses, before its commit.
  const gate = await world.owner.connect();
  await gate.query('begin; lock table sverka.inbox in share row exclusive mode');
  const page = world.page();
  const waiting = async (count: number) => {
    for (;;) {
      const { rows } = await gate.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and application_name = 'sverka-worker'`,
      );
      if (rows.length >= count) return;
    }
  };
  await waiting(1);
  const activation = activities.providerReadDepositAddress({ id, traceId, looks: 0 });
  await waiting(2);
  await gate.query('commit');
  gate.release();
  await Promise.all([page, activation]);
  expect(await inboxOf(world.owner, `subject_ref = '${ref}'`)).toMatchObject([{ status: 'pending' }]);
});
