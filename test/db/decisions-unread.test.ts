import { decideAs, makePerson, outcomeOf } from '../support/decisions.js';
import { depositOf, expectDepositInvariants, inboxOf, openAlerts, pathOf } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

/** More digits than the asset has: parked. */
const FINE = '1.0000000001';

let world: DepositWorld;
let at: MadeAddress;
let userId: string;

beforeEach(async () => {
  world = await openDepositWorld({ env: { SVERKA_SWEEP_GRACE: '1ms' } });
  at = await world.address();
  userId = await makePerson(world.owner, 'operator');
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
  await world.close();
});

async function arrived(body: Record<string, unknown>): Promise<{ ref: string; id: string }> {
  const ref = await world.arrive(at, body);
  await world.read(ref);
  return { ref, id: (await depositOf(world.owner, ref)).id };
}
const decide = (id: string, choice: string) => decideAs(world.owner, { type: 'deposit', id, choice, userId });
const vanish = (ref: string, times = 100) =>
  world.drive('POST', '/_sim/faults', { match: { reference: ref }, fault: 'not_found', times });

describe('without a record at the custodian', () => {
  it.each([
    ['shows nothing', vanish],
    ['has a record outside the contract', (ref: string) => world.change(ref, { amount: '1e3' })],
  ])('a parked deposit is rejected by decision although the custodian %s', async (_, lose) => {
    const { ref, id } = await arrived({ amount: FINE });
    await lose(ref);
    const decision = await decide(id, 'reject');
    await world.sweep();
    expect(await world.read(ref)).toMatchObject({ state: 'rejected', ended: true });
    expect(await outcomeOf(world.owner, decision)).toBe('applied: reject');
    expect(await pathOf(world.owner, id)).toEqual(['noticed', 'parked', 'rejected']);
    expect(await inboxOf(world.owner)).toMatchObject([{ delivery: `decision:${decision}`, status: 'done' }]);
    expect(await openAlerts(world.owner)).toEqual([]);
    const { rows } = await world.owner.query(
      `select actor from sverka.audit where subject_id = $1 and to_state = 'rejected'`,
      [id],
    );
    expect(rows).toEqual([{ actor: `user:${userId}` }]);
    expect((await world.owner.query(`select from sverka.event where type = 'deposit.rejected'`)).rowCount).toBe(1);
  });

  it.each([
    ['shows nothing', vanish, 'the custodian shows no such deposit now'],
    [
      'cannot be read',
      (ref: string) => world.change(ref, { amount: '1e3' }),
      'the record at the custodian cannot be read now',
    ],
  ])('a retry is void where the custodian %s, so that it can be decided anew', async (_, lose, why) => {
    const { ref, id } = await arrived({ amount: FINE });
    await lose(ref);
    const decision = await decide(id, 'retry');
    await world.read(ref);
    expect(await outcomeOf(world.owner, decision)).toBe(`void: ${why}`);
    const again = await decide(id, 'reject');
    await world.read(ref);
    expect(await outcomeOf(world.owner, again)).toBe('applied: reject');
  });
});

describe('a waiting deposit that has vanished', () => {
  it.each([
    ['noticed', 'mystery'],
    ['confirming', 'confirming'],
  ])('as %s is ended by a person, and goes on when it turns up again', async (state, status) => {
    const { ref, id } = await arrived({ amount: '1', status });
    expect((await depositOf(world.owner, ref)).state).toBe(state);
    const { id: fault } = await vanish(ref);
    // Not flagged yet: it may be away for a moment only.
    const early = await decide(id, 'drop');
    await world.read(ref);
    expect(await outcomeOf(world.owner, early)).toMatch(/^void: /);
    await world.read(ref, { absentMs: 24 * 3_600_000 });
    expect(await depositOf(world.owner, ref)).toMatchObject({ state, flag: 'not_at_provider' });
    const decision = await decide(id, 'drop');
    expect(await world.read(ref)).toMatchObject({ state: 'dropped', ended: true });
    expect(await outcomeOf(world.owner, decision)).toBe('applied: drop');
    expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'dropped', flag: null });
    expect(await openAlerts(world.owner)).toEqual([]);
    await world.drive('DELETE', `/_sim/faults/${fault}`);
    await world.change(ref, { status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    expect(await walletOf(world, at)).toBe('1.000000');
  });

  it('that is shown again is not dropped', async () => {
    const { ref, id } = await arrived({ amount: '1', status: 'confirming' });
    await vanish(ref, 1);
    await world.read(ref, { absentMs: 24 * 3_600_000 });
    const decision = await decide(id, 'drop');
    await world.change(ref, { status: 'completed' });
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    expect(await outcomeOf(world.owner, decision)).toMatch(/^void: /);
  });
});
