import { choosePorts } from '../../src/local/ports.js';
import {
  depositOf,
  expectDepositInvariants,
  expectNothingComesOf,
  inboxOf,
  openAlerts,
} from '../support/deposit-facts.js';
import { openTestRelay, type TestRelay } from '../support/deposit-relay.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { eventually } from '../support/simulated-custody.js';

let world: DepositWorld;
let relay: TestRelay;
let at: MadeAddress;
let customers = 0;

// The custodian's own webhooks, signed by it, over HTTP into the relay; each test makes it misbehave otherwise.
beforeAll(async () => {
  const { relay: port } = await choosePorts(['relay']);
  world = await openDepositWorld({ hookUrl: `http://127.0.0.1:${port}/hooks/custody/main-live` });
  relay = await openTestRelay(world.database, { port });
});
beforeEach(async () => {
  at = await world.address({ customerRef: `c${(customers += 1)}` });
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await relay.close();
  await world.close();
});

const fault = (kind: string, rest: Record<string, unknown> = {}) =>
  world.drive('POST', '/_sim/faults', { match: { reference: at.address }, fault: kind, ...rest });
const rowsOf = (ref: string) => inboxOf(world.owner, `subject_ref = '${ref}'`);
const attemptsOf = async (ref: string) => {
  const { webhooks } = await world.truth();
  const { rows } = await world.owner.query<{ id: string }>(
    'select delivery_id as id from sverka.inbox where subject_ref = $1',
    [ref],
  );
  return webhooks.filter((hook) => rows.some(({ id }) => id === hook.event_id)).flatMap((hook) => hook.attempts);
};
/** Reads once for each nudge that the relay passed on, as the workflow would. */
async function follow(ref: string): Promise<void> {
  await eventually(() => relay.nudges.includes(ref));
  for (const nudged of relay.nudges.filter((each) => each === ref)) await world.read(nudged);
}

it('webhook, read, credit: once, and the notification is done with it', async () => {
  const ref = await world.arrive(at, { amount: '5' });
  await follow(ref);
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final', customer: at.customerId });
  expect(await rowsOf(ref)).toMatchObject([{ status: 'done' }]);
  expect(await walletOf(world, at)).toBe('5.000000');
  await expectNothingComesOf(world, () => world.page());
});

it('doubled: one row, one credit', async () => {
  const { id } = await fault('double', { times: 5 });
  const ref = await world.arrive(at, { amount: '5' });
  await eventually(async () => (await attemptsOf(ref)).length >= 5);
  await follow(ref);
  expect((await attemptsOf(ref)).map((attempt) => attempt.status)).toEqual([200, 200, 200, 200, 200]);
  expect(await rowsOf(ref)).toHaveLength(1);
  expect(await walletOf(world, at)).toBe('5.000000');
  await world.drive('DELETE', `/_sim/faults/${id}`);
});

it('reordered: the news of the end comes first, that of the beginning last, and the read settles', async () => {
  await fault('reorder', { times: 1 });
  const ref = await world.arrive(at, { amount: '5', status: 'seen' });
  await world.change(ref, { status: 'completed' });
  await eventually(async () => (await rowsOf(ref)).length === 2);
  await follow(ref);
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final' });
  expect(await walletOf(world, at)).toBe('5.000000');
});

it('lost: nobody was told, and reconciliation credits it', async () => {
  await fault('drop', { times: 1 });
  const ref = await world.arrive(at, { amount: '5' });
  await world.page();
  expect(await rowsOf(ref)).toEqual([]);
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final' });
  expect(await walletOf(world, at)).toBe('5.000000');
});

it('forged: refused and not stored; the true one comes after it and is taken', async () => {
  await fault('forge', { times: 1 });
  const refused = relay.counts.rejected;
  const ref = await world.arrive(at, { amount: '5' });
  await eventually(async () => (await rowsOf(ref)).length === 1);
  expect(relay.counts.rejected).toBe(refused + 1);
  expect((await attemptsOf(ref)).map(({ as, status }) => [as, status])).toEqual([
    ['forged', 401],
    ['genuine', 200],
  ]);
  await follow(ref);
  expect(await walletOf(world, at)).toBe('5.000000');
});

it('changed: the second body under one id is kept and never applied, and its subject is looked at', async () => {
  const other = await world.arrive(await world.address({ customerRef: 'other' }), { amount: '7' });
  await follow(other);
  await fault('changed_body', { times: 1, body: { object_id: other, amount: '1000000' } });
  const ref = await world.arrive(at, { amount: '5' });
  await eventually(async () => (await openAlerts(world.owner)).some((alert) => alert.startsWith('inbox_conflict')));
  await follow(ref);
  await expectNothingComesOf(world, () => world.read(other));
  expect(await depositOf(world.owner, other)).toMatchObject({ state: 'final', credited: '7000000' });
  expect((await rowsOf(other)).map((row) => row.status)).toEqual(['done', 'done']);
  expect(await walletOf(world, at)).toBe('5.000000');
});

it('delayed until after reconciliation: the page credits, the late webhook changes nothing', async () => {
  await fault('delay', { ms: 200, times: 1 });
  const ref = await world.arrive(at, { amount: '5' });
  await world.page();
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final' });
  await eventually(async () => (await rowsOf(ref)).length === 1);
  await expectNothingComesOf(world, () => follow(ref));
  expect(await rowsOf(ref)).toMatchObject([{ status: 'done' }]);
  expect(await walletOf(world, at)).toBe('5.000000');
});

it('with the relay away the custodian sends again, and nothing is lost', async () => {
  const { port } = new URL(relay.url);
  await relay.close();
  const ref = await world.arrive(at, { amount: '5' });
  await eventually(async () =>
    (await world.truth()).webhooks.some((hook) => hook.attempts.some(({ status }) => status === null)),
  );
  relay = await openTestRelay(world.database, { port: Number(port) });
  const back = await world.truth();
  const hook = back.webhooks.at(-1)?.event_id ?? '';
  await world.drive('POST', `/_sim/webhooks/${hook}/resend`);
  await eventually(async () => (await rowsOf(ref)).length === 1);
  await follow(ref);
  expect(await walletOf(world, at)).toBe('5.000000');
});

describe('a custodian that answers badly', () => {
  it.each([
    ['lost_answer', 'unavailable'],
    ['truncated', 'unavailable'],
    ['garbage', 'garbage'],
    ['unauthorized', 'misconfigured'],
    ['status', 'unavailable'],
  ])('(%s) changes nothing, and the next read credits once', async (kind, expected) => {
    const ref = await world.arrive(at, { amount: '5' });
    await world.drive('POST', '/_sim/faults', { match: { path: `/v1/deposits/${ref}` }, fault: kind, times: 1 });
    const before = await expectDepositInvariants(world.owner);
    await expect(world.read(ref)).rejects.toMatchObject({ name: 'ProviderError', kind: expected });
    expect(await expectDepositInvariants(world.owner)).toEqual(before);
    await eventually(async () => (await rowsOf(ref)).length === 1);
    expect(await rowsOf(ref)).toMatchObject([{ status: 'pending' }]);
    await follow(ref);
    expect(await walletOf(world, at)).toBe('5.000000');
  });
});

describe('no transaction is open while the custodian is asked', () => {
  const measured = async () => (await world.truth()).open_transactions;

  it('whether it is for one deposit, a page, or an address', async () => {
    const slow = { match: { method: 'GET' }, fault: 'slow', ms: 350, times: 2 };
    await world.drive('POST', '/_sim/faults', slow);
    await world.drive('POST', '/_sim/faults', { ...slow, match: { method: 'POST', path: '/v1/addresses' }, times: 1 });
    const ref = await world.arrive(at, { amount: '5' });
    await Promise.all([world.read(ref), world.page(), world.address({ customerRef: 'slow' })]);
    const { max, measured: looks } = await measured();
    expect(max).toBe(0);
    // A check that met no slow call would be void.
    expect(looks).toBeGreaterThanOrEqual(3);
    expect(await walletOf(world, at)).toBe('5.000000');
  });

  it('and one that is open is seen: this check can fail', async () => {
    const ref = await world.arrive(at, { amount: '5' });
    await world.drive('POST', '/_sim/faults', { match: { reference: ref }, fault: 'slow', ms: 350, times: 1 });
    const client = await world.pool.connect();
    await client.query('begin; select 1');
    await world.read(ref);
    await client.query('rollback');
    client.release();
    expect((await measured()).max).toBe(1);
  });
});
