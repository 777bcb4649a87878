import type pg from 'pg';
import { breakerLimits, guardProvider } from '../../src/activities/guard-client.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { queriesOf } from '../../src/db/transaction.js';
import { decideAs, makePerson, outcomeOf, seenNow } from '../support/decisions.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { depositOf, expectDepositInvariants, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, type MadeAddress, openDepositWorld, SOURCE, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let relay: pg.Pool;
let console: pg.Pool;
let userId: string;
let at: MadeAddress;

beforeEach(async () => {
  world = await openDepositWorld({ env: { SVERKA_SWEEP_GRACE: '1ms' } });
  relay = createPool(world.database.urlFor('relay'), { max: 1, applicationName: 'test' });
  console = createPool(world.database.urlFor('console'), { max: 1, applicationName: 'test' });
  userId = await makePerson(world.owner, 'operator');
  at = await world.address();
});
afterEach(async () => {
  await expectDepositInvariants(world.owner);
  await Promise.all([relay.end(), console.end()]);
  await world.close();
});

/** Outside the contract: an amount that is no decimal string. */
const UNREADABLE = { amount: '1e3' };
const ATTEMPTS_MAX = 10;

const notify = (...refs: string[]) =>
  acceptDeliveries(
    queriesOf(relay),
    refs.map((ref) => deliveryOf(ref)),
  );
/** What the workflow does at each look: `state`, or how it failed. */
const look = (ref: string) =>
  world.read(ref).then(
    ({ state }) => state,
    () => 'failed',
  );
async function looks(ref: string, times: number): Promise<string[]> {
  const found: string[] = [];
  for (let n = 0; n < times; n += 1) found.push(await look(ref));
  return found;
}

/** Ten at a time: a hundred on one wallet at once would run into the lock's own limit, and come again later. */
async function lookAtEach(refs: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (let from = 0; from < refs.length; from += 10) {
    found.push(...(await Promise.all(refs.slice(from, from + 10).map((ref) => look(ref)))));
  }
  return found;
}

async function rowOf(ref: string) {
  const { rows } = await world.owner.query<{ id: string; status: string; attempts: number }>(
    'select id, status, attempts from sverka.inbox where subject_ref = $1',
    [ref],
  );
  if (rows.length !== 1 || !rows[0]) throw new Error(`There are ${rows.length} notifications of ${ref}.`);
  return rows[0];
}

async function letters() {
  const { rows } = await world.owner.query<{ id: string; reason: string; attempts: number; how: string | null }>(
    'select id, reason, attempts, replays, closed_how as how from sverka.dead_letter order by id',
  );
  return rows;
}

/** A dead notification; answers the deposit's ref and the letter's id. */
async function dead(): Promise<{ ref: string; id: string; alert: string }> {
  const ref = await world.arrive(at, UNREADABLE);
  await notify(ref);
  await looks(ref, ATTEMPTS_MAX);
  const id = (await letters()).at(-1)?.id ?? '';
  return { ref, id, alert: `dead_letter dead_letter:${(await rowOf(ref)).id}` };
}

const decide = (id: string, choice: string, seenHash?: Buffer) =>
  decideAs(console, { type: 'dead_letter', id, choice, userId, ...(seenHash ? { seenHash } : {}) });

/** Nudges of that deposit that a few sweeps send, although its time has come. */
async function swept(ref: string): Promise<number> {
  world.nudges.length = 0;
  for (let n = 0; n < 3; n += 1) {
    await world.owner.query('update sverka.inbox set next_attempt_at = clock_timestamp()');
    await world.sweep();
  }
  return world.nudges.filter((nudge) => nudge.ref === ref).length;
}

describe('a poison notification among a hundred', () => {
  it('does not spoil the other ninety-nine, and is a dead letter with an alert after ten attempts', async () => {
    const refs: string[] = [];
    for (let n = 0; n < 99; n += 1) refs.push(await world.arrive(at, { amount: '0.5' }));
    const poison = await world.arrive(at, UNREADABLE);
    await notify(...refs.slice(0, 37), poison, ...refs.slice(37));
    await world.sweep();
    expect(new Set(world.nudges.map(({ ref }) => ref)).size).toBe(100);
    const seen = await lookAtEach([...refs, poison]);
    expect(seen).toEqual([...Array(99).fill('final'), 'failed']);
    expect(await walletOf(world, at)).toBe('49.500000');
    expect(await looks(poison, ATTEMPTS_MAX - 2)).toEqual(Array(ATTEMPTS_MAX - 2).fill('failed'));
    expect(await letters()).toEqual([]);
    expect(await look(poison)).toBe('dead_letter');
    const { id, ...row } = await rowOf(poison);
    expect(row).toEqual({ status: 'parked', attempts: ATTEMPTS_MAX });
    expect(await letters()).toMatchObject([{ reason: 'unreadable_record', attempts: ATTEMPTS_MAX, how: null }]);
    expect(await openAlerts(world.owner)).toContain(`dead_letter dead_letter:${id}`);
  });

  it('that the database refuses in a page comes alone, and only that one dies', async () => {
    const refs: string[] = [];
    for (let n = 0; n < 99; n += 1) refs.push(await world.arrive(at, { amount: '0.5' }));
    const poison = await world.arrive(at, { amount: '0.5' });
    await world.owner.query(
      `create function sverka.poison() returns trigger language plpgsql as $$ begin
         raise exception 'poison' using errcode = 'check_violation'; end $$;
       create trigger poison before insert on sverka.deposit for each row
         when (new.provider_ref = '${poison}') execute function sverka.poison()`,
    );
    expect(await world.page()).toMatchObject({ items: 100, changed: 0, more: false });
    await world.sweep();
    expect(new Set(world.nudges.map(({ ref }) => ref)).size).toBe(100);
    const seen = await lookAtEach([...refs, poison]);
    expect(seen).toEqual([...Array(99).fill('final'), 'failed']);
    await looks(poison, ATTEMPTS_MAX - 1);
    expect(await letters()).toMatchObject([{ reason: 'refused_by_database', attempts: ATTEMPTS_MAX }]);
    expect(await walletOf(world, at)).toBe('49.500000');
  });
});

describe('the counter', () => {
  it('starts again after a success', async () => {
    const ref = await world.arrive(at, UNREADABLE);
    await notify(ref);
    await looks(ref, ATTEMPTS_MAX - 1);
    expect(await rowOf(ref)).toMatchObject({ status: 'pending', attempts: ATTEMPTS_MAX - 1 });
    await world.change(ref, { amount: '1', status: 'confirming' });
    expect(await look(ref)).toBe('confirming');
    expect(await rowOf(ref)).toMatchObject({ status: 'done', attempts: 0 });
    await world.change(ref, UNREADABLE);
    await world.page();
    expect(await looks(ref, ATTEMPTS_MAX - 1)).toEqual(Array(ATTEMPTS_MAX - 1).fill('failed'));
    expect(await letters()).toEqual([]);
  });

  it.each<[string, object]>([
    ['a 500', { fault: 'status', status: 500 }],
    ['a 429', { fault: 'status', status: 429, retry_after: 1 }],
    ['a wrong key', { fault: 'unauthorized' }],
    ['garbage instead of the record', { fault: 'garbage' }],
    ['a cut connection', { fault: 'lost_answer' }],
  ])('never counts an outage: %s', async (_, fault) => {
    const ref = await world.arrive(at, { amount: '1' });
    await notify(ref);
    const { id } = await world.drive('POST', '/_sim/faults', { match: { path: '/v1/deposits/*' }, ...fault });
    expect(await looks(ref, ATTEMPTS_MAX + 2)).toEqual(Array(ATTEMPTS_MAX + 2).fill('failed'));
    expect(await rowOf(ref)).toMatchObject({ status: 'pending', attempts: 0 });
    await world.drive('DELETE', `/_sim/faults/${id}`);
    expect(await look(ref)).toBe('final');
  });

  it('never counts an open breaker', async () => {
    const ref = await world.arrive(at, { amount: '1' });
    await notify(ref);
    await world.owner.query(
      `insert into sverka.breaker (name, state, open_until) values ('custody:live', 'open', now() + interval '1 hour')`,
    );
    const custody = guardProvider(
      queriesOf(world.pool),
      { provider: 'custody', clientOf: world.deps.custody },
      breakerLimits(world.deps.config),
    );
    const real = world.deps.custody(SOURCE);
    Object.assign(real, { readDeposit: custody(SOURCE).readDeposit });
    expect(await looks(ref, 2)).toEqual(['failed', 'failed']);
    expect(await rowOf(ref)).toMatchObject({ status: 'pending', attempts: 0 });
  });
});

describe('a dead letter', () => {
  it('is never tried again by itself, and its deposit is not swept', async () => {
    const ref = await world.arrive(at, { amount: '1', status: 'confirming' });
    await world.read(ref);
    await world.change(ref, UNREADABLE);
    await notify(ref);
    await looks(ref, ATTEMPTS_MAX);
    await world.owner.query(`update sverka.deposit set last_read_at = now() - interval '1 hour'`);
    expect(await swept(ref)).toBe(0);
    expect((await rowOf(ref)).status).toBe('parked');
    // Without the letter it would be.
    await world.owner.query(`update sverka.dead_letter set closed_at = now(), closed_how = 'abandoned'`);
    expect(await swept(ref)).toBe(3);
  });

  it('is replayed once by a decision, and closed when it was applied', async () => {
    const { ref, id, alert } = await dead();
    await world.change(ref, { amount: '1' });
    expect(await openAlerts(world.owner)).toContain(alert);
    const decision = await decide(id, 'replay');
    world.nudges.length = 0;
    await world.sweep();
    expect(await outcomeOf(world.owner, decision)).toBe('applied: replay');
    expect(world.nudges.filter((nudge) => nudge.ref === ref)).toEqual([{ ref, start: true }]);
    expect(await rowOf(ref)).toMatchObject({ status: 'pending', attempts: 0 });
    expect(await openAlerts(world.owner)).not.toContain(alert);
    expect(await look(ref)).toBe('final');
    expect(await walletOf(world, at)).toBe('1.000000');
    await world.sweep();
    expect(await letters()).toMatchObject([{ id, replays: 1, how: 'applied' }]);
    expect(await swept(ref)).toBe(0);
  });

  it('whose replay fails is the same letter again, and waits for another decision', async () => {
    const { ref, id, alert } = await dead();
    const seen = await seenNow(world.owner, { type: 'dead_letter', id });
    await decide(id, 'replay');
    await world.sweep();
    expect(await looks(ref, ATTEMPTS_MAX)).toEqual([...Array(ATTEMPTS_MAX - 1).fill('failed'), 'dead_letter']);
    expect(await letters()).toMatchObject([{ id, attempts: 2 * ATTEMPTS_MAX, replays: 1, how: null }]);
    expect(await openAlerts(world.owner)).toContain(alert);
    expect(await swept(ref)).toBe(0);
    // What was seen before the replay decides nothing any more.
    const stale = await decide(id, 'abandon', seen);
    await world.sweep();
    expect(await outcomeOf(world.owner, stale)).toBe('void: what was seen has changed');
    const decision = await decide(id, 'abandon');
    await world.sweep();
    expect(await outcomeOf(world.owner, decision)).toBe('applied: abandon');
  });

  it('that is abandoned has no effect, for ever', async () => {
    const { ref, id, alert } = await dead();
    await decide(id, 'abandon');
    await world.sweep();
    expect(await letters()).toMatchObject([{ id, how: 'abandoned' }]);
    expect(await openAlerts(world.owner)).not.toContain(alert);
    expect(await swept(ref)).toBe(0);
    const late = await decide(id, 'replay');
    await world.sweep();
    expect(await outcomeOf(world.owner, late)).toBe('void: what was seen has changed');
    expect((await rowOf(ref)).status).toBe('parked');
  });

  it('is replayed once by ten sweeps at a time', async () => {
    const { id } = await dead();
    const decision = await decide(id, 'replay');
    await Promise.all(Array.from({ length: 10 }, () => world.sweep()));
    expect(await outcomeOf(world.owner, decision)).toBe('applied: replay');
    expect(await letters()).toMatchObject([{ id, replays: 1 }]);
  });

  it('does not keep a later notification of the same deposit from being read', async () => {
    const { ref } = await dead();
    await world.change(ref, { amount: '1' });
    await notify(ref);
    expect(await look(ref)).toBe('final');
    expect(await depositOf(world.owner, ref)).toMatchObject({ state: 'final' });
    await world.sweep();
    expect(await letters()).toMatchObject([{ how: 'applied', replays: 0 }]);
  });
});

it('a notification that was parked at the door names nothing: it is not replayed, it can be abandoned', async () => {
  const parked = deliveryOf('', { subject: null, eventType: null, parkedReason: 'not_json' });
  await acceptDeliveries(queriesOf(relay), [parked]);
  const [letter] = await letters();
  expect(letter).toMatchObject({ reason: 'not_json', attempts: 0, how: null });
  const id = letter?.id ?? '';
  const replay = await decide(id, 'replay');
  await world.sweep();
  expect(await outcomeOf(world.owner, replay)).toBe('void: it names nothing that could be read again');
  expect(await letters()).toMatchObject([{ id, replays: 0, how: null }]);
  const abandon = await decide(id, 'abandon');
  await world.sweep();
  expect(await outcomeOf(world.owner, abandon)).toBe('applied: abandon');
  await world.sweep();
  expect(await openAlerts(world.owner)).toEqual([]);
});

it('the alert of unreadable records is over when each was read or is a dead letter', async () => {
  const [mended, dying] = [await world.arrive(at, UNREADABLE), await world.arrive(at, UNREADABLE)];
  await world.page();
  const alert = 'unreadable_record unreadable:custody:main-live';
  await world.sweep();
  expect(await openAlerts(world.owner)).toContain(alert);
  await world.change(mended, { amount: '1' });
  await look(mended);
  await world.sweep();
  expect(await openAlerts(world.owner)).toContain(alert);
  await looks(dying, ATTEMPTS_MAX);
  await world.sweep();
  expect(await openAlerts(world.owner)).not.toContain(alert);
});
