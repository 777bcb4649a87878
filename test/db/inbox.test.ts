import { raiseAlert, resolveAlert } from '../../src/db/alerts.js';
import { acceptDeliveries, alertUnmatched, claimPending, markUnmatched, type WaitingRow } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { lockCursor, moveCursor, readCursor } from '../../src/db/sources.js';
import { inTransaction, queriesOf, type Tx } from '../../src/db/transaction.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { inboxOf, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld, SOURCE, walletOf } from '../support/deposit-world.js';

let world: DepositWorld;
let relay: Tx;
let close: () => Promise<void>;
let customers = 0;

beforeAll(async () => {
  world = await openDepositWorld({ env: { SVERKA_SWEEP_GRACE: '1ms', SVERKA_UNMATCHED_ALERT_AGE: '1ms' } });
  const pool = createPool(world.database.urlFor('relay'), { max: 4, applicationName: 'test' });
  relay = queriesOf(pool);
  close = () => pool.end();
});
beforeEach(async () => {
  await world.owner.query(
    'delete from sverka.dead_letter; delete from sverka.inbox_conflict; delete from sverka.inbox; delete from sverka.alert',
  );
  world.nudges.length = 0;
});
afterAll(async () => {
  await close();
  await world.close();
});

const count = async (table: string) =>
  (await world.owner.query<{ n: number }>(`select count(*)::int as n from sverka.${table}`)).rows[0]?.n;
const claim = (most = 10, graceMs = 0, leaseMs = 60_000) =>
  claimPending(queriesOf(world.pool), { most, graceMs, leaseMs });

describe('accepting', () => {
  it('stores each delivery once, and says of each what became of it, in order', async () => {
    const [one, two] = [deliveryOf('cdp_1'), deliveryOf('cdp_2')];
    const other = { ...one, body: Buffer.from('other'), bodyHash: Buffer.alloc(32, 1) };
    expect(await acceptDeliveries(relay, [two, one, two, other, one])).toEqual([
      'stored',
      'stored',
      'duplicate',
      'conflict',
      'duplicate',
    ]);
    expect(await acceptDeliveries(relay, [one, other])).toEqual(['duplicate', 'conflict']);
    // Two deliveries and one due nudge of the conflict, however often it comes.
    expect([await count('inbox'), await count('inbox_conflict')]).toEqual([3, 1]);
    expect(await openAlerts(world.owner)).toEqual(['inbox_conflict inbox_conflict:custody:main-live']);
  });

  it('of a conflict keeps both bodies, applies neither, and leaves a nudge for what the second one names', async () => {
    const first = deliveryOf('cdp_forged');
    const second = deliveryOf('cdp_real', { deliveryId: first.deliveryId });
    await acceptDeliveries(relay, [first]);
    await acceptDeliveries(relay, [second]);
    const { rows } = await world.owner.query('select body from sverka.inbox_conflict');
    expect(rows).toEqual([{ body: second.body }]);
    expect(await inboxOf(world.owner)).toMatchObject([
      { delivery: first.deliveryId, ref: 'cdp_forged', status: 'pending' },
      { delivery: `conflict:${second.bodyHash.toString('hex')}`, ref: 'cdp_real', status: 'pending' },
    ]);
  });

  it('keeps the same id of another endpoint apart', async () => {
    const one = deliveryOf('cdp_1');
    const outcomes = await acceptDeliveries(relay, [one, { ...one, endpoint: 'main-test', book: 'test' }]);
    expect(outcomes).toEqual(['stored', 'stored']);
  });

  it('parks what names nothing, and no sweep comes for it', async () => {
    await acceptDeliveries(relay, [deliveryOf('', { subject: null, eventType: null, parkedReason: 'not_json' })]);
    expect(await inboxOf(world.owner)).toMatchObject([{ status: 'parked', reason: 'not_json', ref: null }]);
    expect(await claim()).toEqual([]);
  });

  it('makes a dead letter of each that is parked, once, and one alert for each endpoint and reason', async () => {
    const parked = (of: object) => deliveryOf('', { subject: null, eventType: null, parkedReason: 'not_json', ...of });
    const [one, two, three] = [parked({ deliveryId: 'a' }), parked({ deliveryId: 'b' }), parked({ deliveryId: 'c' })];
    const other = { ...three, parkedReason: 'unknown_subject' };
    await acceptDeliveries(relay, [one, deliveryOf('cdp_1'), two, one]);
    await acceptDeliveries(relay, [two, other]);
    const { rows } = await world.owner.query(
      'select l.reason, l.attempts, i.status from sverka.dead_letter l join sverka.inbox i on i.id = l.inbox_id order by l.reason',
    );
    const letter = { attempts: 0, status: 'parked' };
    expect(rows).toEqual([
      { reason: 'not_json', ...letter },
      { reason: 'not_json', ...letter },
      { reason: 'unknown_subject', ...letter },
    ]);
    const alerts = ['not_json', 'unknown_subject'].map(
      (reason) => `parked_notification parked:custody:main-live:${reason}`,
    );
    expect(await openAlerts(world.owner)).toEqual(alerts);
    await world.owner.query(
      `update sverka.dead_letter set closed_at = now(), closed_how = 'abandoned' where reason = 'not_json'`,
    );
    await world.sweep();
    expect(await openAlerts(world.owner)).toEqual([alerts[1]]);
  });

  it('is all that the relay may do with it', async () => {
    const refused = (sql: string) => expect(relay.query(sql)).rejects.toMatchObject({ name: 'Refused' });
    await refused('select * from sverka.inbox');
    await refused(`update sverka.inbox set status = 'done'`);
    await refused('delete from sverka.inbox_conflict');
    await refused(`select sverka.raise_alert('a', 'b', null, null, null, 'c', null)`);
  });

  it('without its hash would take another body for the same delivery: the hash is the guard', async () => {
    const one = deliveryOf('cdp_1');
    await acceptDeliveries(relay, [one]);
    await world.owner.query(`update sverka.inbox set body_hash = $1`, [Buffer.alloc(32, 1)]);
    expect(await acceptDeliveries(relay, [{ ...one, body: Buffer.from('x'), bodyHash: Buffer.alloc(32, 1) }])).toEqual([
      'duplicate',
    ]);
  });
});

describe('the sweep', () => {
  it('claims what is due once: another sweep skips it, and it comes again when its lease is over', async () => {
    await acceptDeliveries(relay, [deliveryOf('cdp_1'), deliveryOf('cdp_2'), deliveryOf('cdp_3')]);
    const refs = (await Promise.all([claim(2), claim(2), claim(2)])).flat().map((row) => row.subjectRef);
    expect(refs.sort()).toEqual(['cdp_1', 'cdp_2', 'cdp_3']);
    expect(await claim()).toEqual([]);
    await world.owner.query(`update sverka.inbox set next_attempt_at = now() where subject_ref = 'cdp_2'`);
    expect((await claim()).map((row) => row.subjectRef)).toEqual(['cdp_2']);
  });

  it('skips a row that another sweep has locked and not committed', async () => {
    await acceptDeliveries(relay, [deliveryOf('cdp_1'), deliveryOf('cdp_2')]);
    const other = await world.owner.connect();
    await other.query(`begin; select from sverka.inbox where subject_ref = 'cdp_1' for no key update`);
    expect((await claim()).map((row) => row.subjectRef)).toEqual(['cdp_2']);
    await other.query('rollback');
    other.release();
    expect((await claim()).map((row) => row.subjectRef)).toEqual(['cdp_1']);
  });

  it('leaves the relay its time to nudge by itself', async () => {
    await acceptDeliveries(relay, [deliveryOf('cdp_1')]);
    expect(await claim(10, 60_000)).toEqual([]);
    expect(await claim(10, 0)).toHaveLength(1);
  });

  it('nudges each subject once, however many notifications speak of it', async () => {
    await acceptDeliveries(relay, [deliveryOf('cdp_1'), deliveryOf('cdp_1'), deliveryOf('cdp_2')]);
    expect(await world.sweep()).toMatchObject({ claimed: 3, closed: [] });
    expect(world.nudges.map(({ ref }) => ref).sort()).toEqual(['cdp_1', 'cdp_2']);
  });

  it('finds a deposit whose workflow is lost, and an address', async () => {
    const ref = await world.arrive(await world.address({ customerRef: `c${(customers += 1)}` }), {
      amount: '1',
      status: 'seen',
    });
    await world.read(ref);
    const { createDepositAddressActivities } = await import('../../src/activities/deposit-addresses.js');
    const input = world.wish({ customerRef: 'stranded' });
    await createDepositAddressActivities(world.deps).databaseReserveDepositAddress(input);
    await world.sweep();
    expect([world.nudges, world.restarted]).toEqual([[], []]);
    await world.owner.query(
      `update sverka.deposit set last_read_at = now() - interval '1 hour' where state <> 'final'`,
    );
    await world.owner.query('alter table sverka.deposit_address disable trigger guard_move');
    await world.owner.query(`update sverka.deposit_address set updated_at = now() - interval '1 hour'`);
    await world.owner.query('alter table sverka.deposit_address enable always trigger guard_move');
    await world.sweep();
    expect(world.nudges).toEqual([{ ref, start: true }]);
    // The whole request, from its row.
    expect(world.restarted).toEqual([{ ...input, traceId: expect.any(String) }]);
  });
});

describe('what is unmatched', () => {
  it('is alerted on once per subject after the bound, and no longer when it is matched', async () => {
    const nowhere = `T${'7'.repeat(33)}`;
    const ref = await world.arrive(nowhere, { amount: '5', network: 'tron', asset: 'USDT-TRC20' });
    await acceptDeliveries(relay, [deliveryOf(ref), deliveryOf(ref)]);
    expect(await world.read(ref)).toMatchObject({ state: 'unmatched', ended: true, needsOperator: true });
    expect(await alertUnmatched(queriesOf(world.pool), 60_000)).toBe(0);
    expect(await alertUnmatched(queriesOf(world.pool), 0)).toBe(1);
    expect(await alertUnmatched(queriesOf(world.pool), 0)).toBe(0);
    const alert = `unmatched unmatched:custody:main-live:${ref}`;
    expect(await openAlerts(world.owner)).toEqual([alert]);
    const { rows } = await world.owner.query('select times from sverka.alert');
    expect(rows).toEqual([{ times: 1 }]);
    // Later the custodian says it went to an address of ours after all.
    await world.change(ref, { address: (await world.address({ customerRef: `c${(customers += 1)}` })).address });
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    await alertUnmatched(queriesOf(world.pool), 0);
    expect(await openAlerts(world.owner)).toEqual([]);
    expect(await inboxOf(world.owner)).toMatchObject([{ status: 'done' }, { status: 'done' }]);
  });

  it('stays so while the custodian answers 404, is never rejected, and is credited in the end', async () => {
    const at = await world.address({ customerRef: `c${(customers += 1)}` });
    const ref = await world.arrive(at, { amount: '5' });
    await acceptDeliveries(relay, [deliveryOf(ref)]);
    await world.drive('POST', '/_sim/faults', { match: { reference: ref }, fault: 'not_found', times: 2 });
    for (let times = 0; times < 2; times += 1) {
      expect(await world.read(ref)).toMatchObject({ state: 'not_found', ended: false });
      expect(await inboxOf(world.owner)).toMatchObject([{ status: 'unmatched', reason: 'not_at_provider' }]);
    }
    expect(await world.read(ref)).toMatchObject({ state: 'final' });
    expect(await inboxOf(world.owner)).toMatchObject([{ status: 'done' }]);
    expect(await walletOf(world, at)).toBe('5.000000');
  });

  it('goes to a person when the custodian has shown nothing for longer than the bound', async () => {
    await acceptDeliveries(relay, [deliveryOf('cdp_never')]);
    expect(await world.read('cdp_never', { absentMs: 10_000 })).toMatchObject({
      state: 'not_found',
      ended: true,
      needsOperator: true,
    });
    await world.sweep();
    expect(await openAlerts(world.owner)).toEqual(['unmatched unmatched:custody:main-live:cdp_never']);
  });

  it('is not what arrives during the read: a nudge that comes meanwhile is not lost', async () => {
    const at = await world.address({ customerRef: `c${(customers += 1)}` });
    const ref = await world.arrive(at, { amount: '5' });
    await acceptDeliveries(relay, [deliveryOf(ref)]);
    await world.drive('POST', '/_sim/faults', { match: { reference: ref }, fault: 'slow', ms: 300, times: 1 });
    const reading = world.read(ref);
    for (let seen = 0; seen === 0; ) seen = (await world.truth()).requests[`GET /v1/deposits/${ref}`] ?? 0;
    const late = deliveryOf(ref);
    await acceptDeliveries(relay, [late]);
    await reading;
    expect((await inboxOf(world.owner)).filter((row) => row.status === 'pending')).toMatchObject([
      { delivery: late.deliveryId },
    ]);
  });

  it('by hand stays done when it is done', async () => {
    await acceptDeliveries(relay, [deliveryOf('cdp_1')]);
    const { rows } = await world.owner.query<WaitingRow>(
      `update sverka.inbox set status = 'done' returning id, subject_ref as ref, armed`,
    );
    await markUnmatched(queriesOf(world.pool), rows, { reason: 'late', waitsFor: null });
    expect(await inboxOf(world.owner)).toMatchObject([{ status: 'done' }]);
  });
});

it('an alert is one row per key, opened again in place, and resolving twice changes nothing', async () => {
  const db = queriesOf(world.pool);
  const alert = { key: 'k', kind: 'test', detail: 'first' };
  await Promise.all([raiseAlert(db, alert), raiseAlert(db, alert), raiseAlert(db, alert)]);
  const row = async () => (await world.owner.query('select state, times, detail from sverka.alert')).rows;
  expect(await row()).toEqual([{ state: 'open', times: 3, detail: 'first' }]);
  await resolveAlert(db, 'k');
  await resolveAlert(db, 'k');
  expect(await row()).toEqual([{ state: 'resolved', times: 3, detail: 'first' }]);
  await raiseAlert(db, { ...alert, detail: 'second' });
  expect(await row()).toEqual([{ state: 'open', times: 4, detail: 'second' }]);
  await expect(world.pool.query(`update sverka.alert set state = 'resolved'`)).rejects.toMatchObject({ code: '42501' });
});

it('a position is locked by one reader, and only where it was read', async () => {
  const key = { ...SOURCE, feed: 'test' };
  expect(await readCursor(queriesOf(world.pool), key)).toBeNull();
  await inTransaction(world.pool, async (tx) => {
    expect(await lockCursor(tx, key, null)).toBe(true);
    const other = inTransaction(world.pool, (second) => lockCursor(second, key, null));
    await expect(other).rejects.toMatchObject({ name: 'Retryable', sqlstate: '55P03' });
    expect(await moveCursor(tx, key, 'c1')).toBe(0);
  });
  await inTransaction(world.pool, async (tx) => {
    expect(await lockCursor(tx, key, null)).toBe(false);
    expect(await lockCursor(tx, key, 'c1')).toBe(true);
    expect([await moveCursor(tx, key, null), await moveCursor(tx, key, null)]).toEqual([1, 2]);
  });
  expect(await readCursor(queriesOf(world.pool), key)).toBe('c1');
});
