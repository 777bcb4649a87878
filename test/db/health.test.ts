import type pg from 'pg';
import { createCheckActivities } from '../../src/activities/checks.js';
import { createDepositAddressActivities } from '../../src/activities/deposit-addresses.js';
import { raiseAlert, resolveAlert } from '../../src/db/alerts.js';
import { acceptDeliveries } from '../../src/db/inbox.js';
import { createPool } from '../../src/db/pool.js';
import { relayHeartbeat } from '../../src/db/relay-heartbeat.js';
import { queriesOf } from '../../src/db/transaction.js';
import { draw, leg } from '../../src/domain/journal.js';
import { deliveryOf } from '../support/deposit-deliveries.js';
import { depositOf, openAlerts } from '../support/deposit-facts.js';
import { type DepositWorld, openDepositWorld } from '../support/deposit-world.js';
import { movement, openPurse, type Purse, postNow } from '../support/journal-fixtures.js';

let world: DepositWorld;
const look = () => createCheckActivities(world.deps).databaseWatchHealth({ traceId: 'b'.repeat(32) });
const alerts = () => openAlerts(world.owner);

beforeEach(async () => {
  world = await openDepositWorld({ env: { SVERKA_STUCK_AGE: '1h' } });
});
afterEach(() => world.close());

it('where nothing is ill there is no alert, and the next look comes after the interval', async () => {
  const at = await world.address();
  await world.read(await world.arrive(at, { amount: '5' }));
  expect(await look()).toEqual({ ills: 0, waitMs: world.deps.config.SVERKA_HEALTH_INTERVAL });
  expect(await alerts()).toEqual([]);
});

describe('what waits too long', () => {
  /** Hours ago, as if it had been made then. */
  const age = async (table: string, hours: number) => {
    await world.owner.query(`alter table sverka.${table} disable trigger guard_move`);
    await world.owner.query(`update sverka.${table} set created_at = created_at - $1 * interval '1 hour'`, [hours]);
    await world.owner.query(`alter table sverka.${table} enable always trigger guard_move`);
  };

  it('in a state that waits is stuck; what has come to its end is not', async () => {
    const at = await world.address();
    const [waiting, final] = [
      await world.arrive(at, { amount: '5', status: 'seen' }),
      await world.arrive(at, { amount: '6' }),
    ];
    for (const ref of [waiting, final]) await world.read(ref);
    const { id } = await depositOf(world.owner, waiting);
    await look();
    expect(await alerts()).toEqual([]);
    await age('deposit', 2);
    await look();
    expect(await alerts()).toEqual([`stuck health:stuck:${id}`]);
    await world.change(waiting, { status: 'completed' });
    await world.read(waiting);
    await look();
    expect(await alerts()).toEqual([]);
  });

  it('may be an address that nobody knows the end of', async () => {
    const accepted = await createDepositAddressActivities(world.deps).databaseReserveDepositAddress(world.wish());
    await age('deposit_address', 2);
    await look();
    expect(await alerts()).toEqual([`stuck health:stuck:${accepted.resource?.id}`]);
  });

  it('may be notifications that nobody has looked at, and not those that fail for their own fault', async () => {
    const [lying, failing] = [deliveryOf('cdp_lying'), deliveryOf('cdp_failing')];
    await acceptDeliveries(queriesOf(world.owner), [lying, failing]);
    await world.owner.query(`update sverka.inbox set attempts = 3 where subject_ref = 'cdp_failing'`);
    await look();
    expect(await alerts()).toEqual([]);
    await world.owner.query(`update sverka.inbox set received_at = received_at - interval '4 minutes'`);
    await look();
    expect(await alerts()).toEqual(['inbox_backlog health:inbox_backlog']);
    const { rows } = await world.owner.query('select detail from sverka.alert');
    expect(rows[0].detail).toMatch(/^1 notifications /);
    await world.owner.query(`update sverka.inbox set status = 'done', done_at = now()`);
    await look();
    expect(await alerts()).toEqual([]);
  });
});

describe('a relay', () => {
  const beat = (relay: string, rejected: number) =>
    relayHeartbeat(queriesOf(relayPool), relay, { rejected, failed: 0 });
  let relayPool: pg.Pool;
  beforeEach(() => {
    relayPool = createPool(world.database.urlFor('relay'), { max: 1, applicationName: 'test' });
  });
  afterEach(() => relayPool.end());

  it('that was seen and is not any more is an alert, until it or its successor on that host is', async () => {
    await beat('one:1', 0);
    await beat('two:1', 0);
    await look();
    expect(await alerts()).toEqual([]);
    await world.owner.query(
      `update sverka.relay_heartbeat set seen_at = seen_at - interval '3 minutes' where relay = 'one:1'`,
    );
    await look();
    expect(await alerts()).toEqual(['relay_silent health:relay:one:1']);
    await beat('one:2', 0);
    await look();
    expect(await alerts()).toEqual([]);
  });

  it('that refuses many signatures within minutes is an alert; a few, or many long ago, are none', async () => {
    const later = () =>
      world.owner.query(`update sverka.relay_heartbeat set window_at = window_at - interval '6 minutes'`);
    await beat('one:1', 100);
    await look();
    expect(await alerts()).toEqual([]);
    await beat('one:1', 101);
    await look();
    expect(await alerts()).toEqual(['webhooks_refused health:refused:one:1']);
    await later();
    await beat('one:1', 102);
    await look();
    expect(await alerts()).toEqual([]);
  });
});

describe('the hot path', () => {
  let purse: Purse;
  beforeEach(async () => {
    purse = await openPurse(world.pool);
    await postNow(world.pool, movement([leg(purse.clearing, -5n), leg(purse.wallet, 5n)]));
  });

  async function setBalance(balance: number): Promise<void> {
    await world.owner.query('alter table ledger.entry disable trigger all');
    await world.owner.query('update ledger.entry set balance = $2 where account_id = $1', [purse.wallet, balance]);
    await world.owner.query('alter table ledger.entry enable trigger all');
    await world.owner.query('alter table ledger.entry enable always trigger append_only');
  }

  /** More movements than a look goes through. */
  const moveOn = () =>
    world.owner.query(
      `insert into ledger.movement (key, body_hash, book, merchant_id, kind, subject_type, subject_id, generation)
       select sha256(n::text::bytea), sha256(''), 'live', 'mer_x', 'transfer', 'test', 'test', 0
         from generate_series(1, 10001) n`,
    );

  it('an account outside its bounds is an alert until it is well, although others move on', async () => {
    await setBalance(-1);
    await look();
    const alert = `balance_out_of_bounds health:balance:${purse.wallet}`;
    expect(await alerts()).toEqual([alert]);
    await moveOn();
    await look();
    expect(await alerts()).toEqual([alert]);
    await setBalance(5);
    await look();
    expect(await alerts()).toEqual([]);
    // Which is what the hot path means: an account that nobody touched lately is the hourly check's.
    await setBalance(-1);
    await look();
    expect(await alerts()).toEqual([]);
  });

  it('an owner who owes and has is an alert: a collect was forgotten', async () => {
    const owing = await openPurse(world.pool);
    await postNow(world.pool, movement([leg(owing.wallet, -5n), draw(owing.receivable), leg(owing.clearing, 5n)]));
    await look();
    expect(await alerts()).toEqual([]);
    await postNow(world.pool, movement([leg(owing.clearing, -3n), leg(owing.wallet, 3n)]));
    await look();
    expect(await alerts()).toEqual([`collect_missing health:collect:${owing.receivable}`]);
    await postNow(world.pool, movement([leg(owing.wallet, -3n), leg(owing.clearing, 3n)]));
    await look();
    expect(await alerts()).toEqual([]);
  });
});

it('an alert is one row for its key, opened again in place, and only its own kind is taken back', async () => {
  const db = queriesOf(world.pool);
  const alert = { key: 'a', kind: 'test', book: 'live', detail: 'one' };
  await raiseAlert(db, alert);
  await raiseAlert(db, { ...alert, detail: 'two' });
  const rowOf = async () =>
    (
      await world.owner.query(
        `select state, times, detail, opened_at = last_seen_at as "justOpened", resolved_at is null as unresolved
           from sverka.alert where key = 'a'`,
      )
    ).rows;
  expect(await rowOf()).toEqual([{ state: 'open', times: 2, detail: 'two', justOpened: false, unresolved: true }]);
  await look();
  expect(await alerts()).toEqual(['test a']);
  await resolveAlert(db, 'a');
  await resolveAlert(db, 'nobody');
  expect(await alerts()).toEqual([]);
  await raiseAlert(db, alert);
  expect(await rowOf()).toMatchObject([{ state: 'open', times: 3, detail: 'one', unresolved: true }]);
});
