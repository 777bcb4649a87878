import { buryRow } from '../../src/db/dead-letters.js';
import { inTransaction } from '../../src/db/transaction.js';
import type { CustodyDepositPage } from '../../src/providers/custody/schema.js';
import { newTraceId } from '../../src/telemetry/trace.js';
import { expectDepositInvariants, inboxOf, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, walletOf } from '../support/deposit-world.js';

/** Outside the contract: amounts that are no decimal string. */
const UNREADABLE = { amount: '1e3' };

let world: DepositWorld;
let at: MadeAddress;
/** What happens between the custodian's answer and its apply. */
let afterPage: () => Promise<unknown>;
let afterRead: () => Promise<unknown>;

beforeEach(async () => {
  [afterPage, afterRead] = [async () => undefined, async () => undefined];
  world = await openDepositWorld({
    client: (real) => ({
      ...real,
      async readDepositChanges(...call): Promise<CustodyDepositPage> {
        const page = await real.readDepositChanges(...call);
        await afterPage();
        return page;
      },
      async readDeposit(...call) {
        const record = await real.readDeposit(...call);
        await afterRead();
        return record;
      },
    }),
  });
  at = await world.address();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
  await world.close();
});

const rows = async (ref: string) =>
  (
    await world.owner.query<{ id: string; status: string; attempts: number; receivedAt: Date }>(
      'select id, status, attempts, received_at as "receivedAt" from sverka.inbox where subject_ref = $1 order by id',
      [ref],
    )
  ).rows;
const letters = async () => (await world.owner.query('select replays, closed_how as how from sverka.dead_letter')).rows;

/** A page leaves a due nudge for it: overtaken while it was read. */
async function leaveNudge(ref: string, status: string): Promise<void> {
  await world.change(ref, { status });
  afterPage = () => world.read(ref);
  await world.page();
  afterPage = async () => undefined;
}

/** A page's nudge for a record that cannot be read, which died. */
async function buried(): Promise<string> {
  const ref = await world.arrive(at, UNREADABLE);
  await world.page();
  const [row] = await rows(ref);
  const letter = { inboxId: row?.id ?? '', book: 'live', reason: 'unreadable_record', attempts: 10 } as const;
  await inTransaction(world.pool, (tx) => buryRow(tx, letter, newTraceId()));
  return ref;
}

describe('a due nudge', () => {
  it('that is left again in its row while a reader works is not done by that reader', async () => {
    const ref = await world.arrive(at, { amount: '1', status: 'confirming' });
    await leaveNudge(ref, 'seen');
    expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'pending', reason: 'stale_answer' }]);
    let left = false;
    afterRead = async () => {
      if (left) return;
      left = true;
      await world.change(ref, UNREADABLE);
      expect(await world.page()).toMatchObject({ unreadable: 1 });
    };
    await world.read(ref);
    expect(left).toBe(true);
    expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'pending', reason: 'unreadable_record' }]);
    await world.change(ref, { amount: '1' });
    await world.read(ref);
    expect(await inboxOf(world.owner)).toMatchObject([{ ref, status: 'done' }]);
  });

  it('that was done is received anew when it is left again, one that waits is as old as it was', async () => {
    const ref = await world.arrive(at, UNREADABLE);
    const yearOf = async () => (await rows(ref)).map(({ receivedAt }) => receivedAt.getUTCFullYear());
    await world.page();
    await world.owner.query(`update sverka.inbox set received_at = '2020-01-01'`);
    await world.change(ref, { amount: '1e4' });
    await world.page();
    expect(await yearOf()).toEqual([2020]);
    await world.change(ref, { amount: '1', status: 'confirming' });
    await world.read(ref);
    expect(await inboxOf(world.owner)).toMatchObject([{ status: 'done' }]);
    await world.change(ref, UNREADABLE);
    await world.page();
    expect(await yearOf()).not.toEqual([2020]);
  });
});

describe('a buried nudge', () => {
  it('is not tried again by a page that shows its record as unreadable as before', async () => {
    const ref = await buried();
    await world.change(ref, { amount: '1e4' });
    expect(await world.page()).toMatchObject({ unreadable: 1 });
    expect(await rows(ref)).toMatchObject([{ status: 'parked' }]);
    expect(await letters()).toEqual([{ replays: 0, how: null }]);
  });

  it('stays abandoned, and what changes at the custodian afterwards is a notification of its own', async () => {
    const ref = await buried();
    await world.owner.query(`update sverka.dead_letter set closed_at = now(), closed_how = 'abandoned'`);
    await world.change(ref, { amount: '1e4' });
    await world.page();
    expect((await rows(ref)).map(({ status }) => status)).toEqual(['parked', 'pending']);
    await world.change(ref, { amount: '1' });
    await world.read(ref);
    await world.sweep();
    expect((await rows(ref)).map(({ status }) => status)).toEqual(['parked', 'done']);
    expect(await letters()).toEqual([{ replays: 0, how: 'abandoned' }]);
  });

  it.each([
    ['a page', () => world.page()],
    ['a single read', (ref: string) => world.read(ref)],
  ])('is done, and its letter and alert closed, when its record was read after all by %s', async (_, readAgain) => {
    const ref = await buried();
    await world.sweep();
    await world.change(ref, { amount: '1' });
    await readAgain(ref);
    await world.sweep();
    expect((await rows(ref)).map(({ status }) => status)).toEqual(['done']);
    expect(await letters()).toEqual([{ replays: 0, how: 'applied' }]);
    expect(await walletOf(world, at)).toBe('1.000000');
    expect(await openAlerts(world.owner)).toEqual([]);
  });
});
