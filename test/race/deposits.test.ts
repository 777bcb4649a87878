import { DatabaseError } from '../../src/db/errors.js';
import type { CustodyDeposit } from '../../src/providers/custody/schema.js';
import { depositOf, expectDepositInvariants, expectNothingComesOf, inboxOf } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';
import { eventually } from '../support/simulated-custody.js';

let world: DepositWorld;
let at: MadeAddress;
let customers = 0;
/** Holds an answer of the custodian back until the test lets it go. */
let onTheWay: (deposit: CustodyDeposit) => Promise<CustodyDeposit>;

beforeAll(async () => {
  world = await openDepositWorld({
    connections: 24,
    client: (real) => ({ ...real, readDeposit: async (...call) => onTheWay(await real.readDeposit(...call)) }),
  });
});
beforeEach(async () => {
  onTheWay = async (deposit) => deposit;
  at = await world.address({ customerRef: `c${(customers += 1)}` });
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
});
afterAll(async () => {
  await world.close();
});

/** What Temporal does with an activity that the database made fail: the same again. */
async function until<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
    }
  }
}

const together = <T>(count: number, start: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => start(n)));
const stateOf = async (ref: string) => (await depositOf(world.owner, ref)).state;

it('twenty reads of one deposit at once: one credit', async () => {
  const ref = await world.arrive(at, { amount: '50' });
  await together(20, () => until(() => world.read(ref)));
  expect((await depositOf(world.owner, ref)).movements).toHaveLength(1);
  expect(await walletOf(world, at)).toBe('50.000000');
  await expectNothingComesOf(world, () => world.read(ref));
});

it('the page of reconciliation and the reads of webhooks in one moment: each deposit is credited once', async () => {
  for (let round = 0; round < 6; round += 1) {
    const refs = await together(10, () => world.arrive(at, { amount: '1' }));
    await Promise.all([
      until(() => world.page()),
      ...refs.map((ref) => until(() => world.read(ref))),
      until(() => world.page()),
    ]);
    for (const ref of refs) expect((await depositOf(world.owner, ref)).movements).toHaveLength(1);
  }
  expect(await walletOf(world, at)).toBe('60.000000');
});

it('pages that cross each other from one position: one counts, the others are thrown away', async () => {
  const refs = await together(30, () => world.arrive(at, { amount: '1' }));
  const pages = await together(4, () => until(() => world.page()));
  expect(pages.reduce((sum, page) => sum + page.changed, 0)).toBe(30);
  for (const ref of refs) expect(await stateOf(ref)).toBe('final');
  expect(await walletOf(world, at)).toBe('30.000000');
});

it('two names of one output at once: one is credited, the other dropped, whoever comes first', async () => {
  for (let round = 0; round < 8; round += 1) {
    const output = { tx_hash: `race-${round}`.padStart(64, '0'), output_index: round };
    const refs = await together(2, () => world.arrive(at, { amount: '2', ...output }));
    await together(8, (n) => until(() => world.read(refs[n % 2] ?? '')));
    expect((await Promise.all(refs.map(stateOf))).sort()).toEqual(['dropped', 'final']);
  }
  expect(await walletOf(world, at)).toBe('16.000000');
});

it('two names of one output with other money at once: one is credited, the other goes to a person', async () => {
  for (let round = 0; round < 8; round += 1) {
    const output = { tx_hash: `other-${round}`.padStart(64, '0'), output_index: 0 };
    const refs = [
      await world.arrive(at, { amount: '2', ...output }),
      await world.arrive(at, { amount: '3', ...output }),
    ];
    await together(8, (n) => until(() => world.read(refs[n % 2] ?? '')));
    expect((await Promise.all(refs.map(stateOf))).sort()).toEqual(['final', 'parked']);
  }
  expect((await expectDepositInvariants(world.owner)).movements).toBeGreaterThan(8);
});

/** The reader that asked first gets its answer last. */
async function crossReads(on: DepositWorld, first: string, second: string) {
  const ref = await on.arrive(await on.address({ customerRef: `x${(customers += 1)}` }), {
    amount: '5',
    status: first,
  });
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let reads = 0;
  onTheWay = async (deposit) => {
    reads += 1;
    if (reads === 1) await held;
    return deposit;
  };
  const slow = on.read(ref);
  await eventually(() => reads > 0);
  await on.change(ref, { status: second });
  const quick = await on.read(ref);
  letGo();
  return { ref, quick, slow: await slow };
}

it.each([
  ['confirming', 'completed', 'final'],
  ['seen', 'failed', 'rejected'],
  ['replaced', 'completed', 'final'],
  ['completed', 'failed', 'rejected'],
])(
  'an answer (%s) that a later one (%s) overtook is not applied, and is asked for again',
  async (first, second, state) => {
    const { ref, quick, slow } = await crossReads(world, first, second);
    expect(quick).toMatchObject({ state, ended: true });
    expect(slow).toMatchObject({ state, ended: false, waitMs: 1 });
    expect(await depositOf(world.owner, ref)).toMatchObject({ state, status: second, flag: null });
    await expectNothingComesOf(world, () => world.read(ref));
  },
);

it('without the ticket the older answer would have the last word: the ticket is the guard', async () => {
  await world.owner.query(`
    create function sverka.forget() returns trigger language plpgsql as
      $$ begin new.applied_ticket := 0; return new; end $$;
    create trigger forget before update on sverka.deposit for each row execute function sverka.forget()`);
  const { ref } = await crossReads(world, 'confirming', 'completed');
  expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final', status: 'confirming' });
  const failed = await crossReads(world, 'failed', 'completed');
  expect(await depositOf(world.owner, failed.ref)).toMatchObject({ flag: 'failed_after_credit' });
  await world.owner.query('drop trigger forget on sverka.deposit');
});

it('an address that becomes active while its deposits are looked at leaves none behind', async () => {
  const { createDepositAddressActivities } = await import('../../src/activities/deposit-addresses.js');
  const activities = createDepositAddressActivities(world.deps);
  const [outcomes, found] = [new Set<string>(), [] as string[]];
  for (let round = 0; round < 8; round += 1) {
    const input = world.wish({ customerRef: `late-${round}` });
    const id = (await activities.databaseReserveDepositAddress(input)).resource?.id ?? '';
    await world.drive('POST', '/_sim/faults', { match: { path: '/v1/addresses' }, fault: 'lost_answer', times: 1 });
    await activities.providerCreateDepositAddress({ id, traceId: input.traceId });
    const { objects } = JSON.parse(JSON.stringify(await world.truth()));
    const address = objects.addresses.find((each: { reference: string }) => each.reference === id).address;
    const ref = await world.arrive(address, { amount: '1' });
    found.push(ref);
    await Promise.all([
      until(() => world.read(ref)),
      until(() => activities.providerReadDepositAddress({ id, traceId: input.traceId, looks: 0 })),
      until(() => world.page()),
    ]);
    for (const { status } of await inboxOf(world.owner, `subject_ref = '${ref}'`)) outcomes.add(status);
    // Whatever waits is pending, and the sweep's read credits it.
    if ((await inboxOf(world.owner, `subject_ref = '${ref}' and status = 'pending'`)).length > 0) await world.read(ref);
  }
  expect(outcomes).not.toContain('unmatched');
  for (const ref of found) expect(await stateOf(ref)).toBe('final');
});
